// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/measurement.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/check.hpp"

namespace foredraft::latency {

double percentile(std::span<const double> sorted, double fraction) {
  FOREDRAFT_EXPECT(!sorted.empty() && fraction >= 0.0 && fraction <= 1.0);
  const double rank = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below));
}

Ranks median_ranks(std::int64_t samples, double level) {
  check_at_least("samples", samples, 1);
  if (!(level > 0.0 && level < 1.0)) throw DomainError("invalid level (must lie between 0 and 1)");
  // P(fewer than k of n samples are below the median) = P(Bin(n, 1/2) <= k - 1). The interval from the k-th smallest to
  // the k-th largest misses the median with twice this probability.
  const boost::math::binomial_distribution<double> below(static_cast<double>(samples), 0.5);
  std::int64_t inside = 0;
  std::int64_t outside = (samples + 1) / 2;
  while (outside - inside > 1) {
    const std::int64_t k = inside + (outside - inside) / 2;
    const double missed = 2.0 * boost::math::cdf(below, static_cast<double>(k - 1));
    (missed <= 1.0 - level ? inside : outside) = k;
  }
  const std::int64_t low = std::max<std::int64_t>(inside - 1, 0);
  return {low, samples - 1 - low};
}

SampleSummary summarise(std::span<const double> samples_us) {
  if (samples_us.empty()) throw DomainError("no samples to summarize");
  for (const double us : samples_us) check_positive("sample_us", us);
  std::vector<double> sorted(samples_us.begin(), samples_us.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<std::int64_t>(sorted.size());
  const double median = percentile(sorted, 0.5);
  const Ranks ranks = median_ranks(count);
  std::vector<double> deviations(sorted.size());
  std::transform(sorted.begin(), sorted.end(), deviations.begin(), [&](double us) { return std::abs(us - median); });
  std::sort(deviations.begin(), deviations.end());
  return {.samples = count,
          .median_us = median,
          .median_ci95_us = {sorted[static_cast<std::size_t>(ranks.low)], sorted[static_cast<std::size_t>(ranks.high)]},
          .p5_us = percentile(sorted, 0.05),
          .p25_us = percentile(sorted, 0.25),
          .p75_us = percentile(sorted, 0.75),
          .p95_us = percentile(sorted, 0.95),
          .min_us = sorted.front(),
          .mean_us = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(count),
          .mad_us = percentile(deviations, 0.5)};
}

SampleSummary one_sample(double us) {
  return {.samples = 1,
          .median_us = us,
          .median_ci95_us = {us, us},
          .p5_us = us,
          .p25_us = us,
          .p75_us = us,
          .p95_us = us,
          .min_us = us,
          .mean_us = us,
          .mad_us = 0.0};
}

double relative_spread(const SampleSummary& summary) {
  check_positive("median_us", summary.median_us);
  return (summary.median_ci95_us.high - summary.median_ci95_us.low) / (2.0 * summary.median_us);
}

}  // namespace foredraft::latency
