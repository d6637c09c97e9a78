// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "foredraft/quantities.hpp"

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

// ---- Batch size of continuous batching under a load.

/// Parts of the time of an iteration in us, each >= 0, the sum > 0.
struct IterationParts {
  double verification = 0.0;  ///< decode steps without speculation
  double overhead = 0.0;      ///< of drafting, beyond the passes
  double drafting = 0.0;
  double prompts = 0.0;  ///< by how much prompts make the passes longer
  double engine = 0.0;   ///< what the engine adds
  [[nodiscard]] double total() const { return verification + overhead + drafting + prompts + engine; }
};

/// Time of an iteration of `batch` sequences that reads so many tokens of prompts besides; not both are 0.
using IterationTime = std::function<IterationParts(std::int64_t batch, double prompt_tokens)>;

/// Time in us, > 0, of one prefill pass over so many prompts.
using PromptTime = std::function<double(std::int64_t prompts)>;

/// Iterations of a request after its prefill.
struct RequestIterations {
  double mean;             ///< > 0
  double variation = 0.0;  ///< standard deviation over mean, >= 0
};

/// The same if each iteration has so many sequences.
using IterationsAtBatch = std::function<RequestIterations(std::int64_t batch)>;

/// Prompts in passes of iterations (Prefill::chunked).
struct ChunkedPrompts {
  double tokens = 0.0;  ///< of one prompt that are read; 0: prompts are read alone, or there are none
  /// Tokens of prompts for which a pass has room beside the verification of so many sequences; may be negative.
  std::function<double(std::int64_t batch)> room = {};
};

/// Requests that share the iterations of one server: of Poisson arrivals or of a closed loop. Prompts are chunked, or
/// those waiting when an iteration ends are read in one pass, while no request decodes. Either yields a first token.
struct ServedLoad {
  double requests_per_s = 0.0;  ///< of Poisson arrivals, > 0
  std::int64_t clients = 0;     ///< > 0: as many send their next request when their last one is answered
  IterationsAtBatch iterations = {};
  double tokens = 1.0;         ///< of a request, from its iterations; > 0
  std::int64_t max_batch = 1;  ///< sequences, >= 1, those included whose prompts are read
  IterationTime iteration = {};
  std::vector<std::int64_t> jumps = {};  ///< batches after which the time of an iteration jumps
  PromptTime prompt_us = {};             ///< empty: no prompt is read alone
  double prompt_variation = 0.0;         ///< of lognormal prompts: standard deviation over mean, >= 0
  ChunkedPrompts chunked = {};
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
  double batch = unknown<double>;           ///< sequences that an iteration decodes
  double decoding = unknown<double>;        ///< mean number of decoding requests
  double waiting = unknown<double>;         ///< mean number of requests that wait for a place in a full batch
  double decode_us = unknown<double>;       ///< time of one request from the end of prefill to its last token
  double requests_per_s = unknown<double>;  ///< that are answered
  double in_flight = unknown<double>;       ///< requests sent and not answered: decoding, prefilled and waiting
  double iteration_us = unknown<double>;    ///< mean over iterations, prompts between or within them included
  double tpot_us = unknown<double>;         ///< decode_us over the tokens after the first
  double ttft_us = unknown<double>;         ///< from sending a request to its first token
  double request_us = unknown<double>;      ///< from sending a request to its last token: in_flight / rate [Little1961]
  LoadShares shares = {};
};

/// Long-run means under a load. Throws DomainError for an argument out of range. [docs/load.md]
///
/// A closed loop keeps min(clients, max_batch) places taken; the others wait. Of the sequences of an iteration each
/// ends with probability 1 / iterations, and the next prompt is read from then on.
///
/// Poisson arrivals: while k requests share an iteration, each advances by one iteration in time T(k), prompts
/// included: a queue that serves all at once, at a total rate of k / T(k). The number of requests in it is that of
/// [Kelly1979, Sec. 3.3] where they join one by one, and of clusters where others come while prompts are read
/// [Borel1942]; beyond max_batch the rate is that of a full batch.
///
/// The prompts that wait are a Markov chain from pass to pass (prompt_backlog.hpp), in a closed loop with the number of
/// decoding requests, under Poisson arrivals at each k.
[[nodiscard]] LoadEquilibrium load_equilibrium(const ServedLoad& load);

}  // namespace foredraft::analytic
