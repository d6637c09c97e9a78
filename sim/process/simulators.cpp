// SPDX-License-Identifier: Apache-2.0
#include "sim/process/simulators.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "sim/process/kernels.hpp"
#include "sim/process/policy_sources.hpp"
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
std::int64_t draw_length(const SequenceLength& distribution, RandomStream& random) {
  if (!distribution.geometric) return static_cast<std::int64_t>(distribution.tokens);
  const double uniform = 1.0 - random.uniform();
  return 1 + static_cast<std::int64_t>(std::log(uniform) / std::log1p(-1.0 / distribution.tokens));
}

std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape) {
  return std::holds_alternative<Markov>(process) ? shape.max_tokens() : shape.gamma;
}

SequenceTexts::SequenceTexts(const AcceptanceProcess& process, const SequenceLength& distribution)
    : distribution_(distribution) {
  const auto* chain = std::get_if<Markov>(&process);
  if (chain == nullptr) return;
  const double leave = 1.0 - chain->a;
  accepted_before_ = threshold_of(chain->b / (leave + chain->b), leave / (leave + chain->b));
}

namespace {

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

/// An alpha of its own for each iteration.
std::unique_ptr<Simulator> make_latent_simulator(const BetaMixture& mixture, const ProcessSimulation& simulation) {
  return make_block_simulator(
      plan_iterations(simulation.iterations, simulation.gamma),
      [mixture, shape = shape_of(simulation)](const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
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

/// Long-run probability that the token before an iteration was (or, for a bonus token, would have been) accepted. An
/// iteration of n token positions accepts them all with probability b a^(n-1) after a rejection and a^n after an
/// acceptance.
double accepted_before_iteration(const Markov& chain, std::int64_t n) {
  const auto steps = static_cast<double>(n);
  const double enter = chain.b * std::pow(chain.a, steps - 1.0);
  const double leave = chain.a > 0.0 ? -std::expm1(steps * std::log(chain.a)) : 1.0;
  return enter > 0.0 ? enter / (enter + leave) : 0.0;
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

struct MakeEndless {
  const ProcessSimulation& simulation;
  IterationShape shape = shape_of(simulation);

  template <class Process>
  std::unique_ptr<Simulator> operator()(const Process& process) const {
    const Path path = simulation.path;
    if constexpr (std::is_same_v<Process, BetaMixture>) {
      if (path == Path::reference) return make_latent_simulator(process, simulation);
    }
    const bool fast = path == Path::fast;
    return make_block_simulator(plan_iterations(simulation.iterations, fast ? 1 : shape.gamma),
                                [path, shape = shape,
                                 thresholds = fast ? survival_thresholds(simulation.process, shape.gamma, false)
                                                   : acceptance_thresholds(simulation.process, shape.gamma, false)](
                                    const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                                  return tally_independent(shape,
                                                           count_accepted(thresholds, path, key, block, iterations));
                                });
  }

  std::unique_ptr<Simulator> operator()(const Markov& chain) const {
    const std::int64_t steps = shape.max_tokens();
    const double accepted = accepted_before_iteration(chain, steps);
    return over_steppers(chain, steps, simulation.path, [&](auto make_stepper) {
      return make_block_simulator(
          plan_iterations(simulation.iterations, simulation.path == Path::fast ? 1 : steps),
          [shape = shape, steps, make_stepper, start = threshold_of(accepted, 1.0 - accepted)](
              const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
            auto stepper = make_stepper(key, block);
            const bool after_acceptance = Draws(key, chain_start_draws, block, 1).below(start, 0, 0);
            return count_cycles(shape, iterations, after_acceptance, key.stop,
                                [&](std::uint64_t i, bool after) { return stepper.accepted_steps(i, after, steps); });
          });
    });
  }

  std::unique_ptr<Simulator> operator()(const Runs& runs) const {
    return make_block_simulator(plan_iterations(simulation.iterations, shape.gamma + 2),
                                [shape = shape, distribution = RunsDistribution(runs, shape.gamma)](
                                    const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
                                  RunsStepper stepper(distribution, key, block, shape.gamma);
                                  RunsState state = stepper.start(0);
                                  return count_cycles(shape, iterations, state.after_acceptance, key.stop,
                                                      [&](std::uint64_t i, bool /*after*/) {
                                                        return stepper.accepted_steps(i, state, shape.gamma);
                                                      });
                                });
  }

  std::unique_ptr<Simulator> operator()(const Trace& trace) const {
    constexpr BlockPlan once{.total = 1, .per_block = 1};
    return make_block_simulator(once, [shape = shape, recorded = RecordedOutcomes(trace.recording)](
                                          const RunKey& key, std::uint64_t /*block*/, std::uint64_t /*runs*/) {
      OutcomeCounts counts(shape);
      StopMeter stop(key.stop);
      for (std::size_t sequence = 0; sequence < recorded.sequences(); ++sequence) {
        replay(recorded, sequence, shape, key, stop, counts);
      }
      return counts.tally();
    });
  }
};

template <class Stepper>
Tally run_finite(Stepper stepper, const SequenceTexts& texts, const IterationShape& shape, bool is_chain,
                 const RunKey& key, std::uint64_t block, std::uint64_t sequences) {
  const std::int64_t maximum = is_chain ? shape.max_tokens() : shape.gamma;
  OutcomeCounts counts(shape);
  std::uint64_t iteration = 0;
  StopMeter stop(key.stop);
  texts.each(key, block, sequences, [&](std::int64_t remaining, bool after_acceptance) {
    while (remaining >= shape.max_tokens()) {
      const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, maximum);
      const Outcome outcome = iteration_outcome(shape, steps);
      stop.spend(1 + steps);
      counts.add(outcome);
      remaining -= outcome.tokens;
      after_acceptance = is_chain && steps == maximum;
    }
    while (remaining > 0) {
      const std::int64_t steps = stepper.accepted_steps(iteration++, after_acceptance, std::min(maximum, remaining));
      const Outcome outcome = last_outcome(shape, steps, remaining);
      stop.spend(1 + steps);
      counts.add(outcome);
      remaining -= outcome.tokens;
      after_acceptance = false;  // steps < maximum: a rejection, or the end of the text
    }
    counts.end_unit();
  });
  return counts.tally();
}

std::unique_ptr<Simulator> make_finite(const ProcessSimulation& simulation, const SequenceLength& length) {
  const IterationShape shape = shape_of(simulation);
  const AcceptanceProcess& process = simulation.process;
  return over_steppers(process, steps_per_iteration(process, shape), simulation.path, [&](auto make_stepper) {
    return make_block_simulator(plan_sequences(simulation.sequences, length.tokens),
                                [shape, make_stepper, texts = SequenceTexts(process, length),
                                 is_chain = std::holds_alternative<Markov>(process)](
                                    const RunKey& key, std::uint64_t block, std::uint64_t sequences) {
                                  return run_finite(make_stepper(key, block), texts, shape, is_chain, key, block,
                                                    sequences);
                                });
  });
}

}  // namespace

std::unique_ptr<Simulator> make_constant_simulator(const ProcessSimulation& simulation) {
  if (simulation.sequence) return make_finite(simulation, *simulation.sequence);
  return std::visit(MakeEndless{simulation}, simulation.process);
}

}  // namespace foredraft::sim
