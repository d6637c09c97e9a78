// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/intervals.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The run of a checked server scenario: an event-driven simulation of batched speculative decoding in virtual time.
///
/// Requests are served first come, first served. The prompts of joining requests are read in one prefill pass of each
/// model, padded to the longest, while other requests wait; the pass yields the first token of each. With
/// Prefill::chunked they are instead read in the passes of iterations. A prompt of 0 tokens needs no pass. An iteration
/// drafts gamma tokens per sequence and verifies them in one target pass; drafts after the end of an output are still
/// drafted. With Runs, each output is a text. With a Trace, each output repeats a sequence drawn uniformly, from its
/// start. Times of forward passes come from the server's steps or are looked up.
///
/// A block, and a unit of the Tally, is a replica. It starts with an empty server and serves its share of the plan's
/// requests, in whole batches if batching is static. The Tally counts the iterations of measured requests. Requests
/// keep arriving until the last measured one is complete, so the load stays constant.
///
/// as_load_needs is replaced as by plan_of_load().
///
/// Throws DomainError for a plan without requests, with more than 2^40 requests, or without 1 to 4096 replicas.
/// run_block throws DomainError for a step time outside 0 to 10^12 us, and if a replica takes more than 2 years.
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
