// SPDX-License-Identifier: Apache-2.0
#include "sim/process/simulators.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "sim/process/kernels.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/recorded_outcomes.hpp"

namespace foredraft::sim {
namespace {

/// Large enough that starting a block and merging its tally are cheap, small enough to distribute and to repeat.
constexpr std::uint64_t iterations_per_block = std::uint64_t{1} << 16U;

/// Maximum number of draws of a block; longer blocks are shortened.
constexpr std::uint64_t draws_per_block = std::uint64_t{1} << 24U;
constexpr std::uint64_t min_iterations = 64;

}  // namespace

BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration) {
  const auto draws = static_cast<std::uint64_t>(std::max<std::int64_t>(draws_per_iteration, 1));
  const std::uint64_t per_block = std::clamp(draws_per_block / draws, min_iterations, iterations_per_block);
  return plan_blocks("iterations", iterations, per_block);
}

BlockPlan plan_sequences(std::uint64_t sequences, double tokens) {
  const auto per_block = static_cast<std::uint64_t>(static_cast<double>(iterations_per_block) / tokens);
  return plan_blocks("sequences", sequences, std::max<std::uint64_t>(per_block, 1));
}

// Geometric: the smallest L with P(length > L) = (1 - 1/mean)^L below a uniform on (0, 1].
std::int64_t draw_length(const SequenceLength& law, RandomStream& random) {
  if (!law.geometric) return static_cast<std::int64_t>(law.tokens);
  const double uniform = 1.0 - random.uniform();
  return 1 + static_cast<std::int64_t>(std::log(uniform) / std::log1p(-1.0 / law.tokens));
}

Threshold long_run_acceptance(const AcceptanceProcess& process) {
  const auto* chain = std::get_if<Markov>(&process);
  if (chain == nullptr) return {.high = 0, .low = 0};
  const double leave = 1.0 - chain->a;
  return threshold_of(chain->b / (leave + chain->b), leave / (leave + chain->b));
}

std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape) {
  return std::holds_alternative<Markov>(process) ? shape.max_tokens() : shape.gamma;
}

namespace {

void copy_counter(std::uint32_t (&to)[4], const StreamId& id) {
  const PhiloxWords counter = philox_counter(id, 0);
  std::copy(counter.begin(), counter.end(), to);
}

/// Thresholds that are the same in all iterations: counted by the loops of the instruction set in use.
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
    // Beyond this many thresholds a binary search is faster than comparing with each.
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

namespace {

/// Long-run probability that the token before an iteration was (or, for a bonus token, would have been) accepted. An
/// iteration of n token positions accepts them all with probability b a^(n-1) after a rejection and a^n after an
/// acceptance.
double accepted_before_iteration(const Markov& chain, std::int64_t n) {
  const auto steps = static_cast<double>(n);
  const double enter = chain.b * std::pow(chain.a, steps - 1.0);
  const double leave = chain.a > 0.0 ? -std::expm1(steps * std::log(chain.a)) : 1.0;
  return enter > 0.0 ? enter / (enter + leave) : 0.0;
}

class MarkovSimulator final : public Simulator {
 public:
  MarkovSimulator(const Markov& chain, const IterationShape& shape, const BlockPlan& plan, Path path)
      : shape_(shape), steps_(shape.max_tokens()), plan_(plan), path_(path) {
    const double accepted = accepted_before_iteration(chain, steps_);
    start_ = threshold_of(accepted, 1.0 - accepted);
    for (const bool after_acceptance : {false, true}) {
      const std::size_t state = after_acceptance ? 1 : 0;
      if (path == Path::fast) {
        survival_[state] = SurvivalRow(survival_thresholds(chain, steps_, after_acceptance));
      } else {
        acceptance_[state] = acceptance_thresholds(chain, steps_, after_acceptance);
      }
    }
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    return path_ == Path::fast ? run_block(SurvivalStepper(survival_, key, block), key, block)
                               : run_block(BernoulliStepper(acceptance_, key, block), key, block);
  }

 private:
  template <class Stepper>
  [[nodiscard]] Tally run_block(Stepper stepper, const RunKey& key, std::uint64_t block) const {
    const bool after_acceptance = Draws(key, chain_start_draws, block, 1).below(start_, 0, 0);
    return count_cycles(shape_, plan_.in_block(block), after_acceptance, key.stop,
                        [&](std::uint64_t i, bool accepted) { return stepper.accepted_steps(i, accepted, steps_); });
  }

  IterationShape shape_;
  std::int64_t steps_;
  BlockPlan plan_;
  Path path_;
  Threshold start_{};
  SurvivalByState survival_;
  ThresholdsByState acceptance_;
};

}  // namespace

std::unique_ptr<Simulator> make_markov_simulator(const Markov& chain, const IterationShape& shape,
                                                 std::uint64_t iterations, Path path) {
  const std::int64_t draws = path == Path::fast ? 1 : shape.max_tokens();
  return std::make_unique<MarkovSimulator>(chain, shape, plan_iterations(iterations, draws), path);
}

namespace {

class RunsSimulator final : public Simulator {
 public:
  RunsSimulator(const Runs& runs, const IterationShape& shape, const BlockPlan& plan)
      : shape_(shape), plan_(plan), law_(runs, shape.gamma) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    RunsStepper stepper(law_, key, block, shape_.gamma);
    RunsState state = stepper.start(0);
    const auto steps = [&](std::uint64_t i, bool /*accepted*/) {
      return stepper.accepted_steps(i, state, shape_.gamma);
    };
    return count_cycles(shape_, plan_.in_block(block), state.after_acceptance, key.stop, steps);
  }

 private:
  IterationShape shape_;
  BlockPlan plan_;
  RunsDistribution law_;
};

}  // namespace

std::unique_ptr<Simulator> make_runs_simulator(const Runs& runs, const IterationShape& shape,
                                               std::uint64_t iterations) {
  return std::make_unique<RunsSimulator>(runs, shape, plan_iterations(iterations, shape.gamma + 2));
}

namespace {

constexpr std::size_t enough_units = 30;

class TraceSimulator final : public Simulator {
 public:
  TraceSimulator(std::shared_ptr<const Recording> recording, const IterationShape& shape)
      : recorded_(std::move(recording)), shape_(shape) {}

  [[nodiscard]] std::uint64_t blocks() const override { return 1; }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t /*block*/) const override {
    OutcomeCounts counts(shape_);
    StopMeter stop(key.stop);
    for (std::size_t sequence = 0; sequence < recorded_.sequences(); ++sequence) replay(sequence, key, stop, counts);
    return counts.tally();
  }

 private:
  void replay(std::size_t sequence, const RunKey& key, StopMeter& stop, OutcomeCounts& counts) const {
    const std::size_t size = recorded_.size(sequence);
    const std::size_t batches = batches_of(size);
    const std::size_t batch_size = (size + batches - 1) / batches;
    std::size_t batch_end = batch_size;
    for (std::size_t position = 0; position < size;) {
      const std::size_t remaining = size - position;
      const std::size_t testable = std::min(static_cast<std::size_t>(shape_.gamma), remaining);
      const std::size_t accepted = recorded_.accepted(sequence, position, testable, key);
      const Outcome outcome =
          last_outcome(shape_, static_cast<std::int64_t>(accepted), static_cast<std::int64_t>(remaining));
      stop.spend(1 + outcome.tested);
      counts.add(outcome);
      position += static_cast<std::size_t>(outcome.tokens);
      if (position >= batch_end) {
        counts.end_unit();
        while (batch_end <= position) batch_end += batch_size;
      }
    }
    counts.end_unit();
  }

  [[nodiscard]] std::size_t batches_of(std::size_t tokens) const {
    if (recorded_.sequences() >= enough_units) return 1;
    return std::max<std::size_t>(1, tokens * enough_units / recorded_.positions());
  }

  RecordedOutcomes recorded_;
  IterationShape shape_;
};

}  // namespace

std::unique_ptr<Simulator> make_trace_simulator(std::shared_ptr<const Recording> recording,
                                                const IterationShape& shape) {
  return std::make_unique<TraceSimulator>(std::move(recording), shape);
}

}  // namespace foredraft::sim
