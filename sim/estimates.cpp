// SPDX-License-Identifier: Apache-2.0
#include "sim/estimates.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

using Weights = std::array<double, quantity_count>;

Weights weight(Quantity quantity) {
  Weights weights{};
  weights[quantity] = 1.0;
  return weights;
}

/// Conditional and marginal acceptance at one position. Each iteration contributes one Bernoulli outcome; over
/// dependent iterations this understates the error, which docs/metrics.md says.
Estimate proportion(std::uint64_t successes, std::uint64_t trials) {
  const auto n = static_cast<double>(trials);
  const double mean = static_cast<double>(successes) / n;  // 0/0: NaN, as documented
  return {mean, std::sqrt(mean * (1.0 - mean) / n)};
}

}  // namespace

Estimate tokens_per_iteration(const Tally& tally) {
  return ratio_estimate(tally.units, weight(tokens), weight(iterations));
}

Estimate speedup(const Tally& tally, const DecodingCost& cost) {
  check_cost(cost);
  Weights time{};
  time[iterations] = cost.iteration;
  time[draft_passes] = cost.draft_pass;
  return ratio_estimate(tally.units, weight(tokens), time, cost.plain_sequence, cost.sequence);
}

Estimate operations_factor(const Tally& tally, double operations_ratio, Convention convention) {
  check_nonnegative("operations_ratio", operations_ratio);
  Weights operations{};
  operations[drafted] = operations_ratio + 1.0;
  operations[iterations] = convention == Convention::bonus ? 1.0 : 0.0;
  return ratio_estimate(tally.units, operations, weight(tokens));
}

Estimate memory_access_factor(const Tally& tally) {
  return ratio_estimate(tally.units, weight(iterations), weight(tokens));
}

Acceptance acceptance(const Tally& tally) {
  Acceptance result{.per_token = ratio_estimate(tally.units, weight(accepted), weight(tested)),
                    .accepted_over_drafted = ratio_estimate(tally.units, weight(accepted), weight(drafted)),
                    .conditional = {},
                    .marginal = {}};
  for (std::size_t i = 0; i < tally.drafted_at.size(); ++i) {
    result.conditional.push_back(proportion(tally.accepted_at[i], tally.tested_at[i]));
    result.marginal.push_back(proportion(tally.accepted_at[i], tally.drafted_at[i]));
  }
  return result;
}

double tokens_variance(const Tally& tally) {
  IntegerMoments<1> moments;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    moments.add({static_cast<std::int64_t>(k) + 1}, static_cast<std::int64_t>(tally.tokens_count[k]));
  }
  return moments.covariance(0, 0);
}

Estimate tokens_variance_estimate(const Tally& tally, bool independent) {
  const double variance = tokens_variance(tally);
  if (!independent) return {variance, unknown<double>};
  double count = 0.0;
  double sum = 0.0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    count += static_cast<double>(tally.tokens_count[k]);
    sum += static_cast<double>(tally.tokens_count[k]) * static_cast<double>(k + 1);
  }
  double second = 0.0;
  double fourth = 0.0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    const double square = std::pow(static_cast<double>(k + 1) - sum / count, 2);
    second += static_cast<double>(tally.tokens_count[k]) * square / count;
    fourth += static_cast<double>(tally.tokens_count[k]) * square * square / count;
  }
  return {variance, std::sqrt(std::max(0.0, fourth - second * second) / count)};
}

}  // namespace foredraft::sim
