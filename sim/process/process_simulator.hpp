// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The run of a checked scenario in process fidelity, which simulates only acceptance.
///
/// A constant draft length:
///
/// Iid, Positional, BetaMixture: independent iterations. Unit: the iteration.
///
/// Markov, Runs: one endless text, divided into blocks. Unit: the cycle from one iteration that starts after a rejected
/// position to the next such iteration; cycles are independent and identically distributed. A block starts in the
/// stationary state at the start of an iteration, so every iteration of it is an unbiased sample. Its incomplete first
/// and last cycles are joined into one unit; a block without a rejection is one unit. Runs take one draw per text
/// position, and one more for the kind of a run, on either path.
///
/// Trace: replayed once, as one block, regardless of the plan. Unit: the sequence if there are at least 30; otherwise
/// sequences are cut, in proportion to their length, into about 30 batches in total, which are treated as independent.
///
/// Any other policy, InputCopy, StagedDrafter and IndependentDrafts, in an endless text: if draft lengths do not depend
/// on the past, the unit is the iteration. Otherwise it is the cycle between two iterations in the same state: the same
/// draft length and, for a chain, the same outcome before; for InputCopy the same number of realigning iterations left.
/// The state is the most frequent one of an initial phase, which is not counted. A block completes its last cycle, so a
/// run has up to one cycle per block more than requested. InputCopy drafts nothing (without a bonus token: one token
/// that is not tested) for `realign` iterations after each edit, which may be at the position of a bonus token.
///
/// Sequences of finite length, under any policy: the unit is the sequence.
///
/// Throws DomainError for a plan that counts nothing or too much, and for gamma above 2^24.
[[nodiscard]] std::unique_ptr<Simulator> make_process_simulator(const Scenario& scenario, const SimulationPlan& plan);

}  // namespace foredraft::sim
