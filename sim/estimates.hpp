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

}  // namespace foredraft::sim
