// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
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
  closed,   ///< a fixed number of clients; each sends its next request when its last one is answered
  poisson,  ///< independent of the server, exponential intervals
  regular,  ///< one constant interval; the first request comes after it
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  std::int64_t clients = 0;  ///< closed: >= 1
  double rate_per_s = 0.0;   ///< poisson, regular: requests per second, > 0
};

/// Length of a prompt or of an output, in tokens.
struct TokenCount {
  double tokens = 0.0;      ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric =
      false;  ///< the text ends with probability 1 / tokens after every token instead; then tokens >= 1, spread = 0
};

/// One forward pass over a batch.
struct StepShape {
  std::int64_t batch;   ///< sequences
  std::int64_t tokens;  ///< new tokens of each sequence
  double context;       ///< tokens in the KV cache of a sequence, mean over the batch
  bool prompt = false;  ///< prefill, before the first iteration of these sequences
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
    const double reading = weights_us + context_us * batch * shape.context;
    const double computing = token_us * batch * static_cast<double>(shape.tokens);
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
  std::optional<double> latency_goal_us = {};
};

}  // namespace foredraft

#pragma GCC visibility pop
