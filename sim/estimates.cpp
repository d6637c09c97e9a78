// SPDX-License-Identifier: Apache-2.0
#include "sim/estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

using Weights = std::array<double, quantity_count>;

Weights weight(Quantity quantity) {
  Weights weights{};
  weights[quantity] = 1.0;
  return weights;
}

/// Conditional and marginal acceptance at one position. Each iteration contributes one Bernoulli outcome; for dependent
/// iterations this understates the error (docs/metrics.md).
Estimate proportion(std::uint64_t successes, std::uint64_t trials) {
  const auto n = static_cast<double>(trials);
  const double mean = static_cast<double>(successes) / n;  // 0/0: NaN, as documented
  return {mean, std::sqrt(mean * (1.0 - mean) / n)};
}

}  // namespace

Estimate ratio(const Tally& tally, Quantity top, Quantity bottom) {
  return ratio_estimate(tally.units, weight(top), weight(bottom));
}

Estimate tokens_per_iteration(const Tally& tally) { return ratio(tally, tokens, iterations); }

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

Estimate memory_access_factor(const Tally& tally) { return ratio(tally, iterations, tokens); }

Acceptance acceptance(const Tally& tally) {
  Acceptance result{.per_token = ratio(tally, accepted, tested),
                    .accepted_over_drafted = ratio(tally, accepted, drafted),
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

namespace {

using ServingMoments = IntegerMoments<serving_quantity_count>;

constexpr double ms_per_ns = 1e-6;
constexpr double s_per_ns = 1e-9;

struct ServedMoments {
  ServingMoments replicas, batches;
};

/// Minimum replicas for a reliable estimate of their scatter.
constexpr std::int64_t enough_replicas = 8;
constexpr std::int64_t min_batches = 4;

/// scale * numerator / denominator.
Estimate serving_ratio(const ServedMoments& served, ServingQuantity numerator, ServingQuantity denominator,
                       double scale) {
  std::array<double, serving_quantity_count> top{};
  std::array<double, serving_quantity_count> bottom{};
  top[numerator] = scale;
  bottom[denominator] = 1.0;
  Estimate estimate = ratio_estimate(served.replicas, top, bottom);
  const bool known = served.replicas.count() >= enough_replicas && estimate.standard_error > 0.0;
  if (known || served.batches.count() < min_batches) return estimate;
  // fmax ignores the NaN of a single replica.
  estimate.standard_error =
      std::fmax(estimate.standard_error, ratio_estimate(served.batches, top, bottom).standard_error);
  return estimate;
}

/// Mean and three quantiles of a duration. `requests`: the quantity that counts its requests.
void add_durations(const ServedMoments& served, const DurationHistogram& durations, ServingQuantity sum,
                   ServingQuantity requests, ServingQuantity first_quantile, const std::array<Estimate*, 4>& to) {
  if (durations.count() == 0) return;
  *to[0] = serving_ratio(served, sum, requests, ms_per_ns);
  constexpr std::array levels{0.50, 0.95, 0.99};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    *to[i + 1] = {ms_per_ns * static_cast<double>(durations.quantile(levels[i])),
                  ms_per_ns * served.replicas.standard_error(first_quantile + i)};
  }
}

}  // namespace

Estimates serving_estimates(const ServingTally& tally) {
  ServedMoments served;
  for (const Replica& replica : tally.replicas) {
    served.replicas.add(replica.values);
    for (const ServingValues& batch : replica.batches) served.batches.add(batch);
  }
  Estimates e;
  e.tokens_per_s = serving_ratio(served, window_tokens, window_ns, 1.0 / s_per_ns);
  e.goodput_tokens_per_s = serving_ratio(served, good_tokens, window_ns, 1.0 / s_per_ns);
  e.mean_batch = serving_ratio(served, rows, passes, 1.0);
  e.mean_in_system = serving_ratio(served, in_system_ns, window_ns, 1.0);
  e.wait_ms = serving_ratio(served, wait_ns, measured_requests, ms_per_ns);
  add_durations(served, tally.latency, latency_ns, measured_requests, latency_p50_ns,
                {&e.latency_ms, &e.latency_p50_ms, &e.latency_p95_ms, &e.latency_p99_ms});
  add_durations(served, tally.first_token, first_token_ns, measured_requests, first_token_p50_ns,
                {&e.first_token_ms, &e.first_token_p50_ms, &e.first_token_p95_ms, &e.first_token_p99_ms});
  add_durations(
      served, tally.per_token, per_token_ns, measured_requests, per_token_p50_ns,
      {&e.per_token_latency_ms, &e.per_token_latency_p50_ms, &e.per_token_latency_p95_ms, &e.per_token_latency_p99_ms});
  add_durations(served, tally.tpot, tpot_ns, tpot_requests, tpot_p50_ns,
                {&e.tpot_ms, &e.tpot_p50_ms, &e.tpot_p95_ms, &e.tpot_p99_ms});
  return e;
}

}  // namespace foredraft::sim
