// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/decoding_cost.hpp"
#include "core/intervals.hpp"
#include "sim/tally.hpp"

/// What a tally says, with standard errors. Ratios are ratios of totals with the delta method over independent units.
namespace foredraft::sim {

/// Emitted tokens over iterations.
[[nodiscard]] Estimate tokens_per_iteration(const Tally& tally);

/// Plain decoding's time over that of the run: tokens over iterations and draft passes, each at its cost. What is paid
/// once a sequence is paid once a unit: such costs go with tallies whose units are sequences.
[[nodiscard]] Estimate speedup(const Tally& tally, const DecodingCost& cost);

/// (drafted * operations_ratio + verified positions) / tokens; verified positions are drafted + iterations with a bonus
/// token and drafted without.
[[nodiscard]] Estimate operations_factor(const Tally& tally, double operations_ratio, Convention convention);

/// Iterations over tokens.
[[nodiscard]] Estimate memory_access_factor(const Tally& tally);

/// Acceptance as counted, by every definition in use. Entries without trials have NaN means.
struct Acceptance {
  Estimate per_token;                 ///< accepted / tested
  Estimate accepted_over_drafted;     ///< accepted / drafted
  std::vector<Estimate> conditional;  ///< [i]: accepted_at / tested_at
  std::vector<Estimate> marginal;     ///< [i]: accepted_at / drafted_at
};
[[nodiscard]] Acceptance acceptance(const Tally& tally);

/// Sample variance of the tokens of one iteration, from the histogram.
[[nodiscard]] double tokens_variance(const Tally& tally);

/// The same with its standard error from the fourth moment of the histogram, sqrt((m4 - m2^2) / n), NaN unless
/// iterations are `independent`.
[[nodiscard]] Estimate tokens_variance_estimate(const Tally& tally, bool independent);

// ---- What a tally of serving says. Means are ratios of totals; standard errors come from the spread of the replicas.

/// A duration over all measured requests. Quantiles are those of all requests together, to within
/// DurationHistogram::resolution; their standard error is that of the mean of the replicas' own quantiles.
struct DurationEstimates {
  Estimate mean_ms;
  Estimate p50_ms;
  Estimate p95_ms;
  Estimate p99_ms;
};

struct ServingEstimates {
  Estimate tokens_per_s;          ///< throughput: tokens emitted in the window over its length
  Estimate goodput_tokens_per_s;  ///< of these, tokens of requests within the latency goal
  Estimate mean_batch;            ///< rows of an iteration, finished rows of a static batch included
  Estimate mean_in_system;        ///< requests waiting or served, over time
  Estimate wait_ms;               ///< arrival to admission
  DurationEstimates latency;      ///< arrival to last token
  DurationEstimates first_token;  ///< arrival to first token
  DurationEstimates per_token;    ///< latency over the request's output tokens
  DurationEstimates tpot;  ///< first to last token over the tokens behind the first; NaN where no request has any
};

/// Standard errors are NaN below two replicas.
[[nodiscard]] ServingEstimates serving_estimates(const ServingTally& tally);

}  // namespace foredraft::sim
