// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "foredraft/quantities.hpp"

/// Waiting time at a server that serves one request at a time, and the load equilibrium of continuous batching.
namespace foredraft::analytic {

/// The time to serve a request, without waiting, in any unit.
struct ServiceTime {
  double mean;           ///< > 0
  double second_moment;  ///< E[S^2] >= mean^2
};

/// Mean wait before service under Poisson arrivals of `arrival_rate` >= 0: arrival_rate E[S^2] / (2 (1 - load)), load =
/// arrival_rate E[S]. Infinite for load >= 1. [Pollaczek1930]
[[nodiscard]] double poisson_queue_wait(double arrival_rate, const ServiceTime& service);

// ---- Batch size of continuous batching under a load.

/// Parts of the time of an iteration in us, each >= 0, the sum > 0.
struct IterationParts {
  double verification = 0.0;  ///< without speculation: decode steps
  double overhead = 0.0;      ///< of drafting, in addition to passes
  double drafting = 0.0;
  double prompts = 0.0;  ///< additional time of passes due to prompts
  double engine = 0.0;   ///< time added by the engine
  [[nodiscard]] double total() const { return verification + overhead + drafting + prompts + engine; }
};

/// Time of an iteration of `batch` sequences that also reads `prompt_tokens` prompt tokens; not both are 0.
using IterationTime = std::function<IterationParts(std::int64_t batch, double prompt_tokens)>;

/// Time in us, > 0, of one prefill pass over this number of prompts.
using PromptTime = std::function<double(std::int64_t prompts)>;

/// Iterations of a request after its prefill.
struct RequestIterations {
  double mean;             ///< > 0
  double variation = 0.0;  ///< standard deviation over mean, >= 0
};

/// Iterations of a request if each iteration has `batch` sequences.
using IterationsAtBatch = std::function<RequestIterations(std::int64_t batch)>;

/// Prompts in passes of iterations (Prefill::chunked).
struct ChunkedPrompts {
  double tokens = 0.0;  ///< tokens read per prompt; 0: prompts have separate passes, or there are none
  /// Prompt tokens that fit into a pass in addition to the verification of `batch` sequences; may be negative.
  std::function<double(std::int64_t batch)> room = {};
};

/// Load of one server: Poisson arrivals or a closed loop. Prompts are chunked, or the prompts waiting at the end of an
/// iteration are read in one pass, during which no request decodes. Prefill yields the first token.
struct ServedLoad {
  double requests_per_s = 0.0;  ///< rate of Poisson arrivals, > 0
  std::int64_t clients = 0;     ///< closed loop, > 0: each client sends its next request when the last one is complete
  IterationsAtBatch iterations = {};
  double tokens = 1.0;         ///< tokens of a request from iterations; > 0
  std::int64_t max_batch = 1;  ///< sequences, >= 1, including those whose prompts are being read
  IterationTime iteration = {};
  std::vector<std::int64_t> jumps = {};  ///< batch sizes after which the time of an iteration jumps
  PromptTime prompt_us = {};             ///< empty: no separate prefill passes
  double prompt_variation = 0.0;         ///< standard deviation / mean of lognormal prompt lengths, >= 0
  ChunkedPrompts chunked = {};
};

/// Fractions of the time; the sum is 1.
struct LoadShares {
  double verification = 0.0;  ///< without speculation: decode steps
  double drafting = 0.0;      ///< including the overhead of drafting
  double prompts = 0.0;       ///< additional time of passes, or separate passes
  double engine = 0.0;  ///< time added by the engine (EngineTerms), including launches of passes that are not captured
};

/// Long-run means; except capacity_per_s, NaN if the server is overloaded. A closed loop is never overloaded.
struct LoadEquilibrium {
  double capacity_per_s;  ///< requests per second with a full batch; at this rate the queue of Poisson arrivals grows
                          ///< without bound
  bool overloaded;
  double batch = unknown<double>;           ///< mean sequences per iteration
  double decoding = unknown<double>;        ///< mean number of decoding requests
  double waiting = unknown<double>;         ///< mean number of requests waiting for a place in a full batch
  double decode_us = unknown<double>;       ///< time of one request from the end of prefill to its last token
  double requests_per_s = unknown<double>;  ///< completed requests per second
  double in_flight = unknown<double>;       ///< mean number of requests in the system: decoding, in prefill or waiting
  double iteration_us = unknown<double>;    ///< mean time of an iteration, including prompts
  double tpot_us = unknown<double>;         ///< decode_us / ServedLoad::tokens
  double ttft_us = unknown<double>;         ///< from sending a request to its first token
  double request_us = unknown<double>;      ///< from sending a request to its last token: in_flight / rate [Little1961]
  LoadShares shares = {};
};

/// Long-run means under a load. Throws DomainError for an argument out of range. [docs/load.md]
///
/// In a closed loop min(clients, max_batch) places are always taken; other clients wait. In an iteration each sequence
/// ends with probability 1 / iterations, and the next prompt is read from then on. If prompts are chunked and the
/// iterations of requests vary little, this is mixed with requests that all take the same number of iterations.
///
/// Poisson arrivals: with k requests in the batch, each advances by one iteration in time T(k), which includes prompts.
/// This is a queue that serves all requests simultaneously at the total rate k / T(k). Its number of requests follows
/// [Kelly1979, Sec. 3.3], with clusters of requests that arrive while prompts are read [Borel1942]. Beyond max_batch
/// the rate is that of a full batch.
///
/// Waiting prompts are a Markov chain over passes (prompt_backlog.hpp), evaluated at the number of decoding requests in
/// a closed loop, and at each k for Poisson arrivals.
[[nodiscard]] LoadEquilibrium load_equilibrium(const ServedLoad& load);

}  // namespace foredraft::analytic
