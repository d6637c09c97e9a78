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

/// Speedup: time of autoregressive decoding divided by that of the run, in which tokens, iterations and draft passes
/// have their costs. A cost per sequence is charged per unit, so use it with tallies whose units are sequences.
[[nodiscard]] Estimate speedup(const Tally& tally, const DecodingCost& cost);

/// (drafted * operations_ratio + verified) / tokens; verified: drafted, plus iterations with a bonus token.
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

/// Sample variance with its standard error sqrt((m4 - m2^2) / n); NaN unless iterations are `independent`.
[[nodiscard]] Estimate tokens_variance_estimate(const Tally& tally, bool independent);

// ---- Estimates from a tally of serving. Standard errors come from the spread of the replicas, or from that of the
// batches of their windows (batch means) where it is larger: replicas that are in step say too little.

/// The quantities of a server; the others are unknown. Quantiles of durations are those of the pooled requests, within
/// DurationHistogram::resolution; their standard error is that of the mean of the replicas' own quantiles. Standard
/// errors are NaN for fewer than two replicas, those of means also for fewer than four batches.
[[nodiscard]] Estimates serving_estimates(const ServingTally& tally);

}  // namespace foredraft::sim
