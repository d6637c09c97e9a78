// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/joint_draws.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// Five standard errors of a share of 0.95 in default_draws / 2 pairs of draws, of which both count or neither.
constexpr double share_noise = 0.0173;

ClusteredEstimate of_clusters(const std::vector<double>& tops, std::size_t clusters, bool in_time = false) {
  const std::vector<double> bottoms(tops.size(), 1.0);
  return ratio_of_totals(tops, bottoms, {.clusters = clusters, .run = clusters, .in_time = in_time}, 0.05);
}

/// Share of draws whose logarithm lies within the 95 % interval around that of the value.
double share_within(const ClusteredEstimate& estimate, std::span<const double> draws) {
  const double half = (interval_of(estimate).high - estimate.value) / estimate.value;
  const auto within = std::count_if(draws.begin(), draws.end(),
                                    [&](double one) { return std::abs(std::log(one / estimate.value)) <= half; });
  return static_cast<double>(within) / static_cast<double>(draws.size());
}

double correlation(std::span<const double> one, std::span<const double> other) {
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  double x = 0.0;
  double y = 0.0;
  const auto n = static_cast<double>(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    x += std::log(one[i]) / n;
    y += std::log(other[i]) / n;
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    xx += (std::log(one[i]) - x) * (std::log(one[i]) - x);
    yy += (std::log(other[i]) - y) * (std::log(other[i]) - y);
    xy += (std::log(one[i]) - x) * (std::log(other[i]) - y);
  }
  return xy / std::sqrt(xx * yy);
}

std::vector<double> wave(std::size_t clusters, double height, std::size_t length) {
  std::vector<double> tops;
  for (std::size_t i = 0; i < clusters; ++i) tops.push_back(3.0 + (i / length % 2 == 0 ? height : -height));
  return tops;
}

}  // namespace

TEST_CASE("draws reproduce the interval of each estimate for any degrees of freedom") {
  const ClusteredEstimate plain = of_clusters(wave(300, 0.02, 1), 4);
  const ClusteredEstimate whole[] = {
      of_clusters({2.0, 2.02}, 0),              // 1 degree
      of_clusters({2.0, 2.1, 2.3, 1.9}, 1),     // 3
      of_clusters(wave(40, 0.02, 5), 2, true),  // fewer than windows: they are correlated
      of_clusters({2.0}, 3),                    // assumed
      plain,
      combined(6.0, std::vector<Term>{{plain, 2.0}})};
  const auto draws = joint_draws(whole);
  REQUIRE(draws.size() == std::size(whole));
  for (std::size_t i = 0; i < draws.size(); ++i) {
    INFO(i);
    REQUIRE(draws[i].size() == default_draws);
    CHECK(share_within(whole[i], draws[i]) == Approx(0.95).margin(share_noise));
  }
}

TEST_CASE("estimates of the same clusters move together, others do not") {
  const ClusteredEstimate one = of_clusters({1.0, 1.1, 1.2, 1.3, 1.2}, 0);
  const ClusteredEstimate twice = of_clusters({2.0, 2.2, 2.4, 2.6, 2.4}, 0);
  const ClusteredEstimate against = of_clusters({1.3, 1.2, 1.1, 1.0, 1.1}, 0);
  const ClusteredEstimate across = of_clusters({1.0, 1.0, 1.2, 1.2, 0.9}, 0);
  const ClusteredEstimate elsewhere = of_clusters({1.0, 1.1, 1.2, 1.3, 1.2}, 1);
  const auto draws = joint_draws(std::vector{one, twice, against, across, elsewhere});
  for (std::size_t j = 0; j < default_draws; ++j) {
    CHECK(draws[1][j] == Approx(2.0 * draws[0][j]).epsilon(second_route));
  }
  CHECK(correlation(draws[0], draws[2]) == Approx(-1.0).epsilon(second_route));
  // Deviations -.16, -.06, .04, .14, .04 and -.06, -.06, .14, .14, -.16.
  CHECK(correlation(draws[0], draws[3]) == Approx(0.032 / std::sqrt(0.052 * 0.072)).margin(0.08));
  CHECK(std::abs(correlation(draws[0], draws[4])) < 0.08);  // five standard errors
}

TEST_CASE("a draw depends only on its estimate, not on those drawn with it") {
  const ClusteredEstimate one = of_clusters({1.0, 1.1, 1.2, 1.3}, 7);
  const ClusteredEstimate other = of_clusters({1.0, 1.5, 1.2, 1.3}, 7);
  const ClusteredEstimate single = of_clusters({5.0}, 2);
  const auto together = joint_draws(std::vector{single, other, one}, 50);
  CHECK(together[2] == joint_draws(std::vector{one}, 50).front());
  CHECK(together[0] == joint_draws(std::vector{single}, 50).front());
  const auto longer = joint_draws(std::vector{one}, 60).front();
  CHECK(std::equal(together[2].begin(), together[2].end(), longer.begin()));
}

TEST_CASE("the draws of a pair have opposite errors") {
  const ClusteredEstimate one = of_clusters({1.0, 1.1, 1.2, 1.3}, 7);
  const auto draws = joint_draws(std::vector{one}, 51).front();
  for (std::size_t j = 0; j + 1 < draws.size(); j += 2) {
    CHECK(draws[j] * draws[j + 1] == Approx(one.value * one.value).epsilon(second_route));
    CHECK(draws[j] != draws[j + 1]);
  }
}

TEST_CASE("components of an error add up in the draws") {
  const ClusteredEstimate time = of_clusters(wave(200, 0.3, 1), 0);
  const ClusteredEstimate plain = of_clusters(wave(200, 0.2, 1), 1);
  const Term terms[] = {{plain, 1.0 / 3.0}, {time, -1.0 / 3.0}};
  const ClusteredEstimate speedup = combined(1.0, terms);
  const auto draws = joint_draws(std::vector{time, plain, speedup});
  for (std::size_t j = 0; j < default_draws; ++j) {
    CHECK(draws[2][j] == Approx(draws[1][j] / draws[0][j]).epsilon(second_route));
  }
}

TEST_CASE("without an error a draw is the value, with a huge one it is finite, and only positive values are drawn") {
  const ClusteredEstimate exact{.value = 1.0, .sources = {}};
  CHECK(joint_draws(std::vector{exact}, 2).front() == std::vector{1.0, 1.0});
  const auto wild = joint_draws(std::vector{of_clusters({1.0, 100.0}, 0)}).front();
  CHECK(std::all_of(wild.begin(), wild.end(), [](double one) { return std::isfinite(one) && one > 0.0; }));
  CHECK(joint_draws({}).empty());
  CHECK_THROWS_AS(joint_draws(std::vector{ClusteredEstimate{.value = 0.0, .sources = {}}}), DomainError);
}

}  // namespace foredraft::analytic
