// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/process/cycle_counts.hpp"
#include "sim/process/process_thresholds.hpp"
#include "sim/process/simulators.hpp"
#include "sim/process/steps.hpp"

namespace foredraft::sim {
namespace {

/// Long-run probability that the token before an iteration was (or, for a bonus token, would have been) accepted. An
/// iteration of n token positions accepts them all with b a^(n-1) behind a rejection and a^n behind an acceptance.
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

}  // namespace foredraft::sim
