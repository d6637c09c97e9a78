// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/simulator.hpp"
#include "sim/system/arrivals.hpp"

/// How long a pass of a model takes.
namespace foredraft::sim {

/// In microseconds, finite and not negative, for every shape that a run meets: a measured table, a formula. Called from
/// several threads at once.
using StepTime = std::function<double(const StepShape&)>;

// ---- System fidelity: a server that decodes batches of requests speculatively, event by event, in virtual time.

/// Requests are served first come, first served. Prompts of those who join are read in one pass of each model, padded
/// to the longest, while the others wait; it yields the first token of each. A prompt of 0 tokens takes no pass. An
/// iteration drafts gamma tokens a row and verifies them in one target pass; drafts behind the end of an answer are
/// drafted all the same.
struct ServingSimulation {
  /// BetaMixture, Iid, Positional with an entry for every draft; Runs, of which each answer is a text; Trace, of which
  /// each answer replays a sequence drawn with equal chance, from its start and round again.
  AcceptanceProcess acceptance;
  std::vector<GammaRange> gamma;  ///< by the rows of the batch; finished rows of a static batch count
  Convention convention;
  Drafting drafting;  ///< autoregressive: gamma passes of one token; block: one pass of gamma tokens; free: none
  Batching batching;
  Admission admission = Admission::one;  ///< of a continuous batch
  std::int64_t max_batch;                ///< rows, 1 to 65,536
  Arrivals arrivals;
  TokenCount prompt;  ///< >= 0 tokens
  TokenCount output;  ///< >= 1 token
  StepTime target_us;
  StepTime drafter_us;       ///< may be empty where nothing is ever drafted, and with Drafting::free
  double overhead_us = 0.0;  ///< of an iteration that drafts, 0 to 1e12
  double latency_goal_us =
      std::numeric_limits<double>::infinity();  ///< what goodput counts, from arrival to last token
  std::uint64_t requests;                       ///< measured in each replica, >= 1
  std::uint64_t warmup_requests;                ///< served before these, not measured
  std::uint64_t replicas;  ///< independent runs from an empty server, 1 to 4096: what standard errors come from
};

/// A block is a replica; so is a unit of the Tally, which counts the iterations of measured requests. Requests keep
/// coming until the last measured one is answered, so the load stays what it is; above the server's capacity latencies
/// grow with `requests`. Every replica checks that no request, token or moment of waiting is lost (check_account).
/// run_block throws DomainError for a step time that is negative or not finite, and where a replica's times add up to
/// more than 2 years. Throws DomainError on an argument outside its domain.
[[nodiscard]] std::unique_ptr<Simulator> make_serving_simulator(ServingSimulation simulation);

}  // namespace foredraft::sim
