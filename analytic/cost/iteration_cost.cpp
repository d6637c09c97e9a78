// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/iteration_cost.hpp"

#include "analytic/numerics/gamma_range.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double iteration_cost(std::int64_t gamma, double c, Drafting drafting) {
  check_at_least("gamma", gamma, 0);
  check_nonnegative("c", c);
  return 1.0 + static_cast<double>(draft_passes(gamma, drafting)) * c;
}

double speedup(double tokens_per_iteration, std::int64_t gamma, double c, Drafting drafting) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  return tokens_per_iteration / iteration_cost(gamma, c, drafting);
}

double speedup(double tokens_per_iteration, double draft_passes, const DecodingCost& cost) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_nonnegative("draft_passes", draft_passes);
  check_cost(cost);
  return tokens_per_iteration / (cost.iteration + draft_passes * cost.draft_pass);
}

double implied_cost(double tokens_per_iteration, double speedup, double steps) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_positive("speedup", speedup);
  check_positive("steps", steps);
  return tokens_per_iteration / speedup - steps;
}

double sequence_speedup(double length, double iterations, double draft_passes, const DecodingCost& cost) {
  check_positive("length", length);
  check_positive("iterations", iterations);
  check_nonnegative("draft_passes", draft_passes);
  check_cost(cost);
  return (length + cost.plain_sequence) /
         (cost.sequence + iterations * (cost.iteration + draft_passes * cost.draft_pass));
}

double operations_factor(double tokens_per_iteration, std::int64_t gamma, double operations_ratio,
                         Convention convention) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_gamma(gamma, convention);
  check_nonnegative("operations_ratio", operations_ratio);
  const auto verified = static_cast<double>(max_tokens(gamma, convention));
  return (static_cast<double>(gamma) * operations_ratio + verified) / tokens_per_iteration;
}

double memory_access_factor(double tokens_per_iteration) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  return 1.0 / tokens_per_iteration;
}

}  // namespace foredraft::analytic
