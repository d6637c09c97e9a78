// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/speedup_fit.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::few_ulp;
using tests::second_route;

/// True if some y lies in all strips at x: the definition, one x at a time.
bool feasible_at(const std::vector<Strip>& strips, double x, double slack) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (const Strip& strip : strips) {
    low = std::max(low, strip.low.intercept + strip.low.slope * x);
    high = std::min(high, strip.high.intercept + strip.high.slope * x);
  }
  return low <= high + slack;
}

}  // namespace

TEST_CASE("two crossing strips leave the x between their crossings") {
  // 0 <= y <= 1 and x - 1 <= y <= x: some y from x = 0 to x = 2.
  const std::vector<Strip> strips{{{0.0, 0.0}, {1.0, 0.0}}, {{-1.0, 1.0}, {0.0, 1.0}}};
  const auto x = feasible_x(strips, {-10.0, 10.0});
  REQUIRE(x);
  CHECK(x->low == 0.0);
  CHECK(x->high == 2.0);
  CHECK(feasible_x(strips, {1.5, 10.0})->low == 1.5);
  CHECK_FALSE(feasible_x(strips, {2.5, 10.0}));
}

TEST_CASE("parallel strips that do not meet leave nothing, one strip leaves everything") {
  const Strip lower{{0.0, 1.0}, {1.0, 1.0}};
  const Strip upper{{2.0, 1.0}, {3.0, 1.0}};
  CHECK_FALSE(feasible_x(std::vector<Strip>{lower, upper}, {-1.0, 1.0}));
  const auto all = feasible_x(std::vector<Strip>{lower}, {-1.0, 1.0});
  REQUIRE(all);
  CHECK(all->low == -1.0);
  CHECK(all->high == 1.0);
}

TEST_CASE("the feasible x are those of a scan of random strips") {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases every time
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int some = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Strip> strips;
    for (int i = 0; i < 4; ++i) {
      const double intercept = uniform(random);
      const double slope = uniform(random);
      strips.push_back({{intercept, slope}, {intercept + 1.0 + uniform(random), slope + 0.1 * uniform(random)}});
    }
    const auto x = feasible_x(strips, {-3.0, 3.0});
    some += x ? 1 : 0;
    for (int i = 0; i <= 60; ++i) {
      const double at = -3.0 + 0.1 * i;
      const bool inside = x && x->low + second_route <= at && at <= x->high - second_route;
      const bool outside = !x || at < x->low - second_route || at > x->high + second_route;
      if (inside) CHECK(feasible_at(strips, at, few_ulp));
      if (outside) CHECK_FALSE(feasible_at(strips, at, -few_ulp));
    }
  }
  CHECK(some > 100);
  CHECK(some < 300);
}

TEST_CASE("feasibility rejects an empty set of strips and coefficients that are not finite") {
  CHECK_THROWS_AS(feasible_x({}, {0.0, 1.0}), DomainError);
  const std::vector<Strip> bad{{{0.0, std::numeric_limits<double>::quiet_NaN()}, {1.0, 0.0}}};
  CHECK_THROWS_AS(feasible_x(bad, {0.0, 1.0}), DomainError);
}

}  // namespace foredraft::experiments
