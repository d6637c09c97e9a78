// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/clustered_estimate.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

constexpr double assumed = 0.02;
constexpr ClusterSet requests{.clusters = 0, .run = 0, .in_time = false};
constexpr ClusterSet other_requests{.clusters = 1, .run = 1, .in_time = false};

ClusteredEstimate ratio(const std::vector<double>& tops, const std::vector<double>& bottoms,
                        const ClusterSet& set = requests) {
  return ratio_of_totals(tops, bottoms, set, assumed);
}

constexpr ClusterSet windows{.clusters = 2, .run = 2, .in_time = true};

/// Windows of mean 100 and variance 1: an autoregression, and independent noise.
ClusteredEstimate autocorrelated(double rho, double noise, int count, int repetition) {
  RandomStream random(1, {.purpose = Purpose::test, .point = 39, .block = static_cast<std::uint64_t>(repetition)});
  boost::random::normal_distribution<double> normal;
  std::vector<double> tops;
  double level = normal(random);
  for (int i = 0; i < count; ++i) {
    tops.push_back(100.0 + std::sqrt(1.0 - noise) * level + std::sqrt(noise) * normal(random));
    level = rho * level + std::sqrt(1.0 - rho * rho) * normal(random);
  }
  return ratio(tops, std::vector<double>(tops.size(), 1.0), windows);
}

}  // namespace

TEST_CASE("for clusters of equal size a ratio is a mean with the textbook error and a Student interval") {
  const ClusteredEstimate mean = ratio({2.0, 4.0}, {1.0, 1.0});
  CHECK(mean.value == 3.0);
  CHECK_FALSE(is_assumed(mean));
  CHECK(uncertainty_of(mean).standard_error == Approx(1.0).epsilon(few_ulp));
  CHECK(uncertainty_of(mean).degrees == Approx(1.0).epsilon(few_ulp));
  // The quantile of Student's distribution with 1 degree of freedom is tan(pi (0.975 - 0.5)).
  CHECK(interval_of(mean).high == Approx(3.0 + std::tan(0.475 * std::acos(-1.0))).epsilon(second_route));
}

TEST_CASE("for clusters of unequal size residuals are weighted, worked by hand") {
  // 12/4 = 3; residuals 0, -1, 1 over 4; 16/6 effective clusters: variance 2/16 * (8/3)/(5/3).
  const ClusteredEstimate three = ratio({3.0, 5.0, 4.0}, {1.0, 2.0, 1.0});
  CHECK(three.value == 3.0);
  CHECK(uncertainty_of(three).standard_error == Approx(std::sqrt(0.2)).epsilon(few_ulp));
  CHECK(uncertainty_of(three).degrees == Approx(5.0 / 3.0).epsilon(few_ulp));
}

TEST_CASE("one dominating cluster, and clusters that all agree, have no scatter") {
  for (const ClusteredEstimate& one :
       {ratio({200.0}, {100.0}), ratio({200'000.0, 9.0}, {100'000.0, 3.0}), ratio({2.0, 4.0, 6.0}, {1.0, 2.0, 3.0})}) {
    CHECK(is_assumed(one));
    CHECK(uncertainty_of(one).standard_error == Approx(assumed * one.value).epsilon(few_ulp));
    CHECK(std::isinf(uncertainty_of(one).degrees));
  }
}

TEST_CASE("errors of shared clusters cancel in a difference, those of other clusters add up") {
  const std::vector<double> bottoms(4, 1.0);
  const ClusteredEstimate low = ratio({1.0, 2.0, 3.0, 4.0}, bottoms);
  const ClusteredEstimate high = ratio({1.5, 2.6, 3.5, 4.6}, bottoms);
  const ClusteredEstimate elsewhere = ratio({1.5, 2.6, 3.5, 4.6}, bottoms, other_requests);
  const ClusteredEstimate paired = difference_of(high, low);
  CHECK(paired.value == Approx(0.55).epsilon(second_route));
  // Differences 0.5, 0.6, 0.5, 0.6: standard deviation 0.1/sqrt(3) over sqrt(4).
  CHECK(uncertainty_of(paired).standard_error == Approx(0.05 / std::sqrt(3.0)).epsilon(second_route));
  CHECK(uncertainty_of(paired).degrees == Approx(3.0).epsilon(few_ulp));
  const ClusteredEstimate apart = difference_of(elsewhere, low);
  const double error = std::hypot(uncertainty_of(elsewhere).standard_error, uncertainty_of(low).standard_error);
  CHECK(uncertainty_of(apart).standard_error == Approx(error).epsilon(second_route));
  CHECK(uncertainty_of(apart).degrees > 5.9);  // Satterthwaite of nearly equal variances: 6
  CHECK(uncertainty_of(apart).degrees <= 6.0);
}

TEST_CASE("an estimate from shared clusters has the smaller effective number of clusters") {
  const ClusteredEstimate even = ratio({1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0});
  const ClusteredEstimate uneven = ratio({1.0, 2.0, 3.0, 8.0}, {1.0, 1.0, 1.0, 3.0});  // 36/12 = 3 effective ones
  CHECK(uncertainty_of(difference_of(even, uneven)).degrees == Approx(2.0).epsilon(few_ulp));
  CHECK(uncertainty_of(difference_of(uneven, even)).degrees == Approx(2.0).epsilon(few_ulp));
}

TEST_CASE("a shared ratio cancels in the ratio of two ratios") {
  const std::vector<double> bottoms(3, 1.0);
  const ClusteredEstimate shared = ratio({1.0, 2.0, 3.0}, bottoms);
  const ClusteredEstimate one = ratio({4.0, 4.1, 4.2}, bottoms, other_requests);
  const Term of_one[] = {{shared, 1.0 / one.value}, {one, -shared.value / (one.value * one.value)}};
  const ClusteredEstimate quotient = combined(shared.value / one.value, of_one);
  const ClusteredEstimate back = log_ratio_of(shared, quotient);
  CHECK(back.value == Approx(std::log(one.value)).epsilon(second_route));
  CHECK(uncertainty_of(back).standard_error ==
        Approx(uncertainty_of(one).standard_error / one.value).epsilon(second_route));
}

TEST_CASE("autocorrelated windows widen the error by their correlation, requests do not") {
  std::vector<double> tops;
  for (int i = 0; i < 12; ++i) tops.push_back(i / 2 % 2 == 0 ? 1.0 : 2.0);
  const std::vector<double> bottoms(tops.size(), 1.0);
  const Uncertainty by_request = uncertainty_of(ratio(tops, bottoms));
  CHECK(by_request.standard_error == Approx(0.5 / std::sqrt(11.0)).epsilon(second_route));
  CHECK(by_request.degrees == Approx(11.0).epsilon(few_ulp));
  // Six pairs of neighbors agree, five do not: a sample correlation of 1/12, less its bias (12/12 + 1)/8 = 1/4. So the
  // variance is 5/3 times that of 12 windows, with 12 x 3/5 - 1 degrees of freedom.
  const Uncertainty by_window = uncertainty_of(ratio(tops, bottoms, windows));
  CHECK(by_window.standard_error == Approx(0.5 / std::sqrt(11.0) * std::sqrt(5.0 / 3.0)).epsilon(second_route));
  CHECK(by_window.degrees == Approx(6.2).epsilon(second_route));
  // Windows without a contribution do not separate neighbors.
  tops.insert(tops.begin() + 1, {0.0, 0.0});
  std::vector<double> gaps(bottoms);
  gaps.insert(gaps.begin() + 1, {0.0, 0.0});
  CHECK(uncertainty_of(ratio(tops, gaps, windows)).standard_error == by_window.standard_error);
}

TEST_CASE("alternating windows do not narrow the error, and few windows count as two") {
  const std::vector<double> turns{1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0};
  const std::vector<double> bottoms(turns.size(), 1.0);
  CHECK(uncertainty_of(ratio(turns, bottoms, windows)).standard_error ==
        uncertainty_of(ratio(turns, bottoms)).standard_error);
  const Uncertainty four = uncertainty_of(ratio({1.0, 1.0, 2.0, 2.0}, {1.0, 1.0, 1.0, 1.0}, windows));
  CHECK(four.standard_error == Approx(0.5 / std::sqrt(3.0)).epsilon(second_route));
  CHECK(four.degrees == 1.0);
}

TEST_CASE("intervals of autocorrelated windows hold their level, and those of independent ones are not much wider") {
  struct Case {
    double rho;    // of neighbors
    double noise;  // share of the variance that is independent of all others
    int windows;
    double min_level, max_level, max_width;
  };
  // Levels within five standard errors of 2,000 repetitions; widths relative to the known error.
  for (const Case& one :
       {Case{0.0, 0.0, 6, 0.95, 0.99, 2.0}, Case{0.0, 0.0, 12, 0.94, 0.99, 1.4}, Case{0.0, 0.0, 100, 0.94, 0.99, 1.35},
        Case{0.5, 0.0, 12, 0.89, 0.97, 2.5}, Case{0.5, 0.0, 40, 0.92, 0.98, 1.5}, Case{0.9, 0.0, 12, 0.79, 0.95, 2.0},
        Case{0.9, 0.0, 24, 0.84, 0.96, 2.0}, Case{0.9, 0.5, 320, 0.92, 0.99, 1.7}}) {
    INFO(one.rho << " " << one.noise << " " << one.windows);
    constexpr int repetitions = 2000;
    const double n = one.windows;
    double variance = 0.0;  // of the mean, in closed form
    for (int lag = 1 - one.windows; lag < one.windows; ++lag) {
      variance += (1.0 - std::abs(lag) / n) * (1.0 - one.noise) * std::pow(one.rho, std::abs(lag)) / n;
    }
    variance += one.noise / n;
    int held = 0;
    std::vector<double> widths;
    for (int i = 0; i < repetitions; ++i) {
      const Interval interval = interval_of(autocorrelated(one.rho, one.noise, one.windows, i));
      if (interval.low <= 100.0 && interval.high >= 100.0) ++held;
      widths.push_back((interval.high - interval.low) / (2.0 * normal_quantile(0.95) * std::sqrt(variance)));
    }
    std::nth_element(widths.begin(), widths.begin() + repetitions / 2, widths.end());
    CHECK(held >= one.min_level * repetitions);
    CHECK(held <= one.max_level * repetitions);
    CHECK(widths[repetitions / 2] < one.max_width);
  }
}

TEST_CASE("the smallest detectable change is 2.8 standard errors of many clusters and more of few") {
  constexpr double multiple = 2.801585218112969;  // normal quantiles of 0.975 and 0.8
  CHECK(smallest_detectable({0.5, std::numeric_limits<double>::infinity()}) ==
        Approx(0.5 * multiple).epsilon(second_route));
  CHECK(smallest_detectable({0.5, 1.0}) > 0.5 * 12.7);
}

TEST_CASE("invalid totals are rejected") {
  CHECK_THROWS_AS(ratio({1.0}, {1.0, 2.0}), DomainError);
  CHECK_THROWS_AS(ratio({0.0}, {0.0}), DomainError);
  CHECK_THROWS_AS(ratio({}, {}), DomainError);
  CHECK_THROWS_AS(ratio({std::numeric_limits<double>::quiet_NaN()}, {1.0}), DomainError);
  CHECK_THROWS_AS(ratio({1.0}, {-1.0}), DomainError);
  CHECK_THROWS_AS(log_ratio_of(ratio({0.0}, {1.0}), ratio({1.0}, {1.0})), DomainError);
}

}  // namespace foredraft::analytic
