// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

constexpr std::int64_t longest_realigning = 1'000'000;

/// Runs a source of iterations in blocks; `MakeSource` makes the source of one block.
template <class MakeSource>
class PolicySimulator final : public Simulator {
 public:
  PolicySimulator(const ProcessSimulation& simulation, const BlockPlan& plan, MakeSource make_source)
      : longest_{simulation.gamma, simulation.convention, simulation.drafting},
        sequence_(simulation.sequence),
        start_(long_run_acceptance(simulation.process)),
        plan_(plan),
        make_source_(std::move(make_source)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    return sequence_ ? run_sequences(make_source_(key, block), key, block)
                     : run_endless(make_source_(key, block), key.stop, block);
  }

 private:
  template <class Source>
  [[nodiscard]] Tally run_endless(Source source, StopToken token, std::uint64_t block) const {
    VaryingCounts counts(longest_);
    StopMeter stop(token);
    std::uint64_t iteration = 0;
    const std::size_t home = settle(source, stop, iteration);
    const std::uint64_t first = iteration;
    const std::uint64_t last = first + plan_.in_block(block);
    while (iteration < last || source.state() != home) {
      const VaryingIteration result = source.next(iteration++, endless_tokens);
      stop.spend(work_of(result));
      counts.add(result);
      if (source.state() == home) counts.end_unit();
    }
    return counts.tally();
  }

  /// A draft may take a Beta variate, the most expensive draw.
  static std::int64_t work_of(const VaryingIteration& iteration) { return 1 + 10 * iteration.gamma; }

  /// Advances to a state that the source returns to often, and returns it: the most frequent one of the second half of
  /// its settling. Cycles from there on are independent of the past, whichever state is chosen.
  template <class Source>
  static std::size_t settle(Source& source, StopMeter& stop, std::uint64_t& iteration) {
    const std::uint64_t settling = source.settling();
    if (settling == 0) return source.state();
    std::vector<std::uint32_t> visits(source.states(), 0);
    while (iteration < settling) {
      stop.spend(work_of(source.next(iteration++, endless_tokens)));
      if (iteration > settling / 2) ++visits[source.state()];
    }
    const auto home = static_cast<std::size_t>(std::max_element(visits.begin(), visits.end()) - visits.begin());
    while (source.state() != home) stop.spend(work_of(source.next(iteration++, endless_tokens)));
    return home;
  }

  template <class Source>
  [[nodiscard]] Tally run_sequences(Source source, const RunKey& key, std::uint64_t block) const {
    VaryingCounts counts(longest_);
    RandomStream lengths(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block});
    Draws starts(key, chain_start_draws, block, 1);
    const std::uint64_t sequences = plan_.in_block(block);
    std::uint64_t iteration = 0;
    StopMeter stop(key.stop);
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      source.restart(starts.below(start_, sequence, 0));
      for (std::int64_t remaining = draw_length(*sequence_, lengths); remaining > 0;) {
        const VaryingIteration result = source.next(iteration++, remaining);
        stop.spend(work_of(result));
        counts.add(result);
        remaining -= result.outcome.tokens;
      }
      counts.end_unit();
    }
    return counts.tally();
  }

  IterationShape longest_;
  std::optional<SequenceLength> sequence_;
  Threshold start_;
  BlockPlan plan_;
  MakeSource make_source_;
};

template <class MakeSource>
std::unique_ptr<Simulator> make_simulator_of(const ProcessSimulation& simulation, std::int64_t draws,
                                             MakeSource make_source) {
  const BlockPlan plan = simulation.sequence ? plan_sequences(simulation.sequences, simulation.sequence->tokens)
                                             : plan_iterations(simulation.iterations, draws);
  return std::make_unique<PolicySimulator<MakeSource>>(simulation, plan, std::move(make_source));
}

[[noreturn]] void refuse_process(std::string_view policy, std::string_view legal) {
  throw DomainError(fmt::format("invalid process for policy {} (must be {})", policy, legal));
}

/// The steppers of a process for one of the paths.
struct MakePolicySimulator {
  const ProcessSimulation& simulation;

  [[nodiscard]] IterationShape longest() const {
    return {simulation.gamma, simulation.convention, simulation.drafting};
  }

  std::unique_ptr<Simulator> operator()(const ConstantGamma& /*policy*/) const {
    throw std::logic_error("a constant gamma needs no policy");
  }

  std::unique_ptr<Simulator> operator()(const Plus2Minus1& policy) const {
    check_range("gamma", simulation.gamma, 1, max_policy_gamma);
    check_at_least("policy.start", policy.start, 1);
    if (std::holds_alternative<Trace>(simulation.process) || std::holds_alternative<Runs>(simulation.process)) {
      refuse_process("plus2_minus1", "any but runs and a trace");
    }
    const auto* mixture = std::get_if<BetaMixture>(&simulation.process);
    const IterationShape shape = longest();
    if (mixture != nullptr && simulation.path == Path::reference) {
      return make_simulator_of(
          simulation, simulation.gamma, [shape, policy, law = *mixture](const RunKey& key, std::uint64_t block) {
            return HeuristicSource<LatentStepper>(
                shape, policy, false, LatentStepper(law, static_cast<std::uint64_t>(shape.gamma), key, block));
          });
    }
    const bool is_chain = std::holds_alternative<Markov>(simulation.process);
    return over_steppers(steps_per_iteration(simulation.process, shape), [&](auto make_stepper) {
      return make_simulator_of(simulation, draws(),
                               [shape, policy, is_chain, make_stepper](const RunKey& key, std::uint64_t block) {
                                 return HeuristicSource(shape, policy, is_chain, make_stepper(key, block));
                               });
    });
  }

  std::unique_ptr<Simulator> operator()(const RealignAfterEdit& policy) const {
    if (!std::holds_alternative<Iid>(simulation.process)) refuse_process("input_copy", "iid");
    check_range("realign", policy.iterations, 0, longest_realigning);
    const IterationShape shape = longest();
    return over_steppers(shape.max_tokens(), [&](auto make_stepper) {
      return make_simulator_of(simulation, draws(),
                               [shape, policy, make_stepper](const RunKey& key, std::uint64_t block) {
                                 return RealigningSource(shape, policy, make_stepper(key, block));
                               });
    });
  }

  std::unique_ptr<Simulator> operator()(const ConfidenceThreshold& policy) const {
    const auto* iid = std::get_if<Iid>(&simulation.process);
    if (iid == nullptr) refuse_process("confidence_threshold", "iid");
    check_range("gamma", simulation.gamma, 1, max_policy_gamma);
    check_probability("policy.threshold", policy.threshold);
    check_positive("policy.concentration", policy.concentration);
    check_positive("policy.bias", policy.bias);
    const IterationShape shape = longest();
    return make_simulator_of(simulation, simulation.gamma,
                             [shape, alpha = iid->alpha, policy](const RunKey& key, std::uint64_t block) {
                               return ConfidenceSource(shape, alpha, policy, key, block);
                             });
  }

  std::unique_ptr<Simulator> operator()(const OptimalStopping& /*policy*/) const {
    if (std::holds_alternative<Markov>(simulation.process) || std::holds_alternative<Runs>(simulation.process) ||
        std::holds_alternative<Trace>(simulation.process)) {
      refuse_process("optimal_stopping", "iid, positional or beta_mixture");
    }
    if (simulation.drafting != Drafting::autoregressive) {
      throw DomainError(
          "invalid drafter for policy optimal_stopping (must have a cost per draft: otherwise there is nothing to "
          "stop)");
    }
    check_range("gamma", simulation.gamma, 1, max_policy_gamma);
    check_nonnegative("c", simulation.draft_ratio);
    const double price =
        stopping_price(simulation.process, simulation.gamma, simulation.draft_ratio, simulation.convention);
    const IterationShape shape = longest();
    if (const auto* mixture = std::get_if<BetaMixture>(&simulation.process)) {
      return make_simulator_of(simulation, simulation.gamma,
                               [shape, law = *mixture, price](const RunKey& key, std::uint64_t block) {
                                 return KnownAlphaSource(shape, law, price, key, block);
                               });
    }
    ProcessSimulation constant = simulation;  // the acceptance is known and constant, so the length is constant
    constant.policy = ConstantGamma{};
    constant.gamma = drafts_at_price(simulation.process, price, simulation.gamma, simulation.convention);
    return make_process_simulator(std::move(constant));
  }

  [[nodiscard]] std::int64_t draws() const { return simulation.path == Path::fast ? 1 : simulation.gamma + 1; }

  /// Calls `make` with a factory for the stepper of a block.
  template <class Make>
  [[nodiscard]] std::unique_ptr<Simulator> over_steppers(std::int64_t positions, const Make& make) const {
    const auto rows = [&](auto thresholds) {
      return std::array{thresholds(simulation.process, positions, false),
                        thresholds(simulation.process, positions, true)};
    };
    if (simulation.path == Path::fast) {
      auto survival = rows(survival_thresholds);
      const auto table = std::make_shared<const SurvivalByState>(
          SurvivalByState{SurvivalRow(std::move(survival[0])), SurvivalRow(std::move(survival[1]))});
      return make([table](const RunKey& key, std::uint64_t block) { return Held<SurvivalStepper>(table, key, block); });
    }
    const auto table = std::make_shared<const ThresholdsByState>(rows(acceptance_thresholds));
    return make([table](const RunKey& key, std::uint64_t block) { return Held<BernoulliStepper>(table, key, block); });
  }

  /// A stepper that keeps its table alive.
  template <class Stepper>
  class Held {
   public:
    template <class Table>
    Held(const std::shared_ptr<const Table>& table, const RunKey& key, std::uint64_t block)
        : table_(table), stepper_(*table, key, block) {}
    [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, bool after_acceptance, std::int64_t limit) {
      return stepper_.accepted_steps(iteration, after_acceptance, limit);
    }

   private:
    std::shared_ptr<const void> table_;
    Stepper stepper_;
  };
};

}  // namespace

std::unique_ptr<Simulator> make_policy_simulator(const ProcessSimulation& simulation) {
  return std::visit(MakePolicySimulator{simulation}, simulation.policy);
}

}  // namespace foredraft::sim
