// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/random_stream.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// The kinds of run of make_process_simulator(). Arguments have been checked.
namespace foredraft::sim {

/// 2^16 iterations per block, fewer if an iteration may take very many draws.
[[nodiscard]] BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration);

/// About 2^16 tokens per block.
[[nodiscard]] BlockPlan plan_sequences(std::uint64_t sequences, double tokens);

[[nodiscard]] inline IterationShape shape_of(const ProcessSimulation& simulation) {
  return {simulation.gamma, simulation.convention, simulation.drafting};
}

/// Token positions that an iteration can step over: its drafts and, for the chain, the bonus token.
[[nodiscard]] std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape);

/// Tokens of the next sequence; geometric lengths by inversion.
[[nodiscard]] std::int64_t draw_length(const SequenceLength& distribution, RandomStream& random);

/// Sequences of a block. A chain starts each after a token that was accepted with the chain's long-run probability.
class SequenceTexts {
 public:
  SequenceTexts(const AcceptanceProcess& process, const SequenceLength& distribution);

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

/// A constant draft length.
///
/// Iid, Positional, BetaMixture: independent iterations. Unit: the iteration.
///
/// Markov, Runs: one endless text, a section of it in each block. Unit: the cycle from one iteration that starts after
/// a rejected position to the next such iteration; cycles are independent and identically distributed. A block starts
/// in the stationary state at the start of an iteration, so every iteration of it is an unbiased sample. Its incomplete
/// first and last cycles are joined into one unit; a block without a rejection is one unit. Runs take one draw per text
/// position on either path.
///
/// Trace: replayed once, as one block. Unit: the sequence if there are at least 30 of them; else each sequence is cut,
/// in proportion to its length, into about 30 batches in total, taken as independent.
///
/// Sequences of finite length: any process except Runs and Trace. Unit: the sequence.
[[nodiscard]] std::unique_ptr<Simulator> make_constant_simulator(const ProcessSimulation& simulation);

/// Any policy but ConstantGamma; checks the process. In an endless text, units are the cycles between two iterations
/// that start with the same draft length (for a chain: and after the same outcome), the most frequent one of an initial
/// stretch that is not counted; if lengths do not depend on the past, the iteration. A block completes its last cycle,
/// so a run has up to one cycle per block more than requested. With sequences the unit is the sequence.
[[nodiscard]] std::unique_ptr<Simulator> make_policy_simulator(const ProcessSimulation& simulation);

}  // namespace foredraft::sim
