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

/// A draft may take a Beta variate, the most expensive draw.
std::int64_t work_of(const VaryingIteration& iteration) { return 1 + 10 * iteration.gamma; }

/// Advances to a state that the source returns to often, and returns it: the most frequent one of the second half of
/// its settling. Cycles from there on are independent of the past, whichever state is chosen.
template <class Source>
std::size_t settle(Source& source, StopMeter& stop, std::uint64_t& iteration) {
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
Tally run_endless(Source source, const IterationShape& longest, StopToken token, std::uint64_t iterations) {
  OutcomeCounts counts(longest);
  StopMeter stop(token);
  std::uint64_t iteration = 0;
  const std::size_t home = settle(source, stop, iteration);
  const std::uint64_t last = iteration + iterations;
  while (iteration < last || source.state() != home) {
    const VaryingIteration result = source.next(iteration++, endless_tokens);
    stop.spend(work_of(result));
    counts.add(result);
    if (source.state() == home) counts.end_unit();
  }
  return counts.tally();
}

template <class Source>
Tally run_sequences(Source source, const IterationShape& longest, const SequenceTexts& texts, const RunKey& key,
                    std::uint64_t block, std::uint64_t sequences) {
  OutcomeCounts counts(longest);
  std::uint64_t iteration = 0;
  StopMeter stop(key.stop);
  texts.each(key, block, sequences, [&](std::int64_t remaining, bool after_acceptance) {
    source.restart(after_acceptance);
    while (remaining > 0) {
      const VaryingIteration result = source.next(iteration++, remaining);
      stop.spend(work_of(result));
      counts.add(result);
      remaining -= result.outcome.tokens;
    }
    counts.end_unit();
  });
  return counts.tally();
}

/// `make_source(key, block)` makes the source of iterations of a block.
template <class MakeSource>
std::unique_ptr<Simulator> make_source_simulator(const ProcessSimulation& simulation, std::int64_t draws,
                                                 MakeSource make_source) {
  const IterationShape longest = shape_of(simulation);
  if (simulation.sequence) {
    const SequenceTexts texts(simulation.process, *simulation.sequence);
    return make_block_simulator(plan_sequences(simulation.sequences, simulation.sequence->tokens),
                                [=](const RunKey& key, std::uint64_t block, std::uint64_t sequences) {
                                  return run_sequences(make_source(key, block), longest, texts, key, block, sequences);
                                });
  }
  return make_block_simulator(plan_iterations(simulation.iterations, draws),
                              [=](const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                                return run_endless(make_source(key, block), longest, key.stop, iterations);
                              });
}

[[noreturn]] void reject_process(std::string_view policy, std::string_view legal) {
  throw DomainError(fmt::format("invalid process for policy {} (must be {})", policy, legal));
}

struct MakePolicySimulator {
  const ProcessSimulation& simulation;

  std::unique_ptr<Simulator> operator()(const ConstantGamma& /*policy*/) const {
    throw std::logic_error("a constant gamma needs no policy");
  }

  std::unique_ptr<Simulator> operator()(const Plus2Minus1& policy) const {
    check_range("gamma", simulation.gamma, 1, max_policy_gamma);
    check_at_least("policy.start", policy.start, 1);
    if (process_is<Trace>() || process_is<Runs>()) reject_process("plus2_minus1", "any but runs and a trace");
    const IterationShape shape = shape_of(simulation);
    const bool latent = process_is<BetaMixture>() && simulation.path == Path::reference;
    return over_steppers(simulation.process, steps_per_iteration(simulation.process, shape), simulation.path,
                         [&, is_chain = process_is<Markov>()](auto make_stepper) {
                           return make_source_simulator(simulation, latent ? simulation.gamma : draws(),
                                                        [=](const RunKey& key, std::uint64_t block) {
                                                          return HeuristicSource(shape, policy, is_chain,
                                                                                 make_stepper(key, block));
                                                        });
                         });
  }

  std::unique_ptr<Simulator> operator()(const RealignAfterEdit& policy) const {
    constexpr std::int64_t longest_realigning = 1'000'000;
    if (!process_is<Iid>()) reject_process("input_copy", "iid");
    check_range("realign", policy.iterations, 0, longest_realigning);
    const IterationShape shape = shape_of(simulation);
    return over_steppers(simulation.process, shape.max_tokens(), simulation.path, [&](auto make_stepper) {
      return make_source_simulator(simulation, draws(), [=](const RunKey& key, std::uint64_t block) {
        return RealigningSource(shape, policy, make_stepper(key, block));
      });
    });
  }

  std::unique_ptr<Simulator> operator()(const ConfidenceThreshold& policy) const {
    if (!process_is<Iid>()) reject_process("confidence_threshold", "iid");
    check_range("gamma", simulation.gamma, 1, max_policy_gamma);
    check_probability("policy.threshold", policy.threshold);
    check_positive("policy.concentration", policy.concentration);
    check_positive("policy.bias", policy.bias);
    return make_source_simulator(
        simulation, simulation.gamma,
        [shape = shape_of(simulation), alpha = std::get<Iid>(simulation.process).alpha, policy](
            const RunKey& key, std::uint64_t block) { return ConfidenceSource(shape, alpha, policy, key, block); });
  }

  std::unique_ptr<Simulator> operator()(const OptimalStopping& /*policy*/) const {
    if (process_is<Markov>() || process_is<Runs>() || process_is<Trace>()) {
      reject_process("optimal_stopping", "iid, positional or beta_mixture");
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
    if (const auto* mixture = std::get_if<BetaMixture>(&simulation.process)) {
      return make_source_simulator(
          simulation, simulation.gamma,
          [shape = shape_of(simulation), distribution = *mixture, price](const RunKey& key, std::uint64_t block) {
            return KnownAlphaSource(shape, distribution, price, key, block);
          });
    }
    ProcessSimulation constant = simulation;  // the acceptance is known and constant, so the length is constant
    constant.policy = ConstantGamma{};
    constant.gamma = drafts_at_price(simulation.process, price, simulation.gamma, simulation.convention);
    return make_process_simulator(std::move(constant));
  }

  template <class Process>
  [[nodiscard]] bool process_is() const {
    return std::holds_alternative<Process>(simulation.process);
  }

  [[nodiscard]] std::int64_t draws() const { return simulation.path == Path::fast ? 1 : simulation.gamma + 1; }
};

}  // namespace

std::unique_ptr<Simulator> make_policy_simulator(const ProcessSimulation& simulation) {
  return std::visit(MakePolicySimulator{simulation}, simulation.policy);
}

}  // namespace foredraft::sim
