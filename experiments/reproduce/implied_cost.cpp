// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/implied_cost.hpp"

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"

namespace foredraft::experiments {
namespace {

double tokens(double alpha, std::int64_t gamma) {
  return analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
}

double solve_c(double alpha, std::int64_t gamma, double speedup) {
  return analytic::implied_cost(tokens(alpha, gamma), speedup, 1.0) / static_cast<double>(gamma);
}

}  // namespace

ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup) {
  check_at_least("gamma", gamma, 1);
  ImpliedCost implied{
      .c = solve_c(alpha.value, gamma, speedup.value),
      // Tokens rise with alpha and c falls with the speedup, so the ends of the box are the ends of the interval.
      .c_interval = {solve_c(alpha.rounding.low, gamma, speedup.rounding.high),
                     solve_c(alpha.rounding.high, gamma, speedup.rounding.low)},
      .iid_bound = tokens(alpha.rounding.high, gamma),
      .process_bound = analytic::any_process_bounds(alpha.rounding.high, gamma, Convention::bonus).high,
      .best_gamma = std::nullopt,
      .best_speedup = std::nullopt};
  if (implied.c > 0.0) {
    const analytic::BestGamma best = analytic::best_gamma(
        {.alpha = alpha.value, .c = implied.c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
    implied.best_gamma = best.gamma;
    implied.best_speedup = best.speedup;
  }
  return implied;
}

}  // namespace foredraft::experiments
