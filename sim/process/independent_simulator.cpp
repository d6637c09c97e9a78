// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core/stop.hpp"
#include "sim/process/instruction_set.hpp"
#include "sim/process/process_thresholds.hpp"
#include "sim/process/simulators.hpp"
#include "sim/process/steps.hpp"

namespace foredraft::sim {
namespace {

void copy_counter(std::uint32_t (&to)[4], const StreamId& id) {
  const PhiloxWords counter = philox_counter(id, 0);
  std::copy(counter.begin(), counter.end(), to);
}

/// Thresholds that do not change from one iteration to the next: counted by the loops of the instruction set in use.
class CountingSimulator final : public Simulator {
 public:
  CountingSimulator(Thresholds thresholds, const IterationShape& shape, const BlockPlan& plan, Path path)
      : thresholds_(std::move(thresholds)), shape_(shape), plan_(plan), path_(path) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    const DrawPurposes& purposes = path_ == Path::fast ? survival_draws : bernoulli_draws;
    std::vector<std::uint64_t> survivors(thresholds_.size(), 0);
    CountingTask task{};
    task.key[0] = philox_key(key.seed)[0];
    task.key[1] = philox_key(key.seed)[1];
    copy_counter(task.counter, {.purpose = purposes.leading, .point = key.point, .block = block});
    copy_counter(task.tie_counter, {.purpose = purposes.tie, .point = key.point, .block = block});
    task.iterations = plan_.in_block(block);
    task.positions = thresholds_.size();
    task.high = thresholds_.high.data();
    task.low = thresholds_.low.data();
    task.survivors = survivors.data();
    count(task);
    std::vector<std::uint64_t> accepted_counts(survivors.size() + 1);
    std::uint64_t alive = task.iterations;
    for (std::size_t k = 0; k < survivors.size(); ++k) {
      accepted_counts[k] = alive - survivors[k];
      alive = survivors[k];
    }
    accepted_counts.back() = alive;
    return tally_independent(shape_, accepted_counts);
  }

 private:
  void count(const CountingTask& task) const {
    // Beyond this many thresholds a search in them beats comparing with each.
    constexpr std::uint64_t longest_row = 1024;
    if (path_ == Path::reference) {
      kernels().count_bernoulli(task);
    } else if (task.positions <= longest_row) {
      kernels().count_survivors(task);
    } else {
      scalar_kernels().count_survivors(task);
    }
  }

  Thresholds thresholds_;
  IterationShape shape_;
  BlockPlan plan_;
  Path path_;
};

/// An alpha of its own for each iteration.
class LatentSimulator final : public Simulator {
 public:
  LatentSimulator(const BetaMixture& mixture, const IterationShape& shape, const BlockPlan& plan)
      : mixture_(mixture), shape_(shape), plan_(plan) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    const std::uint64_t iterations = plan_.in_block(block);
    LatentStepper stepper(mixture_, static_cast<std::uint64_t>(shape_.gamma), key, block);
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape_.gamma) + 1, 0);
    StopMeter stop(key.stop);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const std::int64_t accepted = stepper.accepted_steps(i, false, shape_.gamma);
      stop.spend(1 + accepted);
      ++accepted_counts[static_cast<std::size_t>(accepted)];
    }
    return tally_independent(shape_, accepted_counts);
  }

 private:
  BetaMixture mixture_;
  IterationShape shape_;
  BlockPlan plan_;
};

}  // namespace

std::unique_ptr<Simulator> make_independent_simulator(const AcceptanceProcess& process, const IterationShape& shape,
                                                      std::uint64_t iterations, Path path) {
  if (path == Path::fast) {
    return std::make_unique<CountingSimulator>(survival_thresholds(process, shape.gamma, false), shape,
                                               plan_iterations(iterations, 1), path);
  }
  const BlockPlan plan = plan_iterations(iterations, shape.gamma);
  if (const auto* mixture = std::get_if<BetaMixture>(&process)) {
    return std::make_unique<LatentSimulator>(*mixture, shape, plan);
  }
  return std::make_unique<CountingSimulator>(acceptance_thresholds(process, shape.gamma, false), shape, plan, path);
}

}  // namespace foredraft::sim
