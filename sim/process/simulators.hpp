// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/random_stream.hpp"
#include "sim/draft_tree.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

/// The kinds of run of make_process_simulator(), one file each. Arguments have been checked.
namespace foredraft::sim {

/// 2^16 iterations per block, fewer if an iteration may take very many draws.
[[nodiscard]] BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration);

/// About 2^16 tokens per block.
[[nodiscard]] BlockPlan plan_sequences(std::uint64_t sequences, double tokens);

/// Token positions that an iteration can step over: its drafts and, for the chain, the bonus token.
[[nodiscard]] std::int64_t steps_per_iteration(const AcceptanceProcess& process, const IterationShape& shape);

/// Tokens of the next sequence; geometric lengths by inversion.
[[nodiscard]] std::int64_t draw_length(const SequenceLength& law, RandomStream& random);

/// Long-run probability that a token position of a Markov chain is accepted; 0 for the processes without memory.
[[nodiscard]] Threshold long_run_acceptance(const AcceptanceProcess& process);

/// Iterations that do not depend on each other: Iid, Positional, BetaMixture. Unit: the iteration.
[[nodiscard]] std::unique_ptr<Simulator> make_independent_simulator(const AcceptanceProcess& process,
                                                                    const IterationShape& shape,
                                                                    std::uint64_t iterations, Path path);

/// One endless text under a Markov chain, a section of it in each block.
///
/// Unit: the cycle from one iteration that starts after a rejected position to the next such iteration; cycles are
/// independent and identically distributed. A block starts in the chain's stationary state at the start of an
/// iteration, so every iteration of it is an unbiased sample. Its incomplete first and last cycles are joined into one
/// unit; a block without a rejection is one unit.
[[nodiscard]] std::unique_ptr<Simulator> make_markov_simulator(const Markov& chain, const IterationShape& shape,
                                                               std::uint64_t iterations, Path path);

/// The same for acceptance in runs, one draw per text position on either path.
[[nodiscard]] std::unique_ptr<Simulator> make_runs_simulator(const Runs& runs, const IterationShape& shape,
                                                             std::uint64_t iterations);

/// Sequences of finite length under any process except Runs and Trace. Unit: the sequence. A chain starts each sequence
/// after a token that was accepted with the chain's long-run probability.
[[nodiscard]] std::unique_ptr<Simulator> make_sequence_simulator(const AcceptanceProcess& process,
                                                                 const IterationShape& shape, const SequenceLength& law,
                                                                 std::uint64_t sequences, Path path);

/// Any policy but ConstantGamma, with the processes it allows; checks them. In an endless text, units are the cycles
/// between two iterations that start with the same draft length (for a chain: and after the same outcome), which are
/// independent and identically distributed; if lengths do not depend on the past, the unit is the iteration. The length
/// that cycles return to is the most frequent one of an initial stretch that is not counted. A block completes its last
/// cycle, so a run has up to one cycle per block more than requested. With sequences the unit is the sequence; the
/// policy starts anew with each.
[[nodiscard]] std::unique_ptr<Simulator> make_policy_simulator(const ProcessSimulation& simulation);

/// A trace replayed once, as one block. Unit: the sequence if there are at least 30 of them; else each sequence is cut,
/// in proportion to its length, into about 30 batches in total, taken as independent.
[[nodiscard]] std::unique_ptr<Simulator> make_trace_simulator(std::shared_ptr<const Recording> recording,
                                                              const IterationShape& shape);

}  // namespace foredraft::sim
