// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/iteration_cost.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "analytic/tokens/token_count.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

double tokens(double alpha, std::int64_t gamma) { return tokens_per_iteration({alpha, gamma, Convention::bonus}); }

/// Whether a number is printed as `printed` with two decimals.
bool rounds_to(double value, double printed) { return value >= printed - 0.005 && value <= printed + 0.005; }

}  // namespace

TEST_CASE("a block drafter is charged once, an autoregressive one per draft, and no draft costs nothing") {
  CHECK(iteration_cost(4, 0.25, Drafting::autoregressive) == 2.0);
  CHECK(iteration_cost(4, 0.25, Drafting::block) == 1.25);
  CHECK(iteration_cost(0, 0.25, Drafting::block) == 1.0);
  CHECK(iteration_cost(0, 0.25, Drafting::autoregressive) == 1.0);
  CHECK(iteration_cost(1'000'000, 1e-300, Drafting::autoregressive) == 1.0);
  CHECK(iteration_cost(3, 2.0, Drafting::autoregressive) == 7.0);
}

TEST_CASE("the speedup is tokens over cost: 2.951424 at alpha 0.8, gamma 5, c 0.05") {
  CHECK(speedup(tokens(0.8, 5), 5, 0.05, Drafting::autoregressive) == Approx(2.951424).epsilon(few_ulp));
  CHECK(speedup(tokens(0.8, 5), 5, 0.05, Drafting::block) == Approx(3.68928 / 1.05).epsilon(few_ulp));
  CHECK(speedup(1.0, 0, 0.3, Drafting::autoregressive) == 1.0);
}

TEST_CASE("operations count gamma drafts and every verified position of the convention") {
  CHECK(operations_factor(tokens(0.8, 5), 5, 0.05, Convention::bonus) == Approx(1.694097493277821).epsilon(few_ulp));
  CHECK(operations_factor(2.0, 4, 0.5, Convention::bonus) == 3.5);
  CHECK(operations_factor(2.0, 4, 0.5, Convention::no_bonus) == 3.0);
  CHECK(operations_factor(1.0, 0, 0.5, Convention::bonus) == 1.0);
  // Limits: gamma c + gamma + 1 at alpha 0, 1 + gamma c / (gamma + 1) at alpha 1.
  CHECK(operations_factor(tokens(0.0, 6), 6, 0.1, Convention::bonus) == Approx(7.6).epsilon(few_ulp));
  CHECK(operations_factor(tokens(1.0, 6), 6, 0.1, Convention::bonus) == Approx(7.6 / 7.0).epsilon(few_ulp));
}

TEST_CASE("target memory is read once an iteration") {
  CHECK(memory_access_factor(4.0) == 0.25);
  CHECK(memory_access_factor(tokens(0.8, 5)) == Approx(0.2710555989244514).epsilon(few_ulp));
}

TEST_CASE("Table 1 of Leviathan et al.: both columns of all six rows, to the printed rounding") {
  struct Row {
    double alpha;
    std::int64_t gamma;
    double operations;
    double speed;
  };
  const Row row = GENERATE(Row{0.6, 2, 1.53, 1.96}, Row{0.7, 3, 1.58, 2.53}, Row{0.8, 2, 1.23, 2.44},
                           Row{0.8, 5, 1.63, 3.69}, Row{0.9, 2, 1.11, 2.71}, Row{0.9, 10, 1.60, 6.86});
  CAPTURE(row.alpha, row.gamma);
  const double mean = tokens(row.alpha, row.gamma);
  CHECK(rounds_to(operations_factor(mean, static_cast<double>(row.gamma), 0.0, Convention::bonus), row.operations));
  CHECK(rounds_to(speedup(mean, row.gamma, 0.0, Drafting::autoregressive), row.speed));
}

TEST_CASE("operations times speedup is gamma + 1 when drafting costs nothing") {
  for (const double alpha : {0.0, 0.3, 0.8, 1.0}) {
    for (const std::int64_t gamma : {0, 1, 5, 1000}) {
      const double mean = tokens(alpha, gamma);
      CHECK(operations_factor(mean, static_cast<double>(gamma), 0.0, Convention::bonus) *
                speedup(mean, gamma, 0.0, Drafting::autoregressive) ==
            Approx(static_cast<double>(gamma + 1)).epsilon(few_ulp));
    }
  }
}

TEST_CASE("the speedup stays below tokens, 1/c and 1/(1 - alpha)") {
  for (int i = 0; i < 20; ++i) {
    for (const double c : {0.05, 0.3, 1.0, 2.0}) {
      for (const std::int64_t gamma : {1, 4, 50}) {
        const double alpha = i / 20.0;
        const double mean = tokens(alpha, gamma);
        const double value = speedup(mean, gamma, c, Drafting::autoregressive);
        CHECK(value <= mean);
        CHECK((value <= 1.0 / c || c > 1.0));
        CHECK(value <= 1.0 / (1.0 - alpha));
        if (c >= alpha) CHECK(value <= 1.0 + few_ulp);
      }
    }
  }
}

TEST_CASE("costs reject negative, infinite and missing numbers") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(iteration_cost(-1, 0.1, Drafting::autoregressive), "invalid gamma=-1 (must be at least 0)");
  CHECK_THROWS_WITH(iteration_cost(1, nan, Drafting::autoregressive),
                    "invalid c=nan (must be finite and not negative)");
  CHECK_THROWS_WITH(iteration_cost(1, -0.5, Drafting::block), "invalid c=-0.5 (must be finite and not negative)");
  CHECK_THROWS_WITH(speedup(0.0, 1, 0.1, Drafting::block),
                    "invalid tokens_per_iteration=0 (must be finite and above 0)");
}

}  // namespace foredraft::analytic
