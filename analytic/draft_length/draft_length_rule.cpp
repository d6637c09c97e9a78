// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/draft_length_rule.hpp"

#include <algorithm>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "analytic/numerics/exact_comparison.hpp"
#include "analytic/numerics/stable_forms.hpp"

namespace foredraft::analytic {
namespace {

/// -log(alpha) - (1 - alpha) > 0, which the subtraction would lose near alpha = 1.
double log_excess(double alpha) {
  return alpha >= 0.5 ? -boost::math::log1pmx(alpha - 1.0) : -std::log(alpha) - (1.0 - alpha);
}

}  // namespace

double DraftLengthRule::real_tokens() const {
  const double a = stable::negative_log(alpha, 1.0 - alpha);
  // In logarithms, because 1/c overflows for a subnormal c.
  const double log_excess_cost = (convention == Convention::bonus ? std::log1p(-c) : 0.0) - std::log(c);
  return stable::inverse_expm1_minus_x(std::log(a) + log_excess_cost) / a;
}

bool DraftLengthRule::long_enough(std::int64_t n) const {
  const double complement = 1.0 - alpha;
  const auto tokens = static_cast<double>(n);
  // (1 - alpha) H(n) = expm1(a n) - n (1 - alpha), split into two positive parts.
  const double exponent = tokens * stable::negative_log(alpha, complement);
  const double gain = stable::expm1_minus_x(exponent) + tokens * log_excess(alpha);
  const double threshold = complement * (convention == Convention::bonus ? 1.0 - c : 1.0) / c;
  // e^x is right to x * 1.1e-16, and x <= 745 wherever it is finite.
  constexpr double relative_error = 1e-12;
  if (gain > threshold * (1.0 + relative_error)) return true;
  if (gain < threshold * (1.0 - relative_error)) return false;
  return exact::one_more_does_not_pay(alpha, c, n, convention == Convention::bonus ? n - 1 : n);
}

std::int64_t DraftLengthRule::best_tokens() const {
  // The speedup is unimodal in real n, so the best integer is beside the real optimum. n stays below 7e18 because
  // a >= 1.1e-16 and a K < 1e308; far out, a double names n only to a relative 1e-16, hence the bracket.
  const double real = real_tokens();
  constexpr double relative_error = 1e-13;
  auto too_short = static_cast<std::int64_t>(std::max(0.0, std::floor(real * (1.0 - relative_error)) - 1.0));
  auto enough = static_cast<std::int64_t>(std::ceil(real * (1.0 + relative_error))) + 1;
  while (enough - too_short > 1) {
    const std::int64_t middle = too_short + (enough - too_short) / 2;
    (long_enough(middle) ? enough : too_short) = middle;
  }
  return enough;
}

}  // namespace foredraft::analytic
