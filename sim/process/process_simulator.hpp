// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The run of a checked scenario in process fidelity: which drafts are accepted, and no more.
///
/// A constant draft length:
///
/// Iid, Positional, BetaMixture: independent iterations. Unit: the iteration.
///
/// Markov, Runs: one endless text, a section of it in each block. Unit: the cycle from one iteration that starts after
/// a rejected position to the next such iteration; cycles are independent and identically distributed. A block starts
/// in the stationary state at the start of an iteration, so every iteration of it is an unbiased sample. Its incomplete
/// first and last cycles are joined into one unit; a block without a rejection is one unit. Runs take one draw per text
/// position on either path.
///
/// Trace: replayed once, as one block, whatever the plan counts. Unit: the sequence if there are at least 30 of them;
/// else each sequence is cut, in proportion to its length, into about 30 batches in total, taken as independent.
///
/// Any other policy, and InputCopy, which drafts nothing for `realign` iterations after each edit, of a draft or of the
/// copy at a bonus token (without a bonus token: one token, not tested): in an endless text, units are the cycles
/// between two iterations that start with the same draft length (for a chain: and after the same outcome), the most
/// frequent one of an initial stretch that is not counted; if lengths do not depend on the past, the iteration. A block
/// completes its last cycle, so a run has up to one cycle per block more than requested.
///
/// Sequences of finite length, whatever the policy: the unit is the sequence.
///
/// Throws DomainError for a plan that counts nothing or too much, and for gamma above 2^24.
[[nodiscard]] std::unique_ptr<Simulator> make_process_simulator(const Scenario& scenario, const SimulationPlan& plan);

}  // namespace foredraft::sim
