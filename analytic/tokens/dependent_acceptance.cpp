// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/dependent_acceptance.hpp"

#include <algorithm>
#include <cmath>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check(const MarkovAcceptance& chain) {
  check_probability("a", chain.a);
  check_probability("b", chain.b);
}

}  // namespace

double stationary_alpha(const MarkovAcceptance& chain) {
  check(chain);
  return chain.b / ((1.0 - chain.a) + chain.b);
}

double tokens_per_iteration(const MarkovAcceptance& chain, std::int64_t gamma, Convention convention) {
  check(chain);
  check_gamma(gamma, convention);
  const auto [a, b] = chain;
  const std::int64_t n = max_tokens(gamma, convention);
  // Numerator and denominator times 1 - a, so that a = 1 needs no limit; (1 - a^n)/(1 - a) is a geometric sum.
  const double complement = 1.0 - a;
  const double full_iterations = b * std::pow(a, static_cast<double>(n - 1)) / stable::geometric_sum(a, complement, n);
  return (complement + b) / (complement + full_iterations);
}

TokenBounds any_process_bounds(double alpha, std::int64_t gamma, Convention convention) {
  check_probability("alpha", alpha);
  check_gamma(gamma, convention);
  const auto n = static_cast<double>(max_tokens(gamma, convention));
  const double complement = 1.0 - alpha;
  return {.low = 1.0 / (complement + alpha / n), .high = std::min(n, 1.0 / complement)};
}

}  // namespace foredraft::analytic
