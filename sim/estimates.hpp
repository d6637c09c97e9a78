// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/decoding_cost.hpp"
#include "core/intervals.hpp"
#include "foredraft/quantities.hpp"
#include "sim/tally.hpp"

/// Estimates with standard errors: ratios of totals with the delta method over independent units.
namespace foredraft::sim {

/// Emitted tokens per iteration.
[[nodiscard]] Estimate tokens_per_iteration(const Tally& tally);

/// Speedup: time of autoregressive decoding divided by the time of the run, computed from tokens, iterations and draft
/// passes. A cost per sequence is charged per unit and requires a tally with sequences as units.
[[nodiscard]] Estimate speedup(const Tally& tally, const DecodingCost& cost);

/// (drafted * operations_ratio + verified) / tokens. Verified positions are the drafted ones and, with a bonus token,
/// one more per iteration.
[[nodiscard]] Estimate operations_factor(const Tally& tally, double operations_ratio, Convention convention);

/// Iterations per token.
[[nodiscard]] Estimate memory_access_factor(const Tally& tally);

/// Ratio of the totals of two quantities.
[[nodiscard]] Estimate ratio(const Tally& tally, Quantity top, Quantity bottom);

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

/// Sample variance. Its standard error is sqrt((m4 - m2^2) / n), or NaN unless iterations are `independent`.
[[nodiscard]] Estimate tokens_variance_estimate(const Tally& tally, bool independent);

// ---- Estimates from a tally of serving. Standard errors come from the scatter of the replicas. If there are fewer
// than eight replicas or all are equal, and at least four batches, the error from batch means (batches of the replicas'
// windows) is used if it is larger.

/// The quantities of a server; others are unknown. Quantiles of durations are taken over all requests, within
/// DurationHistogram::resolution; their standard error is that of the mean of the replicas' quantiles. Standard errors
/// are NaN for fewer than two replicas, unless (for means only) there are at least four batches.
[[nodiscard]] Estimates serving_estimates(const ServingTally& tally);

}  // namespace foredraft::sim
