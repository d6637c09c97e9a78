// SPDX-License-Identifier: Apache-2.0
#include "analytic/numerics/exact_comparison.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace foredraft::analytic::exact {
namespace {

// 400 digits: at alpha = 1/2 and c a power of two the two sides of the rule differ by a relative c >= 5e-324; near
// alpha = c = 1 they cancel to 32 digits; and every true tie of doubles is held exactly.
using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400>, boost::multiprecision::et_off>;

Real power(double base, std::int64_t exponent) {
  Real result = 1;
  Real square = base;
  for (std::int64_t rest = exponent; rest > 0; rest /= 2) {
    if (rest % 2 != 0) result *= square;
    square *= square;
  }
  return result;
}

/// (1 - alpha) sum_{j<n} alpha^j; n itself for alpha = 1, where the factor is left out on both sides of a comparison.
Real scaled_tokens(double alpha, std::int64_t n) { return alpha == 1.0 ? Real(n) : 1 - power(alpha, n); }

}  // namespace

bool power_at_most(double alpha, std::int64_t k, double level) { return power(alpha, k) <= 1 - Real(level); }

bool one_more_does_not_pay(double alpha, double c, std::int64_t n, std::int64_t gamma) {
  const Real survival = power(alpha, n);
  return survival * (1 + gamma * Real(c)) * (1 - Real(alpha)) <= c * (1 - survival);
}

bool block_limit_pays(double alpha, double c) { return c * (1 - Real(alpha)) < alpha; }

bool within_fraction(double alpha, double c, const Iteration& candidate, const Iteration& best, double fraction) {
  const Real candidate_value = scaled_tokens(alpha, candidate.n) * (1 + best.passes * Real(c));
  const Real best_value = scaled_tokens(alpha, best.n) * (1 + candidate.passes * Real(c));
  return candidate_value >= (1 - Real(fraction)) * best_value;
}

}  // namespace foredraft::analytic::exact
