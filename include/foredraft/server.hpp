// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foredraft/acceptance.hpp"

#pragma GCC visibility push(default)

/// Servers that decode batches of requests.
namespace foredraft {

/// Maximum draft length of a server.
inline constexpr std::int64_t max_serving_gamma = 10'000;

/// Drafted tokens per iteration for a range of batch sizes.
struct GammaRange {
  std::int64_t from_batch;
  std::int64_t to_batch;  ///< inclusive
  std::int64_t gamma;     ///< 0: autoregressive decoding, only under Convention::bonus
};

/// How requests share a batch. A static batch (ragged, lockstep) takes the waiting requests as soon as the server is
/// idle, and no request joins before the slowest sequence has finished. Finished sequences are still computed, as
/// padding.
enum class Batching {
  continuous,  ///< a waiting request replaces a finished sequence before the next iteration
  ragged,      ///< static; each sequence advances by its own tokens
  lockstep,    ///< static; all unfinished sequences advance by the minimum of their tokens
};

/// Which requests join a continuous batch between two iterations, as far as there is room. They join after prefill;
/// other requests may arrive meanwhile.
enum class Admission {
  one,  ///< those waiting when an iteration ends, in one prefill pass; later requests wait for an iteration
  all,  ///< prefill passes are repeated until no request waits
};

enum class ArrivalKind {
  closed,    ///< a fixed number of clients; each sends its next request when its last one is answered
  poisson,   ///< independent of the server, exponential intervals
  regular,   ///< one constant interval; the first request comes after it
  recorded,  ///< the times and lengths of Server::recorded, repeated from its start when it ends
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  std::int64_t clients = 0;  ///< closed: >= 1
  double rate_per_s = 0.0;   ///< poisson, regular: requests per second, > 0
  std::string file = {};     ///< recorded: read_inputs reads it into Server::recorded; empty: they are given
};

/// Length of a prompt or of an output, in tokens.
struct TokenCount {
  double tokens = 0.0;      ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric =
      false;  ///< the text ends with probability 1 / tokens after every token instead; then tokens >= 1, spread = 0
  /// Lognormal with mean `tokens` and this 95th percentile, rounded to whole tokens of at least 1: above `tokens` and
  /// at most 3.86 times as much (exp(1.645^2 / 2)); 0: another length.
  double p95 = 0.0;
};

/// A request of a recording.
struct RecordedRequest {
  double arrival_s = 0.0;  ///< since the start of the recording; not before that of the request before
  std::int64_t prompt_tokens = 0, output_tokens = 1;
};

/// The requests of a recording, in the order of their arrivals.
struct RequestRecording {
  std::vector<RecordedRequest> requests;
};

/// When prompts are read.
enum class Prefill {
  alone,    ///< in passes of their own between two iterations, as Admission says; no request decodes meanwhile
  chunked,  ///< in the passes of iterations: up to EngineTerms::pass_tokens, of which verifications take theirs first
};

/// What an engine adds to the forward passes of an iteration of B requests:
///
///     host = host_us + host_request_us B, and with drafts  + draft_host_us + draft_host_request_us B
///     time = max(passes, host) if asynchronous, else passes + host
///
/// A default one adds nothing. [docs/load.md]
struct EngineTerms {
  double host_us = 0.0;          ///< scheduling, sampling, handing over: of the host, in every iteration
  double host_request_us = 0.0;  ///< and for each of its requests
  double draft_host_us = 0.0, draft_host_request_us = 0.0;  ///< likewise, added to an iteration that drafts
  bool asynchronous = false;                                ///< the host prepares an iteration while the last one runs
  /// Largest number of tokens of a captured pass; a pass over more takes at least eager_us, the time to launch its
  /// operators one by one. 0: no pass is launched like that.
  std::int64_t graph_tokens = 0;
  double eager_us = 0.0;
  bool slot_by_slot = false;  ///< drafts and verifies one request after the other; decode steps are batched
  Prefill prefill = Prefill::alone;
  std::int64_t pass_tokens = 0;  ///< chunked: most tokens of a pass, > 0
  bool operator==(const EngineTerms&) const = default;
};

/// One forward pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< sequences
  std::int64_t tokens;  ///< new tokens of each sequence
  double context;       ///< tokens in the KV cache of a sequence, mean over the batch
  bool prompt = false;  ///< prefill, before the first iteration of these sequences
  /// Tokens of prompts that the same pass reads, each after `chunk_context` tokens of its own prompt, in the mean;
  /// with batch = 0 nothing else.
  std::int64_t chunk = 0;
  double chunk_context = 0.0;
};

/// Roofline time of a forward pass: the maximum of reading (weights and KV cache) and computing, plus a launch time.
/// [Williams2009]
struct RooflineStep {
  double launch_us = 0.0;   ///< constant part of every forward pass
  double weights_us = 0.0;  ///< reading the weights
  double context_us = 0.0;  ///< reading one cached token of one sequence
  double token_us = 0.0;    ///< computing one new token of one sequence

  /// Time in us.
  double operator()(const StepShape& shape) const {
    const auto batch = static_cast<double>(shape.batch);
    const double chunk_context = shape.chunk > 0 ? shape.chunk_context : 0.0;
    const double reading = weights_us + context_us * (batch * shape.context + chunk_context);
    const double computing = token_us * (batch * static_cast<double>(shape.tokens) + static_cast<double>(shape.chunk));
    return launch_us + std::max(reading, computing);
  }
};

/// A server that decodes batches of requests.
struct Server {
  AcceptanceProcess acceptance = Iid{};         ///< of each sequence; BetaMixture, Iid or Positional
  std::vector<GammaRange> gamma_schedule = {};  ///< gamma by batch size; empty: the same gamma for all
  Batching batching = Batching::continuous;
  Admission admission = Admission::one;  ///< for continuous batching
  std::int64_t max_batch = 1;
  Arrivals arrivals = {};
  TokenCount prompt = {};
  TokenCount output = {.tokens = 1.0};
  RooflineStep target_step = {};  ///< used with ConstantRatio; other costs look forward passes up
  RooflineStep drafter_step = {};
  double overhead_us = 0.0;  ///< added to an iteration that drafts, beyond its forward passes
  EngineTerms engine = {};
  std::string engine_name = {};  ///< shipped, or a file: read_inputs puts its terms into `engine`; empty: as given
  double prefix_hit = 0.0;       ///< in [0, 1): share of each prompt that is in the cache already and is not read again
  std::shared_ptr<const RequestRecording> recorded = {};  ///< for ArrivalKind::recorded
  /// Of a gamma_schedule: an iteration after a change of gamma takes this much longer, and gamma changes only when the
  /// batch is more than `switch_margin` requests inside the range of another one.
  double switch_us = 0.0;
  std::int64_t switch_margin = 0;
  std::optional<double> latency_goal_us = {};
};

}  // namespace foredraft

#pragma GCC visibility pop
