// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/intervals.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The run of a checked scenario of a server that decodes batches of requests speculatively, event by event, in virtual
/// time.
///
/// Requests are served first come, first served. The prompts of those that join are read in one prefill pass of each
/// model, padded to the longest, while the others wait; it yields the first token of each. A prompt of 0 tokens takes
/// no pass. An iteration drafts gamma tokens per sequence and verifies them in one target pass; drafts after the end of
/// an output are still drafted. With Runs each output is a text; with a Trace each replays a sequence drawn uniformly,
/// from its start and around again. Forward passes take the server's own steps, or the times that were looked up.
///
/// A block is a replica, which serves its share of the plan's requests from an empty server, in whole batches if they
/// are static, and so is a unit of the Tally, which counts the iterations of measured requests. Requests keep arriving
/// until the last measured one is answered, so the load stays constant.
///
/// What the plan leaves to the load follows from it (plan_of_load).
///
/// Throws DomainError for a plan without requests, of more than 2^40, and of other than 1 to 4096 replicas; run_block
/// for a step time that is negative or not finite, and if a replica takes more than 2 years.
[[nodiscard]] std::unique_ptr<Simulator> make_serving_simulator(const Scenario& scenario, const SimulationPlan& plan);

/// The plan with numbers in place of as_load_needs. Throws DomainError as make_serving_simulator.
[[nodiscard]] SimulationPlan plan_of_load(const Scenario& scenario, const SimulationPlan& plan);

/// Balance of a replica when it stops: what arrived, departed and remains; times in ns.
struct RunAccount {
  std::int64_t arrived = 0;  ///< requests, counted as time advances
  std::int64_t departed = 0;
  std::int64_t in_service = 0;
  std::int64_t waiting = 0;
  Int128 emitted_tokens = 0;     ///< counted at every pass
  Int128 departed_tokens = 0;    ///< the lengths of the departed
  Int128 in_service_tokens = 0;  ///< emitted so far for those in service
  Int128 in_system_ns = 0;       ///< integral of the number of requests in the system over time
  Int128 departed_ns = 0;        ///< sum of arrival to departure
  Int128 remaining_ns = 0;       ///< sum of arrival to now over those in service and waiting
};

/// Throws std::logic_error unless every request that arrived departed, is served or waits, every token belongs to one
/// of them, and Little's law holds as an identity over the finite run including what remains at its end. [Little1961]
void check_account(const RunAccount& account);

}  // namespace foredraft::sim
