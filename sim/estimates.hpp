// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/decoding_cost.hpp"
#include "core/intervals.hpp"
#include "sim/tally.hpp"

/// Estimates from a tally, with standard errors. Ratios are ratios of totals with the delta method over independent
/// units.
namespace foredraft::sim {

/// Emitted tokens per iteration.
[[nodiscard]] Estimate tokens_per_iteration(const Tally& tally);

/// Speedup: time of autoregressive decoding divided by that of the run, in which tokens, iterations and draft passes
/// have their costs. A cost per sequence is charged per unit, so use it with tallies whose units are sequences.
[[nodiscard]] Estimate speedup(const Tally& tally, const DecodingCost& cost);

/// (drafted * operations_ratio + verified positions) / tokens; verified positions are drafted + iterations with a bonus
/// token and drafted without.
[[nodiscard]] Estimate operations_factor(const Tally& tally, double operations_ratio, Convention convention);

/// Iterations per token.
[[nodiscard]] Estimate memory_access_factor(const Tally& tally);

/// Counted acceptance, by every definition in use. Entries without trials have NaN means.
struct Acceptance {
  Estimate per_token;                 ///< accepted / tested
  Estimate accepted_over_drafted;     ///< accepted / drafted
  std::vector<Estimate> conditional;  ///< [i]: accepted_at / tested_at
  std::vector<Estimate> marginal;     ///< [i]: accepted_at / drafted_at
};
[[nodiscard]] Acceptance acceptance(const Tally& tally);

/// Sample variance of the tokens of one iteration, from the histogram.
[[nodiscard]] double tokens_variance(const Tally& tally);

/// Sample variance with its standard error from the fourth moment of the histogram, sqrt((m4 - m2^2) / n); NaN unless
/// iterations are `independent`.
[[nodiscard]] Estimate tokens_variance_estimate(const Tally& tally, bool independent);

// ---- Estimates from a tally of serving. Means are ratios of totals; standard errors come from the spread of the
// replicas.

/// A duration over all measured requests. Quantiles are those of the pooled requests, within
/// DurationHistogram::resolution; their standard error is that of the mean of the replicas' own quantiles.
struct DurationEstimates {
  Estimate mean_ms;
  Estimate p50_ms;
  Estimate p95_ms;
  Estimate p99_ms;
};

struct ServingEstimates {
  Estimate tokens_per_s;          ///< throughput: tokens emitted in the window divided by its length
  Estimate goodput_tokens_per_s;  ///< the same for tokens of requests within the latency goal
  Estimate mean_batch;            ///< sequences of an iteration, including finished ones of a static batch
  Estimate mean_in_system;        ///< requests waiting or served, mean over time
  Estimate wait_ms;               ///< arrival to admission
  DurationEstimates latency;      ///< arrival to last token
  DurationEstimates first_token;  ///< arrival to first token
  DurationEstimates per_token;    ///< latency divided by the request's output tokens
  DurationEstimates tpot;  ///< first to last token divided by the tokens after the first; NaN if no request has any
};

/// Standard errors are NaN for fewer than two replicas.
[[nodiscard]] ServingEstimates serving_estimates(const ServingTally& tally);

}  // namespace foredraft::sim
