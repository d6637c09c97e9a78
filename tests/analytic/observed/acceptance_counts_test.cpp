// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_counts.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "core/intervals.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

AcceptanceCluster window(double steps, double first, double second) {
  return {.gamma = 2, .steps = steps, .accepted_at = {first, second}};
}

AcceptanceCluster request(double steps, double first, double second) {
  AcceptanceCluster counts = window(steps, first, second);
  counts.in_time = false;
  return counts;
}

}  // namespace

TEST_CASE("counts of one gamma are pooled as counts, not as rates") {
  const std::vector clusters{window(100, 90, 80), AcceptanceCluster{.gamma = 1, .steps = 10, .accepted_at = {5}},
                             window(300, 30, 0)};
  const std::vector<PooledCounts> pooled = pooled_by_gamma(clusters);
  REQUIRE(pooled.size() == 2);
  CHECK(pooled[0].gamma == 1);
  CHECK(pooled[1].gamma == 2);
  CHECK(pooled[1].steps == 400);
  CHECK(pooled[1].clusters == 2);
  CHECK(pooled[1].marginal == std::vector{0.3, 0.2});
  CHECK(pooled[1].accepted == 0.5);
}

TEST_CASE("a cluster without positions has those of the others, raised to the power that gives its accepted drafts") {
  const std::vector clusters{window(100, 81, 64),
                             AcceptanceCluster{.gamma = 2, .steps = 100, .accepted_at = {}, .accepted_tokens = 73}};
  const PooledCounts pooled = pooled_by_gamma(clusters).front();
  CHECK(pooled.accepted == 218.0 / 200.0);
  REQUIRE(pooled.marginal.size() == 2);
  CHECK(pooled.marginal[0] + pooled.marginal[1] == Approx(pooled.accepted).epsilon(few_ulp));
  CHECK(std::log(pooled.marginal[0]) / std::log(pooled.marginal[1]) == Approx(std::log(0.81) / std::log(0.64)));
  // No power of shares of which only the first is above 0 adds up to more than 1.
  const std::vector open{window(100, 90, 0),
                         AcceptanceCluster{.gamma = 2, .steps = 100, .accepted_at = {}, .accepted_tokens = 180}};
  CHECK(pooled_by_gamma(open).front().marginal.empty());
}

TEST_CASE("a gamma whose clusters have no positions has accepted drafts only") {
  const std::vector clusters{AcceptanceCluster{.gamma = 2, .steps = 100, .accepted_at = {}, .accepted_tokens = 170},
                             AcceptanceCluster{.gamma = 2, .steps = 100, .accepted_at = {}, .accepted_tokens = 30}};
  const std::vector<PooledCounts> pooled = pooled_by_gamma(clusters);
  REQUIRE(pooled.size() == 1);
  CHECK(pooled[0].marginal.empty());
  CHECK(pooled[0].accepted == 1.0);
}

TEST_CASE("the variance of a step is that of its accepted drafts") {
  // 0, 1 or 2 accepted with 0.5, 0.3 and 0.2: mean 0.7, second moment 1.1.
  CHECK(variance_of_a_step(pooled_by_gamma(std::vector{window(10, 5, 2)})[0]) == Approx(1.1 - 0.49).epsilon(few_ulp));
  // Without positions the widest distribution of that mean: 0 or 2.
  const std::vector totals{AcceptanceCluster{.gamma = 2, .steps = 10, .accepted_at = {}, .accepted_tokens = 7}};
  CHECK(variance_of_a_step(pooled_by_gamma(totals)[0]) == Approx(0.35 * 0.65 * 4.0).epsilon(few_ulp));
}

TEST_CASE("clusters that differ more than their steps widen the variance accordingly") {
  // Four clusters of 100 steps; accepted 150, 50, 150, 50 drafts: deviations of 50. 4/3 of 4 x 2,500 over 400 steps.
  const std::vector clusters{request(100, 75, 75), request(100, 25, 25), request(100, 75, 75), request(100, 25, 25)};
  const auto variance = cluster_variance(clusters);
  REQUIRE(variance);
  CHECK(variance->degrees == 3.0);
  const double of_a_step = variance_of_a_step(pooled_by_gamma(clusters)[0]);
  CHECK(variance->factor == Approx(4.0 / 3.0 * 4.0 * 2500.0 / 400.0 / of_a_step).epsilon(few_ulp));
  CHECK_FALSE(cluster_variance(std::vector{window(100, 75, 75)}));
  CHECK(cluster_variance(std::vector{request(100, 50, 20), request(100, 50, 20)})->factor == 1.0);
}

TEST_CASE("correlated neighboring windows widen the variance by their correlation") {
  // As in clustered_estimate: 12 windows in pairs, a correlation of 1/4 in all. A step accepts 0 or 2: variance 1,
  // known to be independent. The correlation is that of the rest.
  std::vector<AcceptanceCluster> clusters;
  for (int i = 0; i < 12; ++i) clusters.push_back(i % 4 < 2 ? window(100, 75, 75) : window(100, 25, 25));
  const double independent = 12.0 / 11.0 * 12.0 * 2500.0 / 1200.0;  // per step
  const double rho = 0.25 * independent / (independent - 1.0);
  const double inflation = (1.0 + rho) / (1.0 - rho);
  const double correlated = (independent - 1.0) * inflation;
  const double seen =
      (1.0 + correlated) * (1.0 + correlated) / (1.0 / 11.0 + correlated * correlated / (12.0 / inflation - 1.0));
  // The prior from windows of other logs: 1.5, with 4 degrees of freedom.
  const auto variance = cluster_variance(clusters);
  CHECK(variance->degrees == Approx(4.0 + seen).epsilon(few_ulp));
  CHECK(variance->factor == Approx((6.0 + seen * (1.0 + correlated)) / (4.0 + seen)).epsilon(few_ulp));
  for (AcceptanceCluster& one : clusters) one.in_time = false;
  CHECK(cluster_variance(clusters)->factor == Approx(independent).epsilon(few_ulp));
}

TEST_CASE("intervals from a few windows hold their level and stay useful") {
  // Windows of 100 steps whose acceptance of one draft varies: the variance of a window is that of its steps times a
  // factor. The level is 95 %; where the factor exceeds the prior's, the coverage is six points lower.
  struct Case {
    std::size_t windows;
    double factor, least_held, most_useless;
  };
  constexpr int logs = 2000;
  constexpr double steps = 100.0;
  constexpr double share = 0.5;
  for (const Case& of :
       {Case{5, 1.0, 0.95, 0.06}, Case{5, 3.0, 0.90, 0.11}, Case{8, 1.0, 0.95, 0.03}, Case{8, 3.0, 0.89, 0.04}}) {
    std::mt19937_64 random(27);
    std::normal_distribution<double> noise(0.0, std::sqrt(of.factor * steps * share * (1.0 - share)));
    int held = 0;
    int useless = 0;  // five times as wide as the error
    for (int log = 0; log < logs; ++log) {
      std::vector<AcceptanceCluster> clusters;
      for (std::size_t i = 0; i < of.windows; ++i) {
        clusters.push_back({.gamma = 1, .steps = steps, .accepted_at = {steps * share + noise(random)}});
      }
      const auto variance = cluster_variance(clusters);
      const PooledCounts all = pooled_by_gamma(clusters).front();
      const double error = std::sqrt(variance->factor * variance_of_a_step(all) / all.steps);
      const double half = student_quantile(0.95, variance->degrees) * error;
      held += std::abs(all.accepted - share) <= half ? 1 : 0;
      useless += half > 5.0 * 1.96 * std::sqrt(of.factor * share * (1.0 - share) / all.steps) ? 1 : 0;
    }
    INFO(of.windows << " windows, factor " << of.factor << ", held " << held << ", useless " << useless);
    CHECK(held >= of.least_held * logs);
    CHECK(useless < of.most_useless * logs);
  }
}

TEST_CASE("variances of several gammas are averaged by their clusters, with degrees of freedom of the sum") {
  std::vector clusters{request(100, 75, 75), request(100, 25, 25), request(100, 75, 75), request(100, 25, 25)};
  const double first = cluster_variance(clusters)->factor;
  for (const double accepted : {20, 80}) {
    clusters.push_back({.gamma = 1, .steps = 100, .accepted_at = {accepted}, .in_time = false});
  }
  // 2 x 2 x 30^2 over 200 steps of variance 0.25.
  const double second = 2.0 * 2.0 * 900.0 / 200.0 / 0.25;
  const auto variance = cluster_variance(clusters);
  CHECK(variance->factor == Approx((3.0 * first + second) / 4.0).epsilon(few_ulp));
  const double sum = 3.0 * first + second;
  CHECK(variance->degrees == Approx(sum * sum / (3.0 * first * first + second * second)).epsilon(few_ulp));
}

TEST_CASE("impossible counts of a log are rejected") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(check_counts({}), DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{window(0, 0, 0)}), DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{window(nan, 0, 0)}), DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{window(10, 11, 0)}), DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{window(10, 5, nan)}), DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{AcceptanceCluster{.gamma = 2, .steps = 10, .accepted_at = {5}}}),
                  DomainError);
  CHECK_THROWS_AS(check_counts(std::vector{AcceptanceCluster{.gamma = 0, .steps = 10, .accepted_at = {}}}),
                  DomainError);
  const std::vector too_many{AcceptanceCluster{.gamma = 2, .steps = 10, .accepted_at = {}, .accepted_tokens = 21}};
  CHECK_THROWS_AS(check_counts(too_many), DomainError);
  CHECK_NOTHROW(check_counts(std::vector{window(10, 10, 0)}));
}

}  // namespace foredraft::analytic
