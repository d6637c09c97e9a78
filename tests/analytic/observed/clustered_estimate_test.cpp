// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/clustered_estimate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

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

}  // namespace

TEST_CASE("of clusters of equal size a ratio is a mean with the textbook error and a Student interval") {
  const ClusteredEstimate mean = ratio({2.0, 4.0}, {1.0, 1.0});
  CHECK(mean.value == 3.0);
  CHECK_FALSE(is_assumed(mean));
  CHECK(uncertainty_of(mean).standard_error == Approx(1.0).epsilon(few_ulp));
  CHECK(uncertainty_of(mean).degrees == Approx(1.0).epsilon(few_ulp));
  // The quantile of Student's distribution with 1 degree of freedom is tan(pi (0.975 - 0.5)).
  CHECK(interval_of(mean).high == Approx(3.0 + std::tan(0.475 * std::acos(-1.0))).epsilon(second_route));
}

TEST_CASE("of clusters of unequal size residuals are weighted, worked by hand") {
  // 12/4 = 3; residuals 0, -1, 1 over 4; 16/6 effective clusters: variance 2/16 * (8/3)/(5/3).
  const ClusteredEstimate three = ratio({3.0, 5.0, 4.0}, {1.0, 2.0, 1.0});
  CHECK(three.value == 3.0);
  CHECK(uncertainty_of(three).standard_error == Approx(std::sqrt(0.2)).epsilon(few_ulp));
  CHECK(uncertainty_of(three).degrees == Approx(5.0 / 3.0).epsilon(few_ulp));
}

TEST_CASE("a cluster beside which all others are tiny, and clusters that all agree, tell no scatter") {
  for (const ClusteredEstimate& one :
       {ratio({200.0}, {100.0}), ratio({200'000.0, 9.0}, {100'000.0, 3.0}), ratio({2.0, 4.0, 6.0}, {1.0, 2.0, 3.0})}) {
    CHECK(is_assumed(one));
    CHECK(uncertainty_of(one).standard_error == Approx(assumed * one.value).epsilon(few_ulp));
    CHECK(std::isinf(uncertainty_of(one).degrees));
  }
}

TEST_CASE("what the same clusters share cancels in a difference, that of others adds up") {
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

TEST_CASE("clusters that both share are as many as the estimate with fewer effective ones has") {
  const ClusteredEstimate even = ratio({1.0, 2.0, 3.0, 4.0}, {1.0, 1.0, 1.0, 1.0});
  const ClusteredEstimate uneven = ratio({1.0, 2.0, 3.0, 8.0}, {1.0, 1.0, 1.0, 3.0});  // 36/12 = 3 effective ones
  CHECK(uncertainty_of(difference_of(even, uneven)).degrees == Approx(2.0).epsilon(few_ulp));
  CHECK(uncertainty_of(difference_of(uneven, even)).degrees == Approx(2.0).epsilon(few_ulp));
}

TEST_CASE("a ratio that both share cancels in the ratio of two ratios") {
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

TEST_CASE("windows that follow each other are taken in groups, requests are not") {
  std::vector<double> tops;
  for (int i = 0; i < 64; ++i) tops.push_back(i / 8 % 2 == 0 ? 1.0 : 2.0);  // runs of eight
  const std::vector<double> bottoms(tops.size(), 1.0);
  const double by_request = uncertainty_of(ratio(tops, bottoms)).standard_error;
  const Uncertainty by_window = uncertainty_of(ratio(tops, bottoms, {.clusters = 0, .run = 0, .in_time = true}));
  CHECK(by_request == Approx(0.5 / std::sqrt(63.0)).epsilon(second_route));
  CHECK(by_window.standard_error == Approx(0.5 / std::sqrt(7.0)).epsilon(second_route));
  CHECK(by_window.degrees == Approx(7.0).epsilon(few_ulp));
}

TEST_CASE("the smallest detectable change is 2.8 standard errors of many clusters and more of few") {
  constexpr double multiple = 2.801585218112969;  // normal quantiles of 0.975 and 0.8
  CHECK(smallest_detectable({0.5, std::numeric_limits<double>::infinity()}) ==
        Approx(0.5 * multiple).epsilon(second_route));
  CHECK(smallest_detectable({0.5, 1.0}) > 0.5 * 12.7);
}

TEST_CASE("totals that are no ratio are an error") {
  CHECK_THROWS_AS(ratio({1.0}, {1.0, 2.0}), DomainError);
  CHECK_THROWS_AS(ratio({0.0}, {0.0}), DomainError);
  CHECK_THROWS_AS(ratio({}, {}), DomainError);
  CHECK_THROWS_AS(ratio({NAN}, {1.0}), DomainError);
  CHECK_THROWS_AS(ratio({1.0}, {-1.0}), DomainError);
  CHECK_THROWS_AS(log_ratio_of(ratio({0.0}, {1.0}), ratio({1.0}, {1.0})), DomainError);
}

}  // namespace foredraft::analytic
