// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

/// Waiting time at a server that serves requests one at a time.
namespace foredraft::analytic {

/// The time to serve a request, without waiting; in any one unit.
struct ServiceTime {
  double mean;           ///< > 0
  double second_moment;  ///< E[S^2] >= mean^2
};

/// Mean wait before service under Poisson arrivals of `arrival_rate` >= 0: arrival_rate E[S^2] / (2 (1 - load)), load =
/// arrival_rate E[S]. Infinite for load >= 1. [Pollaczek1930]
[[nodiscard]] double poisson_queue_wait(double arrival_rate, const ServiceTime& service);

// ---- Batch size of continuous batching at a request rate.

/// Time of a forward pass over `batch` >= 1 sequences, in us, > 0.
using BatchTime = std::function<double(std::int64_t batch)>;

/// Requests with Poisson arrivals that share the iterations of one server. Those waiting when an iteration ends are
/// prefilled in one pass, while no request decodes, and join the next iteration.
struct ServedLoad {
  double requests_per_s = 0.0;  ///< > 0
  double iterations = 0.0;      ///< mean iterations of a request after its prefill, > 0
  std::int64_t max_batch = 1;   ///< sequences, >= 1
  BatchTime iteration_us = {};  ///< of one iteration
  BatchTime prompt_us = {};     ///< of one prefill pass over this many prompts; empty: no prefill
};

/// Shares of the time of the iterations, which add up to 1.
struct LoadShares {
  double verification = 0.0;  ///< decode steps without speculation
  double drafting = 0.0;
  double prompts = 0.0;  ///< by how much prompts make passes longer, or passes of their own
  double engine = 0.0;   ///< what the engine adds (EngineTerms), launches of passes that are not captured included
};

/// Long-run means; NaN if the server is overloaded, but for capacity_per_s. A closed loop never is.
struct LoadEquilibrium {
  double capacity_per_s;  ///< requests per second that keep the largest batch full; from this rate on the queue of
                          ///< Poisson arrivals grows without bound
  bool overloaded;
  double batch;           ///< sequences that an iteration decodes
  double decoding;        ///< mean number of decoding requests
  double waiting;         ///< mean number of requests that wait for a place in a full batch
  double decode_us;       ///< time of one request from the end of prefill to its last token
  double requests_per_s;  ///< that are answered
  double in_flight;       ///< requests sent and not answered: decoding, prefilled and waiting
  double iteration_us;    ///< mean over iterations, prompts between or within them included
  double tpot_us;         ///< decode_us over the tokens after the first
  double ttft_us;         ///< from sending a request to its first token
  double request_us;      ///< from sending a request to its last token: in_flight / rate [Little1961]
  LoadShares shares = {};
};

/// Mean batch size and latencies in equilibrium. While k requests share an iteration, each advances by one iteration in
/// time T(k), including the prefill before it: a queue that serves all at once, at a total rate of k / T(k). For any
/// distribution of lengths, the number of requests in it has weights prod_{j<=k} rate iterations T(j) / j [Kelly1979,
/// Sec. 3.3]; beyond max_batch the rate is that of a full batch. T(k) solves T = iteration_us(k) + E[prompt_us(N)], N
/// Poisson with mean rate T. Accurate for requests of many iterations: it neglects only that requests join and leave
/// between two iterations. Throws DomainError for an argument out of range.
[[nodiscard]] LoadEquilibrium load_equilibrium(const ServedLoad& load);

}  // namespace foredraft::analytic
