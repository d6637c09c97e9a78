// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// The run of a checked server scenario: an event-driven simulation of batched speculative decoding in virtual time.
///
/// Requests are served first come, first served. The prompts of joining requests are read in one prefill pass of each
/// model, padded to the longest, while other requests wait; the pass yields the first token of each. A prompt of 0
/// tokens needs no pass. An iteration drafts gamma tokens per sequence and verifies them in one target pass; drafts
/// after the end of an output are still drafted. With Runs, each output is a text. With a Trace, each output repeats a
/// sequence drawn uniformly, from its start. Times of forward passes come from the server's steps or are looked up.
///
/// A block, and a unit of the Tally, is a replica. It starts with an empty server and serves its share of the plan's
/// requests, in whole batches if batching is static. The Tally counts the iterations of measured requests. Requests
/// keep arriving until the last measured one is complete, so the load stays constant.
///
/// plan_of_load() replaces as_load_needs.
///
/// Throws DomainError for a plan without requests, with more than 2^40 requests, or without 1 to 4096 replicas.
/// run_block throws DomainError for a step time that is negative or not finite, and if a replica takes more than 2
/// years.
[[nodiscard]] std::unique_ptr<Simulator> make_serving_simulator(const Scenario& scenario, const SimulationPlan& plan);

/// The plan with numbers in place of as_load_needs. Throws DomainError as make_serving_simulator.
[[nodiscard]] SimulationPlan plan_of_load(const Scenario& scenario, const SimulationPlan& plan);

}  // namespace foredraft::sim
