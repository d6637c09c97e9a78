// SPDX-License-Identifier: Apache-2.0
#include "analytic/numerics/stable_forms.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>

namespace foredraft::analytic::stable {
namespace {

/// sum_{j>=1} z^(2j-2) (1 - m^(-2j)) / (2j+1)!: z^3 times it is sinh(z) - m sinh(z/m). For z <= 2 twelve terms suffice.
double sinh_excess_series(double z, double m) {
  constexpr int terms = 12;
  const double z2 = z * z;
  const double inverse_m2 = 1.0 / (m * m);
  double coefficient = 1.0 / 6.0;
  double m_power = inverse_m2;
  double sum = 0.0;
  for (int j = 1; j <= terms; ++j) {
    sum += coefficient * (1.0 - m_power);
    coefficient *= z2 / static_cast<double>((2 * j + 2) * (2 * j + 3));
    m_power *= inverse_m2;
  }
  return sum;
}

}  // namespace

double negative_log(double alpha, double complement) {
  return complement <= 0.5 ? -std::log1p(-complement) : -std::log(alpha);
}

double geometric_sum(double alpha, double complement, std::int64_t n) {
  // Up to here Horner's scheme is as fast as the closed form; its terms are positive, so it is accurate.
  constexpr std::int64_t horner_limit = 16;
  if (n <= horner_limit) {
    double sum = 0.0;
    for (std::int64_t j = 0; j < n; ++j) sum = 1.0 + alpha * sum;
    return sum;
  }
  const auto terms = static_cast<double>(n);
  if (complement == 0.0) return terms;
  const double sum = -std::expm1(-terms * negative_log(alpha, complement)) / complement;
  return std::clamp(sum, 1.0, terms);
}

double truncated_geometric_variance(double alpha, double complement, std::int64_t n) {
  if (n <= 1 || alpha == 0.0 || complement == 0.0) return 0.0;
  const double m = 2.0 * static_cast<double>(n) - 1.0;
  const double a = negative_log(alpha, complement);
  const double z = 0.5 * m * a;
  // Below this limit the two sinh terms cancel; above it the relative error grows at most by a factor of 2.5.
  constexpr double series_limit = 2.0;
  if (z < series_limit) {
    const double scaled = 0.5 * m * (a / complement);
    return 2.0 * std::exp(-z) * alpha * scaled * scaled * z * sinh_excess_series(z, m);
  }
  const double bracket = -std::expm1(-2.0 * z) - m * std::exp(-z) * complement / std::sqrt(alpha);
  return alpha * bracket / (complement * complement);
}

double expm1_minus_x(double x) {
  if (x > 1.0) return std::expm1(x) - x;
  // x^2/2 (1 + x/3 (1 + x/4 (...))): for x <= 1 the first neglected term is below 1e-17 of the sum.
  constexpr int last_power = 18;
  double sum = 1.0;
  for (int k = last_power; k >= 3; --k) sum = 1.0 + x / static_cast<double>(k) * sum;
  return 0.5 * x * x * sum;
}

double inverse_expm1_minus_x(double log_k) {
  // Above this limit 1 + x is negligible compared with e^x, which may overflow.
  constexpr double asymptotic_limit = 700.0;
  if (log_k > asymptotic_limit) return log_k;
  const double k = std::exp(log_k);
  constexpr int max_steps = 20;  // Newton's method needs 5; the bound prevents a cycle in the last bit
  if (k > 1.0) {
    // x = log1p(k + x), which stays finite and well conditioned where e^x is huge.
    double x = std::log1p(k + std::log1p(k));
    for (int i = 0; i < max_steps; ++i) {
      const double step = (x - std::log1p(k + x)) / (1.0 - 1.0 / (1.0 + k + x));
      x -= step;
      if (std::abs(step) <= 1e-14 * x) break;
    }
    return x;
  }
  const double s = std::exp(0.5 * (log_k + std::log(2.0)));
  if (s < 1e-100) return s;  // k may have underflowed, and x = s - s^2/6 + ... is s
  double x = s * (1.0 - s * (1.0 / 6.0 - s / 36.0));
  for (int i = 0; i < max_steps; ++i) {
    const double step = (expm1_minus_x(x) - k) / std::expm1(x);
    x -= step;
    if (std::abs(step) <= 1e-14 * x) break;
  }
  return x;
}

double alpha_of_geometric_total(double total, std::int64_t m) {
  FOREDRAFT_EXPECT(m >= 1 && total >= 0.0 && total <= static_cast<double>(m));
  if (total == static_cast<double>(m)) return 1.0;
  if (m == 1) return total;
  const auto excess = [&](double alpha) { return alpha * geometric_sum(alpha, 1.0 - alpha, m) - total; };
  // alpha <= sum <= alpha / (1 - alpha) brackets the root.
  const double low = total / (1.0 + total);
  const double high = std::min(total, 1.0);
  const double at_low = excess(low);
  const double at_high = excess(high);
  if (at_low >= 0.0) return low;
  if (at_high <= 0.0) return high;
  std::uintmax_t evaluations = 200;
  const auto [left, right] = boost::math::tools::toms748_solve(
      excess, low, high, at_low, at_high,
      [](double a, double b) { return b - a <= 2.0 * std::numeric_limits<double>::epsilon() * b; }, evaluations);
  return left + 0.5 * (right - left);
}

}  // namespace foredraft::analytic::stable

namespace foredraft::analytic::exact {
namespace {

// 400 digits: at alpha = 1/2 and c a power of two the two sides of the rule differ by a relative c >= 5e-324; near
// alpha = c = 1 they cancel to 32 digits; every true tie of doubles is represented exactly.
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

/// (1 - alpha) sum_{j<n} alpha^j; n itself for alpha = 1, where both sides of a comparison omit the factor.
Real scaled_tokens(double alpha, std::int64_t n) { return alpha == 1.0 ? Real(n) : 1 - power(alpha, n); }

}  // namespace

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
