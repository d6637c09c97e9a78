// SPDX-License-Identifier: Apache-2.0
#include "sim/serving_estimates.hpp"

#include "core/integer_moments.hpp"

namespace foredraft::sim {
namespace {

using ServingMoments = IntegerMoments<serving_quantity_count>;

constexpr double ms_per_ns = 1e-6;
constexpr double s_per_ns = 1e-9;

/// scale * numerator / denominator.
Estimate serving_ratio(const ServingMoments& replicas, ServingQuantity numerator, ServingQuantity denominator,
                       double scale) {
  std::array<double, serving_quantity_count> top{};
  std::array<double, serving_quantity_count> bottom{};
  top[numerator] = scale;
  bottom[denominator] = 1.0;
  return ratio_estimate(replicas, top, bottom);
}

/// Of `requests` of the replicas: a quantity that counts them.
DurationEstimates duration_estimates(const ServingMoments& replicas, const DurationHistogram& durations,
                                     ServingQuantity sum, ServingQuantity requests, ServingQuantity first_quantile) {
  if (durations.count() == 0) {
    return {unknown<Estimate>, unknown<Estimate>, unknown<Estimate>, unknown<Estimate>};
  }
  const auto quantile = [&](double level, std::size_t place) {
    return Estimate{ms_per_ns * static_cast<double>(durations.quantile(level)),
                    ms_per_ns * replicas.standard_error(first_quantile + place)};
  };
  return {.mean_ms = serving_ratio(replicas, sum, requests, ms_per_ns),
          .p50_ms = quantile(0.50, 0),
          .p95_ms = quantile(0.95, 1),
          .p99_ms = quantile(0.99, 2)};
}

}  // namespace

ServingEstimates serving_estimates(const ServingTally& tally) {
  ServingMoments replicas;
  for (const Replica& replica : tally.replicas) replicas.add(replica.values);
  return {.tokens_per_s = serving_ratio(replicas, window_tokens, window_ns, 1.0 / s_per_ns),
          .goodput_tokens_per_s = serving_ratio(replicas, good_tokens, window_ns, 1.0 / s_per_ns),
          .mean_batch = serving_ratio(replicas, rows, passes, 1.0),
          .mean_in_system = serving_ratio(replicas, in_system_ns, window_ns, 1.0),
          .wait_ms = serving_ratio(replicas, wait_ns, measured_requests, ms_per_ns),
          .latency = duration_estimates(replicas, tally.latency, latency_ns, measured_requests, latency_p50_ns),
          .first_token =
              duration_estimates(replicas, tally.first_token, first_token_ns, measured_requests, first_token_p50_ns),
          .per_token = duration_estimates(replicas, tally.per_token, per_token_ns, measured_requests, per_token_p50_ns),
          .tpot = duration_estimates(replicas, tally.tpot, tpot_ns, tpot_requests, tpot_p50_ns)};
}

}  // namespace foredraft::sim
