// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

/// Waiting at a server that takes requests one at a time.
namespace foredraft::analytic {

/// The time that a request takes, without waiting; in any one unit.
struct ServiceTime {
  double mean;           ///< > 0
  double second_moment;  ///< E[S^2] >= mean^2
};

/// Mean wait before service under Poisson arrivals of `arrival_rate` >= 0 requests per unit of time, in that unit:
/// arrival_rate E[S^2] / (2 (1 - load)), load = arrival_rate E[S]. For a constant service time load mean / (2 (1 -
/// load)). Infinite for load >= 1. [Pollaczek1930]
[[nodiscard]] double poisson_queue_wait(double arrival_rate, const ServiceTime& service);

// ---- How many requests a continuous batch holds at a request rate.

/// Time of a pass over `batch` >= 1 sequences, in us, > 0.
using BatchTime = std::function<double(std::int64_t batch)>;

/// Requests of Poisson arrivals that share the iterations of one server. Those who wait when an iteration ends are read
/// in one pass, while nobody decodes, and join the next one.
struct ServedLoad {
  double requests_per_s = 0.0;  ///< > 0
  double iterations = 0.0;      ///< mean of a request behind its prompt, > 0
  std::int64_t max_batch = 1;   ///< sequences, >= 1
  BatchTime iteration_us = {};  ///< of one iteration
  BatchTime prompt_us = {};     ///< of one pass over so many prompts; empty: none is read
};

/// Means in the long run; all but capacity_per_s are NaN where the server is overloaded.
struct LoadEquilibrium {
  double capacity_per_s;  ///< requests a second that keep the largest batch full; from here on the queue grows for ever
  bool overloaded;
  double batch;      ///< sequences that an iteration computes
  double decoding;   ///< requests behind their prompt that hold a place in the batch, over time
  double waiting;    ///< requests that wait for a place in a full batch, over time
  double decode_us;  ///< of one request, from the end of its prompt to its last token: decoding / rate [Little1961]
};

/// While k requests share an iteration, each advances by one in T(k), the prompts read before it included: a queue in
/// which all are served at once, at a total rate of k / T(k). Whatever the law of the lengths, the number of requests
/// in it has weights prod_{j<=k} rate iterations T(j) / j [Kelly1979, Sec. 3.3]; beyond max_batch they go on with the
/// rate of a full batch. T(k) solves T = iteration_us(k) + E[prompt_us(N)], N Poisson with mean rate T. Good for
/// requests of many iterations: what is left out is that requests join and leave between two of them alone. Throws
/// DomainError for an argument out of its range.
[[nodiscard]] LoadEquilibrium load_equilibrium(const ServedLoad& load);

}  // namespace foredraft::analytic
