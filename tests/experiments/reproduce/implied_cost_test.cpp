// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/iid_answers.hpp"

#include <catch2/catch.hpp>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

ImpliedCost implied(const char* alpha, std::int64_t gamma, const char* speed) {
  return implied_cost(parse_printed_number(alpha), gamma, parse_printed_number(speed));
}

double speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(
      analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus}), gamma, c,
      Drafting::autoregressive);
}

}  // namespace

TEST_CASE("the implied cost gives the printed speedup back, and its interval the ends of the rounding box") {
  const ImpliedCost cost = implied("0.75", 7, "3.4");
  CHECK(speedup(0.75, 7, cost.c) == Approx(3.4).epsilon(tests::second_route));
  CHECK(speedup(0.745, 7, cost.c_interval.low) == Approx(3.45).epsilon(tests::second_route));
  CHECK(speedup(0.755, 7, cost.c_interval.high) == Approx(3.35).epsilon(tests::second_route));
}

TEST_CASE("a speedup above what any acceptance process allows implies a negative cost and no optimum") {
  const ImpliedCost cost = implied("0.65", 5, "3.1");
  CHECK(cost.c_interval.high < 0.0);
  CHECK_FALSE(cost.best_gamma);
  CHECK_FALSE(cost.best_speedup);
  CHECK(cost.iid_bound < cost.process_bound);
  CHECK(cost.process_bound < 3.05);
}

TEST_CASE("the optimum at the implied cost is at least as good as the printed choice") {
  const ImpliedCost cost = implied("0.82", 7, "1.7");
  REQUIRE(cost.best_gamma);
  CHECK(*cost.best_speedup >= 1.7);
  CHECK(*cost.best_speedup == Approx(speedup(0.82, *cost.best_gamma, cost.c)).epsilon(tests::second_route));
}

}  // namespace foredraft::experiments
