// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/simulator.hpp"

/// Time of a forward pass of a model.
namespace foredraft::sim {

/// In us, finite and not negative, for every shape of a run. Called from several threads at once.
using StepTime = std::function<double(const StepShape&)>;

// ---- System fidelity: a server that decodes batches of requests speculatively, event by event, in virtual time.

/// Requests are served first come, first served. The prompts of those that join are read in one prefill pass of each
/// model, padded to the longest, while the others wait; it yields the first token of each. A prompt of 0 tokens takes
/// no pass. An iteration drafts gamma tokens per sequence and verifies them in one target pass; drafts after the end of
/// an output are still drafted.
struct ServingSimulation {
  /// BetaMixture, Iid, Positional with an entry for every draft; Runs, where each output is a text; Trace, where each
  /// output replays a sequence drawn uniformly, from its start and around again.
  AcceptanceProcess acceptance;
  std::vector<GammaRange> gamma;  ///< by batch size, including finished sequences of a static batch
  Convention convention;
  Drafting drafting;  ///< autoregressive: gamma passes of one token; block: one pass of gamma tokens; free: none
  Batching batching;
  Admission admission = Admission::one;  ///< for continuous batching
  std::int64_t max_batch;                ///< sequences, 1 to 65,536
  Arrivals arrivals;
  TokenCount prompt;  ///< >= 0 tokens
  TokenCount output;  ///< >= 1 token
  StepTime target_us;
  StepTime drafter_us;       ///< may be empty if nothing is ever drafted, and with Drafting::free
  double overhead_us = 0.0;  ///< added to an iteration that drafts, 0 to 1e12
  double latency_goal_us =
      std::numeric_limits<double>::infinity();  ///< maximum latency that goodput counts, from arrival to last token
  std::uint64_t requests;                       ///< measured in each replica, >= 1
  std::uint64_t warmup_requests;                ///< served before these, not measured
  std::uint64_t replicas;  ///< independent runs from an empty server, 1 to 4096: the standard errors come from them
};

/// The simulation of a server. A block is a replica, and so is a unit of the Tally, which counts the iterations of
/// measured requests. Requests keep arriving until the last measured one is answered, so the load stays constant.
/// run_block throws DomainError for a step time that is negative or not finite, and if a replica takes more than 2
/// years.
[[nodiscard]] std::unique_ptr<Simulator> make_serving_simulator(ServingSimulation simulation);

}  // namespace foredraft::sim
