// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/measurement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

RandomStream uniforms(std::uint64_t block) {
  return {20261121, {.purpose = Purpose::test, .point = 0, .block = block}};
}

/// Probability that the median lies between the low-th and the high-th order statistic of n: the number of samples
/// below it is Bin(n, 1/2), summed row by row of Pascal's triangle.
double exact_coverage(std::int64_t n, const Ranks& ranks) {
  std::vector<double> row{1.0};
  for (std::int64_t level = 0; level < n; ++level) {
    row.push_back(0.0);
    for (std::size_t i = row.size() - 1; i > 0; --i) row[i] = 0.5 * (row[i] + row[i - 1]);
    row[0] *= 0.5;
  }
  return std::accumulate(row.begin() + ranks.low + 1, row.begin() + ranks.high + 1, 0.0);
}

}  // namespace

TEST_CASE("percentiles are interpolated linearly between the sorted values") {
  RandomStream random = uniforms(1);
  for (std::size_t n = 1; n <= 30; ++n) {
    std::vector<double> sorted(n);
    for (double& value : sorted) value = 1.0 + random.uniform();
    std::sort(sorted.begin(), sorted.end());
    CHECK(percentile(sorted, 0.0) == sorted.front());
    CHECK(percentile(sorted, 1.0) == sorted.back());
    for (const double fraction : {0.05, 0.25, 0.5, 0.61, 0.95}) {
      double expected = sorted.front();
      for (std::size_t i = 0; i + 1 < n; ++i) {
        const double left = static_cast<double>(i) / static_cast<double>(n - 1);
        const double right = static_cast<double>(i + 1) / static_cast<double>(n - 1);
        if (fraction < left || fraction > right) continue;
        expected = sorted[i] + (sorted[i + 1] - sorted[i]) * (fraction - left) / (right - left);
      }
      CHECK(percentile(sorted, fraction) == Approx(expected).epsilon(foredraft::tests::second_route));
    }
  }
}

TEST_CASE("the ranks around the median are the narrowest symmetric pair with the required coverage") {
  for (const double level : {0.8, 0.95, 0.99}) {
    for (std::int64_t n = 1; n <= 200; ++n) {
      const Ranks ranks = median_ranks(n, level);
      REQUIRE(ranks.low >= 0);
      REQUIRE(ranks.high == n - 1 - ranks.low);
      const bool whole_range = ranks.low == 0;
      if (!whole_range) CHECK(exact_coverage(n, ranks) >= level);
      const Ranks narrower{ranks.low + 1, ranks.high - 1};
      if (narrower.low <= narrower.high) CHECK(exact_coverage(n, narrower) < level);
    }
  }
  CHECK(median_ranks(5).low == 0);
  CHECK(median_ranks(6).low == 0);
  CHECK(median_ranks(9).low == 1);  // 1 - 2 (1 + 9) / 512 = 0.961
  CHECK_THROWS_AS(median_ranks(0), DomainError);
  CHECK_THROWS_AS(median_ranks(10, 1.0), DomainError);
}

TEST_CASE("the interval covers the true median as often as stated, for skewed and heavy-tailed times") {
  constexpr std::int64_t repetitions = 20'000;
  constexpr std::size_t n = 25;
  const double coverage = exact_coverage(n, median_ranks(n));
  struct Distribution {
    std::function<double(double)> quantile;
    std::uint64_t block;
  };
  const std::vector<Distribution> distributions{
      {[](double u) { return 10.0 - std::log1p(-u); }, 2},                                     // a floor and a tail
      {[](double u) { return std::pow(1.0 - u, -1.0); }, 3},                                   // no mean
      {[](double u) { return u < 0.7 ? 5.0 + u : 50.0 + u; }, 4},                              // two modes
      {[](double u) { return std::exp(3.0 * std::log(u / (1.0 - u + 1e-300) + 1e-300)); }, 5}  // both tails
  };
  for (const Distribution& distribution : distributions) {
    RandomStream random = uniforms(distribution.block);
    const double median = distribution.quantile(0.5);
    std::int64_t covered = 0;
    for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
      std::vector<double> samples(n);
      for (double& sample : samples) sample = distribution.quantile(random.uniform());
      const Interval interval = summarise(samples).median_ci95_us;
      covered += interval.low <= median && median <= interval.high ? 1 : 0;
    }
    // Detects a coverage that is off by 0.007.
    const double standard_error = std::sqrt(coverage * (1.0 - coverage) / static_cast<double>(repetitions));
    CHECK(std::abs(static_cast<double>(covered) / static_cast<double>(repetitions) - coverage) <
          foredraft::tests::standard_errors * standard_error);
  }
}

TEST_CASE("a summary worked by hand") {
  const std::vector<double> samples{4.0, 1.0, 3.0, 2.0, 10.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0};
  const SampleSummary summary = summarise(samples);
  CHECK(summary.samples == 11);
  CHECK(summary.median_us == 6.0);
  CHECK(summary.median_ci95_us.low == 2.0);  // 1 - 2 (1 + 11) / 2048 = 0.988; one rank further in: 0.935
  CHECK(summary.median_ci95_us.high == 10.0);
  CHECK(summary.p5_us == 1.5);
  CHECK(summary.p25_us == 3.5);
  CHECK(summary.p75_us == 8.5);
  CHECK(summary.p95_us == 55.0);
  CHECK(summary.min_us == 1.0);
  CHECK(summary.mean_us == Approx(155.0 / 11.0).epsilon(foredraft::tests::few_ulp));
  CHECK(summary.mad_us == 3.0);  // 0 1 1 2 2 3 3 4 4 5 94
  CHECK(relative_spread(summary) == Approx(8.0 / 12.0).epsilon(foredraft::tests::few_ulp));
}

TEST_CASE("the median of an even number of samples is the mean of the two in the middle") {
  CHECK(summarise(std::vector<double>{1.0, 2.0, 4.0, 8.0}).median_us == 3.0);
  CHECK(summarise(std::vector<double>{3.0}).median_ci95_us.high == 3.0);
}

TEST_CASE("an empty sample and impossible times are rejected") {
  CHECK_THROWS_MATCHES(summarise({}), DomainError, Says("no samples to summarize"));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    CHECK_THROWS_AS(summarise(std::vector<double>{1.0, bad, 2.0}), DomainError);
  }
  CHECK_THROWS_AS(relative_spread(SampleSummary{}), DomainError);
}

}  // namespace foredraft::latency
