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
/// idle; no request joins before all of its sequences have finished. Finished sequences are still computed, as padding.
enum class Batching {
  continuous,  ///< a waiting request replaces a finished sequence before the next iteration
  ragged,      ///< static; each sequence advances by its own tokens
  lockstep,    ///< static; all unfinished sequences advance by the minimum of their tokens
};

/// Which waiting requests join a continuous batch between two iterations, up to max_batch. They join after prefill;
/// other requests may arrive during prefill.
enum class Admission {
  one,  ///< those waiting when an iteration ends, in one prefill pass; later arrivals wait for the next iteration
  all,  ///< prefill passes are repeated until no request waits
};

enum class ArrivalKind {
  closed,    ///< a fixed number of clients; each sends its next request when the previous one is complete
  poisson,   ///< independent of the server, exponential intervals
  regular,   ///< constant intervals; the first request arrives after one interval
  recorded,  ///< the times and lengths of Server::recorded, repeated from its start when it ends
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  std::int64_t clients = 0;  ///< closed: >= 1
  double rate_per_s = 0.0;   ///< poisson, regular: requests per second, > 0
  std::string file = {};     ///< recorded: read_inputs() reads it into Server::recorded; empty: already read
};

/// Length of a prompt or of an output, in tokens.
struct TokenCount {
  double tokens = 0.0;      ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric = false;   ///< the text ends after every token with probability 1 / tokens; tokens >= 1, spread = 0
  /// If not 0: lognormal with mean `tokens` and this 95th percentile, rounded to whole tokens, at least 1. Must be
  /// above `tokens` and at most 3.868 (exp(1.645^2 / 2)) times `tokens`.
  double p95 = 0.0;
};

/// A request of a recording.
struct RecordedRequest {
  double arrival_s = 0.0;  ///< since the start of the recording; not before the previous request
  std::int64_t prompt_tokens = 0, output_tokens = 1;
};

/// The requests of a recording, in the order of their arrivals.
struct RequestRecording {
  std::vector<RecordedRequest> requests;
};

/// When prompts are prefilled.
enum class Prefill {
  alone,    ///< in separate passes between two iterations (see Admission), during which no request decodes
  chunked,  ///< in the passes of iterations, with the tokens of EngineTerms::pass_tokens that verification leaves
};

/// What an engine adds to the forward passes of an iteration of B requests:
///
///     host = host_us + host_request_us B, and with drafts  + draft_host_us + draft_host_request_us B
///     time = max(passes, host) if asynchronous, else passes + host
///
/// The default values add nothing. [docs/load.md]
struct EngineTerms {
  double host_us = 0.0;          ///< host time of every iteration: scheduling, sampling, transfers
  double host_request_us = 0.0;  ///< host time of each request in an iteration
  double draft_host_us = 0.0, draft_host_request_us = 0.0;  ///< likewise, added to an iteration that drafts
  bool asynchronous = false;  ///< the host prepares an iteration while the previous one runs
  /// Maximum tokens of a pass of the target that runs as a captured graph. A pass over more tokens, and any separate
  /// prefill pass, takes at least eager_us, the time to launch its operators one by one. 0: every pass is captured.
  std::int64_t graph_tokens = 0;
  double eager_us = 0.0;
  bool slot_by_slot = false;  ///< drafts and verifies one request after the other; decode steps are batched
  Prefill prefill = Prefill::alone;
  std::int64_t pass_tokens = 0;  ///< chunked: maximum tokens of a pass, > 0
  bool operator==(const EngineTerms&) const = default;
};

/// One forward pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< sequences
  std::int64_t tokens;  ///< new tokens of each sequence
  double context;       ///< tokens in the KV cache of a sequence, mean over the batch
  bool prompt = false;  ///< prefill, before the first iteration of these sequences
  /// Prompt tokens prefilled in the same pass, each after a mean of `chunk_context` tokens of its own prompt. With
  /// batch = 0 the pass has no other tokens.
  std::int64_t chunk = 0;
  double chunk_context = 0.0;
};

/// Roofline time of a forward pass: a launch time plus the maximum of the time to read weights and KV cache and the
/// time to compute. [Williams2009]
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
  AcceptanceProcess acceptance = Iid{};         ///< of each sequence; any except Markov
  std::vector<GammaRange> gamma_schedule = {};  ///< gamma by batch size; empty: the same gamma for all
  Batching batching = Batching::continuous;
  Admission admission = Admission::one;  ///< for continuous batching
  std::int64_t max_batch = 1;
  Arrivals arrivals = {};
  TokenCount prompt = {};
  TokenCount output = {.tokens = 1.0};
  RooflineStep target_step = {};  ///< used with ConstantRatio; other costs look forward passes up
  RooflineStep drafter_step = {};
  /// Added to each iteration that drafts, besides its forward passes; with EngineTerms::slot_by_slot, for each request.
  double overhead_us = 0.0;
  EngineTerms engine = {};
  std::string engine_name = {};  ///< shipped, or a file; read_inputs() sets `engine` from it; empty: already set
  double prefix_hit = 0.0;       ///< fraction of each prompt that hits the prefix cache and needs no prefill; in [0, 1)
  std::shared_ptr<const RequestRecording> recorded = {};  ///< for ArrivalKind::recorded
  /// For a gamma_schedule: extra time of the iteration after a change of gamma. Gamma changes only when the batch size
  /// is more than `switch_margin` requests outside the range of the current gamma.
  double switch_us = 0.0;
  std::int64_t switch_margin = 0;
  std::optional<double> latency_goal_us = {};  ///< goodput counts only requests of at most this latency
};

}  // namespace foredraft

#pragma GCC visibility pop
