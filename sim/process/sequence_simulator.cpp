// SPDX-License-Identifier: Apache-2.0
#include "sim/process/outcome_counts.hpp"
#include "sim/process/process_thresholds.hpp"
#include "sim/process/simulators.hpp"
#include "sim/process/steps.hpp"

namespace foredraft::sim {
namespace {

class SequenceSimulator final : public Simulator {
 public:
  SequenceSimulator(const AcceptanceProcess& process, const IterationShape& shape, const SequenceLength& law,
                    const BlockPlan& plan, Path path)
      : mixture_(latent(process, path)),
        shape_(shape),
        law_(law),
        steps_(steps_per_iteration(process, shape)),
        plan_(plan),
        path_(path),
        is_chain_(std::holds_alternative<Markov>(process)),
        start_(long_run_acceptance(process)) {
    if (mixture_) return;
    for (const std::size_t state : {0U, 1U}) {
      if (state == 1 && !is_chain_) continue;
      if (path == Path::fast) {
        survival_[state] = SurvivalRow(survival_thresholds(process, steps_, state == 1));
      } else {
        acceptance_[state] = acceptance_thresholds(process, steps_, state == 1);
      }
    }
  }

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    if (mixture_)
      return run_block(LatentStepper(*mixture_, static_cast<std::uint64_t>(steps_), key, block), key, block);
    if (path_ == Path::fast) return run_block(SurvivalStepper(survival_, key, block), key, block);
    return run_block(BernoulliStepper(acceptance_, key, block), key, block);
  }

 private:
  static std::optional<BetaMixture> latent(const AcceptanceProcess& process, Path path) {
    const auto* mixture = std::get_if<BetaMixture>(&process);
    return mixture != nullptr && path == Path::reference ? std::optional(*mixture) : std::nullopt;
  }

  template <class Stepper>
  [[nodiscard]] Tally run_block(Stepper stepper, const RunKey& key, std::uint64_t block) const {
    OutcomeCounts counts(shape_);
    RandomStream lengths(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block});
    Draws starts(key, chain_start_draws, block, 1);
    const std::uint64_t sequences = plan_.in_block(block);
    std::uint64_t iteration = 0;
    StopMeter stop(key.stop);
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      std::int64_t remaining = draw_length(law_, lengths);
      bool after_acceptance = is_chain_ && starts.below(start_, sequence, 0);
      while (remaining >= shape_.max_tokens()) {
        const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, steps_);
        const Outcome outcome = iteration_outcome(shape_, steps);
        stop.spend(1 + steps);
        counts.add(outcome);
        remaining -= outcome.tokens;
        after_acceptance = is_chain_ && steps == steps_;
      }
      while (remaining > 0) {
        const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, std::min(steps_, remaining));
        const Outcome outcome = last_outcome(shape_, steps, remaining);
        stop.spend(1 + steps);
        counts.add(outcome);
        remaining -= outcome.tokens;
        after_acceptance = false;  // steps < steps_: a rejection, or the end of the text
      }
      counts.end_unit();
    }
    return counts.tally();
  }

  std::optional<BetaMixture> mixture_;
  IterationShape shape_;
  SequenceLength law_;
  std::int64_t steps_;
  BlockPlan plan_;
  Path path_;
  bool is_chain_;
  Threshold start_;
  SurvivalByState survival_;
  ThresholdsByState acceptance_;
};

}  // namespace

std::unique_ptr<Simulator> make_sequence_simulator(const AcceptanceProcess& process, const IterationShape& shape,
                                                   const SequenceLength& law, std::uint64_t sequences, Path path) {
  return std::make_unique<SequenceSimulator>(process, shape, law, plan_sequences(sequences, law.tokens), path);
}

}  // namespace foredraft::sim
