// SPDX-License-Identifier: Apache-2.0
#include "sim/process/process_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.hpp"
#include "core/decoding_cost.hpp"
#include "core/parallel.hpp"
#include "core/random_stream.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "sim/process/confidence_sources.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/kernels.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "sim/process/steppers.hpp"
#include "sim/process/stopping_price.hpp"
#include "sim/process/threshold.hpp"

namespace foredraft::sim {
namespace {

/// Data that all kinds of runs share.
struct ProcessRun {
  AcceptanceProcess acceptance;  ///< acceptance of the drafter's drafts
  IterationShape longest;        ///< shape with the maximum draft length
  std::optional<SequenceLength> sequence_length;
  SimulationPlan plan;

  [[nodiscard]] bool is_chain() const { return std::holds_alternative<Markov>(acceptance); }

  /// Token positions of an iteration: its drafts and, for the chain, the bonus token.
  [[nodiscard]] std::int64_t steps() const { return is_chain() ? longest.max_tokens() : longest.gamma; }
};

/// Makes a simulator of `run_block(key, block, count)` for the plan's sequences, or for its iterations with at most
/// `draws` draws each.
template <class RunBlock>
std::unique_ptr<Simulator> make_run(const ProcessRun& run, std::int64_t draws, RunBlock run_block) {
  const BlockPlan blocks = run.sequence_length ? plan_sequences(run.plan.sequences, run.sequence_length->tokens)
                                               : plan_iterations(run.plan.iterations, draws);
  return make_block_simulator(blocks, std::move(run_block));
}

// ---- A constant draft length in an endless text: independent iterations.

void copy_counter(std::uint32_t (&to)[4], const StreamId& id) {
  const PhiloxWords counter = philox_counter(id, 0);
  std::copy(counter.begin(), counter.end(), to);
}

/// Number of iterations that accepted exactly k drafts, counted by the loops of the instruction set in use.
std::vector<std::uint64_t> count_accepted(const Thresholds& thresholds, Path path, const RunKey& key,
                                          std::uint64_t block, std::uint64_t iterations) {
  const DrawPurposes& purposes = path == Path::fast ? survival_draws : bernoulli_draws;
  std::vector<std::uint64_t> survivors(thresholds.size(), 0);
  CountingTask task{};
  task.key[0] = philox_key(key.seed)[0];
  task.key[1] = philox_key(key.seed)[1];
  copy_counter(task.counter, {.purpose = purposes.leading, .point = key.point, .block = block});
  copy_counter(task.tie_counter, {.purpose = purposes.tie, .point = key.point, .block = block});
  task.iterations = iterations;
  task.positions = thresholds.size();
  task.high = thresholds.high.data();
  task.low = thresholds.low.data();
  task.survivors = survivors.data();
  // Beyond this many thresholds a binary search is faster than comparing with each.
  constexpr std::uint64_t longest_row = 1024;
  if (path == Path::reference) {
    kernels().count_bernoulli(task);
  } else {
    (task.positions <= longest_row ? kernels() : scalar_kernels()).count_survivors(task);
  }
  std::vector<std::uint64_t> accepted_counts;
  accepted_counts.reserve(survivors.size() + 1);
  std::uint64_t alive = iterations;
  for (const std::uint64_t surviving : survivors) {
    accepted_counts.push_back(alive - surviving);
    alive = surviving;
  }
  accepted_counts.push_back(alive);
  return accepted_counts;
}

/// Each iteration draws its own alpha.
std::unique_ptr<Simulator> make_latent_simulator(const BetaMixture& mixture, const ProcessRun& run) {
  return make_run(run, run.longest.gamma,
                  [mixture, shape = run.longest](const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                    LatentStepper stepper(mixture, shape.gamma, key, block);
                    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape.gamma) + 1, 0);
                    StopMeter stop(key.stop);
                    for (std::uint64_t i = 0; i < iterations; ++i) {
                      const std::int64_t accepted = stepper.accepted_steps(i, false, shape.gamma);
                      stop.spend(1 + accepted);
                      ++accepted_counts[static_cast<std::size_t>(accepted)];
                    }
                    return tally_independent(shape, accepted_counts);
                  });
}

std::unique_ptr<Simulator> make_independent_simulator(const ProcessRun& run) {
  const std::int64_t gamma = run.longest.gamma;
  const bool fast = run.plan.path == Path::fast;
  const auto* mixture = std::get_if<BetaMixture>(&run.acceptance);
  if (mixture != nullptr && !fast) return make_latent_simulator(*mixture, run);
  return make_run(run, fast ? 1 : gamma,
                  [path = run.plan.path, shape = run.longest,
                   thresholds = fast ? survival_thresholds(run.acceptance, gamma, false)
                                     : acceptance_thresholds(run.acceptance, gamma, false)](
                      const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                    return tally_independent(shape, count_accepted(thresholds, path, key, block, iterations));
                  });
}

// ---- A constant draft length in an endless text: dependent iterations.

/// Long-run probability that the token before an iteration was (or, for a bonus token, would have been) accepted. An
/// iteration of n token positions accepts them all with probability b a^(n-1) after a rejection and a^n after an
/// acceptance.
double accepted_before_iteration(const Markov& chain, std::int64_t n) {
  const auto steps = static_cast<double>(n);
  const double enter = chain.b * std::pow(chain.a, steps - 1.0);
  const double leave = chain.a > 0.0 ? -std::expm1(steps * std::log(chain.a)) : 1.0;
  return enter > 0.0 ? enter / (enter + leave) : 0.0;
}

std::unique_ptr<Simulator> make_chain_simulator(const Markov& chain, const ProcessRun& run) {
  const std::int64_t steps = run.steps();
  const double accepted = accepted_before_iteration(chain, steps);
  return over_steppers(chain, steps, run.plan.path, [&](auto make_stepper) {
    return make_run(run, run.plan.path == Path::fast ? 1 : steps,
                    [shape = run.longest, steps, make_stepper, start = threshold_of(accepted, 1.0 - accepted)](
                        const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                      auto stepper = make_stepper(key, block);
                      const bool after_acceptance = Draws(key, chain_start_draws, block, 1).below(start, 0, 0);
                      return count_cycles(
                          shape, iterations, after_acceptance, key.stop,
                          [&](std::uint64_t i, bool after) { return stepper.accepted_steps(i, after, steps); });
                    });
  });
}

std::unique_ptr<Simulator> make_runs_simulator(const Runs& runs, const ProcessRun& run) {
  const std::int64_t gamma = run.longest.gamma;
  return make_run(run, gamma + 2,
                  [shape = run.longest, distribution = RunsDistribution(runs, gamma)](
                      const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                    RunsStepper stepper(distribution, key, block, shape.gamma);
                    RunsState state = stepper.start(0);
                    return count_cycles(
                        shape, iterations, state.after_acceptance, key.stop,
                        [&](std::uint64_t i, bool /*after*/) { return stepper.accepted_steps(i, state, shape.gamma); });
                  });
}

constexpr std::size_t enough_units = 30;

std::size_t batches_of(std::size_t tokens, const RecordedOutcomes& recorded) {
  if (recorded.sequences() >= enough_units) return 1;
  return std::max<std::size_t>(1, tokens * enough_units / recorded.positions());
}

void replay(const RecordedOutcomes& recorded, std::size_t sequence, const IterationShape& shape, const RunKey& key,
            StopMeter& stop, OutcomeCounts& counts) {
  const std::size_t size = recorded.size(sequence);
  const std::size_t batches = batches_of(size, recorded);
  const std::size_t batch_size = (size + batches - 1) / batches;
  std::size_t batch_end = batch_size;
  for (std::size_t position = 0; position < size;) {
    const std::size_t remaining = size - position;
    const std::size_t testable = std::min(static_cast<std::size_t>(shape.gamma), remaining);
    const std::size_t accepted = recorded.accepted(sequence, position, testable, key);
    const Outcome outcome =
        last_outcome(shape, static_cast<std::int64_t>(accepted), static_cast<std::int64_t>(remaining));
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

std::unique_ptr<Simulator> make_trace_simulator(const Trace& trace, const IterationShape& shape) {
  constexpr BlockPlan once{.total = 1, .per_block = 1};
  return make_block_simulator(once, [shape, recorded = RecordedOutcomes(trace.recording)](
                                        const RunKey& key, std::uint64_t /*block*/, std::uint64_t /*runs*/) {
    OutcomeCounts counts(shape);
    StopMeter stop(key.stop);
    for (std::size_t sequence = 0; sequence < recorded.sequences(); ++sequence) {
      replay(recorded, sequence, shape, key, stop, counts);
    }
    return counts.tally();
  });
}

// ---- Sequences of finite length, and drafts of varying length.

/// Sequences of a block. In a chain, the token before each sequence was accepted with the chain's long-run probability.
class SequenceTexts {
 public:
  SequenceTexts(const AcceptanceProcess& process, const SequenceLength& distribution) : distribution_(distribution) {
    const auto* chain = std::get_if<Markov>(&process);
    if (chain == nullptr) return;
    const double leave = 1.0 - chain->a;
    accepted_before_ = threshold_of(chain->b / (leave + chain->b), leave / (leave + chain->b));
  }

  /// Calls `use(tokens, after_acceptance)` for each.
  template <class Use>
  void each(const RunKey& key, std::uint64_t block, std::uint64_t sequences, const Use& use) const {
    RandomStream lengths(key.seed, {.purpose = Purpose::sequence_length, .point = key.point, .block = block});
    Draws starts(key, chain_start_draws, block, 1);
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      const bool after_acceptance = accepted_before_ && starts.below(*accepted_before_, sequence, 0);
      use(draw_length(distribution_, lengths), after_acceptance);
    }
  }

 private:
  SequenceLength distribution_;
  std::optional<Threshold> accepted_before_;
};

/// Work of an iteration. A draft may need a Beta variate, the most expensive draw.
std::int64_t work_of(const VaryingIteration& iteration) { return 1 + 10 * iteration.gamma; }
std::int64_t work_of(const Outcome& outcome) { return 1 + outcome.tested; }

std::int64_t tokens_of(const VaryingIteration& iteration) { return iteration.outcome.tokens; }
std::int64_t tokens_of(const Outcome& outcome) { return outcome.tokens; }

/// Advances to a frequent state of the source and returns it: the most frequent state of the second half of its
/// settling. Cycles from there on are independent of the past for any chosen state.
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
      const auto result = source.next(iteration++, remaining);
      stop.spend(work_of(result));
      counts.add(result);
      remaining -= tokens_of(result);
    }
    counts.end_unit();
  });
  return counts.tally();
}

/// `make_source(key, block)` makes the source of a block's iterations, which take at most `draws` draws each.
template <class MakeSource>
std::unique_ptr<Simulator> make_source_simulator(const ProcessRun& run, std::int64_t draws, MakeSource make_source) {
  std::optional<SequenceTexts> texts;
  if (run.sequence_length) texts.emplace(run.acceptance, *run.sequence_length);
  return make_run(run, draws, [=, longest = run.longest](const RunKey& key, std::uint64_t block, std::uint64_t count) {
    return texts ? run_sequences(make_source(key, block), longest, *texts, key, block, count)
                 : run_endless(make_source(key, block), longest, key.stop, count);
  });
}

/// Draws of an iteration; the reference path needs one more than drafts for the position of the bonus token.
std::int64_t draws_of(const ProcessRun& run) { return run.plan.path == Path::fast ? 1 : run.longest.gamma + 1; }

std::unique_ptr<Simulator> make_sequences_simulator(const SequenceLength& length, const ProcessRun& run) {
  return over_steppers(run.acceptance, run.steps(), run.plan.path, [&](auto make_stepper) {
    return make_run(
        run, 0,
        [make_stepper, shape = run.longest, is_chain = run.is_chain(), texts = SequenceTexts(run.acceptance, length)](
            const RunKey& key, std::uint64_t block, std::uint64_t sequences) {
          return run_sequences(ConstantSource(shape, is_chain, make_stepper(key, block)), shape, texts, key, block,
                               sequences);
        });
  });
}

std::unique_ptr<Simulator> make_constant_simulator(const ProcessRun& run) {
  if (run.sequence_length) return make_sequences_simulator(*run.sequence_length, run);
  if (const auto* chain = std::get_if<Markov>(&run.acceptance)) return make_chain_simulator(*chain, run);
  if (const auto* runs = std::get_if<Runs>(&run.acceptance)) return make_runs_simulator(*runs, run);
  if (const auto* trace = std::get_if<Trace>(&run.acceptance)) return make_trace_simulator(*trace, run.longest);
  return make_independent_simulator(run);
}

std::unique_ptr<Simulator> make_heuristic_simulator(const Plus2Minus1& policy, const ProcessRun& run) {
  const bool latent = std::holds_alternative<BetaMixture>(run.acceptance) && run.plan.path == Path::reference;
  return over_steppers(run.acceptance, run.steps(), run.plan.path, [&](auto make_stepper) {
    return make_source_simulator(
        run, latent ? run.longest.gamma : draws_of(run),
        [=, shape = run.longest, is_chain = run.is_chain()](const RunKey& key, std::uint64_t block) {
          return HeuristicSource(shape, policy, is_chain, make_stepper(key, block));
        });
  });
}

std::unique_ptr<Simulator> make_copying_simulator(const InputCopy& drafter, const ProcessRun& run) {
  return over_steppers(run.acceptance, run.longest.max_tokens(), run.plan.path, [&](auto make_stepper) {
    return make_source_simulator(run, draws_of(run), [=, shape = run.longest](const RunKey& key, std::uint64_t block) {
      return RealigningSource(shape, drafter.realign, make_stepper(key, block));
    });
  });
}

std::unique_ptr<Simulator> make_staged_simulator(const StagedDrafter& drafter, const ProcessRun& run) {
  return over_steppers(run.acceptance, run.longest.gamma, run.plan.path, [&](auto make_stepper) {
    return make_source_simulator(
        run, run.longest.gamma, [=, shape = run.longest](const RunKey& key, std::uint64_t block) {
          return StagedSource(shape, drafter, make_stepper(key, block),
                              RandomStream(key.seed, {Purpose::draft_token, key.point, block}));
        });
  });
}

std::unique_ptr<Simulator> make_longest_simulator(const IndependentDrafts& drafter, const ProcessRun& run) {
  return over_steppers(run.acceptance, run.longest.gamma, run.plan.path, [&](auto make_stepper) {
    return make_source_simulator(run, drafter.drafts * draws_of(run),
                                 [=, shape = run.longest](const RunKey& key, std::uint64_t block) {
                                   return LongestSource(shape, drafter.drafts, make_stepper(key, block));
                                 });
  });
}

/// `stop`: a Stop of confidence_sources.hpp. Each token draws its own acceptance.
template <class Stop>
std::unique_ptr<Simulator> make_confident_simulator(double concentration, const Stop& stop, const ProcessRun& run) {
  return make_source_simulator(run, run.longest.gamma,
                               [shape = run.longest, alpha = std::get<Iid>(run.acceptance).alpha, concentration, stop](
                                   const RunKey& key, std::uint64_t block) {
                                 return ConfidenceSource(
                                     shape, TokenAcceptance(alpha, concentration, shape.gamma, key, block), stop);
                               });
}

/// `draft_ratio` as below.
std::unique_ptr<Simulator> make_known_tokens_simulator(const OptimalTokenStopping& policy, double draft_ratio,
                                                       const ProcessRun& run) {
  const double alpha = std::get<Iid>(run.acceptance).alpha;
  const auto& [gamma, convention, drafting] = run.longest;
  const double price = stopping_price_of_tokens(alpha, policy.concentration, gamma, draft_ratio, convention);
  return make_source_simulator(run, gamma,
                               [shape = run.longest, alpha, concentration = policy.concentration, price](
                                   const RunKey& key, std::uint64_t block) {
                                 return KnownTokensSource(
                                     shape, TokenAcceptance(alpha, concentration, shape.gamma, key, block), price);
                               });
}

/// `draft_ratio`: cost of a draft pass divided by that of the rest of an iteration.
std::unique_ptr<Simulator> make_stopping_simulator(double draft_ratio, ProcessRun run) {
  IterationShape& longest = run.longest;
  const double price = stopping_price(run.acceptance, longest.gamma, draft_ratio, longest.convention);
  if (const auto* mixture = std::get_if<BetaMixture>(&run.acceptance)) {
    return make_source_simulator(
        run, longest.gamma, [shape = longest, distribution = *mixture, price](const RunKey& key, std::uint64_t block) {
          return KnownAlphaSource(shape, distribution, price, key, block);
        });
  }
  // The acceptance is known and constant, so the length is constant.
  longest.gamma = drafts_at_price(run.acceptance, price, longest.gamma, longest.convention);
  return make_constant_simulator(run);
}

struct ByPolicy {
  const Scenario& scenario;
  const ProcessRun& run;

  std::unique_ptr<Simulator> operator()(const ConstantGamma& /*policy*/) const { return make_constant_simulator(run); }
  std::unique_ptr<Simulator> operator()(const Plus2Minus1& policy) const {
    return make_heuristic_simulator(policy, run);
  }
  std::unique_ptr<Simulator> operator()(const ConfidenceThreshold& policy) const {
    return make_confident_simulator(policy.concentration, ConfidenceStop(policy), run);
  }
  std::unique_ptr<Simulator> operator()(const RejectionProbability& policy) const {
    return make_confident_simulator(policy.concentration, RejectionStop(policy), run);
  }
  std::unique_ptr<Simulator> operator()(const EntropyThreshold& policy) const {
    return make_confident_simulator(policy.concentration, EntropyStop(policy), run);
  }
  std::unique_ptr<Simulator> operator()(const AdaptiveEntropy& policy) const {
    return make_confident_simulator(policy.concentration, AdaptiveEntropyStop(policy, run.longest.gamma), run);
  }
  std::unique_ptr<Simulator> operator()(const DynamicThreshold& policy) const {
    return make_confident_simulator(policy.concentration, DynamicStop(policy), run);
  }
  std::unique_ptr<Simulator> operator()(const OptimalStopping& /*policy*/) const {
    return make_stopping_simulator(draft_ratio(scenario::decoding_cost(scenario).value()), run);
  }
  std::unique_ptr<Simulator> operator()(const OptimalTokenStopping& policy) const {
    return make_known_tokens_simulator(policy, draft_ratio(scenario::decoding_cost(scenario).value()), run);
  }
};

// ---- Drafters.

/// Acceptance that starts as `process` and is multiplied by `factor` at each position. `process` is Iid unless `factor`
/// is 1.
AcceptanceProcess falling(const AcceptanceProcess& process, double factor, std::int64_t gamma) {
  if (factor == 1.0 || gamma == 0) return process;
  Positional falling;
  double acceptance = std::get<Iid>(process).alpha;
  for (std::int64_t i = 0; i < gamma; ++i) {
    falling.conditional.push_back(acceptance);
    acceptance *= factor;
  }
  return falling;
}

/// Acceptance of a drafter's drafts: `process`, modified by the drafter.
AcceptanceProcess drafted_acceptance(const Drafter& drafter, const AcceptanceProcess& process, std::int64_t gamma) {
  if (const auto* copy = std::get_if<InputCopy>(&drafter)) return Iid{1.0 - copy->edit_rate};
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return falling(process, block->decay, gamma);
  if (const auto* stages = std::get_if<MlpSpeculator>(&drafter)) {
    return falling(process, std::pow(stages->decay, 1.0 - stages->recovery), gamma);
  }
  if (const auto* heads = std::get_if<Heads>(&drafter)) {
    if (heads->accuracies.empty()) return falling(process, heads->decay, gamma);
    return Positional{heads->accuracies};
  }
  return process;
}

}  // namespace

std::unique_ptr<Simulator> make_process_simulator(const Scenario& scenario, const SimulationPlan& plan) {
  const auto& [process, policy, sequence_length] = std::get<ProcessFidelity>(scenario.fidelity);
  check_range("gamma", scenario.gamma, 0, max_counted_gamma);
  const ProcessRun run{.acceptance = drafted_acceptance(scenario.drafter, process, scenario.gamma),
                       .longest = {scenario.gamma, scenario.convention, scenario::drafting(scenario.drafter)},
                       .sequence_length = sequence_length,
                       .plan = plan};
  if (const auto* copy = std::get_if<InputCopy>(&scenario.drafter)) return make_copying_simulator(*copy, run);
  if (const auto* staged = std::get_if<StagedDrafter>(&scenario.drafter)) return make_staged_simulator(*staged, run);
  if (const auto* several = std::get_if<IndependentDrafts>(&scenario.drafter)) {
    return make_longest_simulator(*several, run);
  }
  return std::visit(ByPolicy{scenario, run}, policy);
}

}  // namespace foredraft::sim
