// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/beta_products.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <complex>

namespace foredraft::analytic {
namespace {

using Complex = std::complex<double>;

Complex complex_log1p(const Complex& w) {
  const double x = w.real();
  const double y = w.imag();
  return {0.5 * std::log1p(2.0 * x + x * x + y * y), std::atan2(y, 1.0 + x)};
}

/// log Gamma(p + z) - log Gamma(p), up to multiples of 2 pi i, for arguments off the negative axis.
Complex log_gamma_ratio(Complex p, const Complex& z) {
  constexpr double far = 16.0;
  Complex below = 1.0;
  for (; std::abs(p) < far || std::abs(p + z) < far; p += 1.0) below *= 1.0 + z / p;
  // Stirling's series. The large terms of both sides are subtracted before they are added.
  const auto correction = [](const Complex& u) {
    const Complex inverse = 1.0 / u;
    const Complex square = inverse * inverse;
    return inverse *
           (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
  };
  const Complex q = p + z;
  return (p - 0.5) * complex_log1p(z / p) + z * std::log(q) - z + correction(q) - correction(p) - std::log(below);
}

/// The Laplace transform E[e^(-zY)] = E[B^z] of Y = -log B, and the inversion that gives the distribution of a sum.
class LogBeta {
 public:
  LogBeta(double a, double b) : a_(a), b_(b), full_(log_gamma_ratio(a, b)) {}

  /// P(Y_1 + ... + Y_k <= budget): the integral of e^K / (2 pi i), K = z budget + k log E[e^(-zY)] - log z, over a
  /// curve through the saddle point of K along which the integrand does not oscillate. The curve is a hyperbola with
  /// the curvature of steepest descent at the saddle point. Its real part decreases more slowly than its imaginary part
  /// grows, so that sums with a small spread stay bounded.
  [[nodiscard]] double sum_at_most(double budget, double k) const {
    const double saddle = saddle_point(budget, k);
    const double second =
        k * (boost::math::trigamma(a_ + saddle) - boost::math::trigamma(a_ + b_ + saddle)) + 1.0 / (saddle * saddle);
    const double third = k * (boost::math::polygamma(2, a_ + saddle) - boost::math::polygamma(2, a_ + b_ + saddle)) -
                         2.0 / (saddle * saddle * saddle);
    constexpr double slope = 0.8;
    constexpr double step_in_deviations = 0.25;
    constexpr int max_terms = 10'000;
    constexpr double negligible = 1e-17;
    const double curvature = -third / (6.0 * second);
    const double step = step_in_deviations / std::sqrt(second);
    const auto exponent = [&](const Complex& z) { return z * budget + k * log_transform(z) - std::log(z); };
    const double peak = exponent(saddle).real();
    double sum = 0.5;
    int small = 0;
    for (int n = 1; n < max_terms && small < 3; ++n) {
      const double y = n * step;
      const double bend = std::hypot(1.0, 2.0 * curvature * y / slope);
      const Complex z(saddle - slope * slope / (2.0 * curvature) * (bend - 1.0), y);
      const Complex term = std::exp(exponent(z) - peak) * Complex(1.0, 2.0 * curvature * y / bend);
      sum += term.real();
      small = std::abs(term) < negligible * std::abs(sum) ? small + 1 : 0;
    }
    return std::exp(peak) * step / boost::math::constants::pi<double>() * sum;
  }

 private:
  /// Uses the form with less cancellation of large terms.
  [[nodiscard]] Complex log_transform(const Complex& z) const {
    if (std::abs(z) > b_) return full_ - log_gamma_ratio(a_ + z, b_);
    return log_gamma_ratio(a_, z) - log_gamma_ratio(a_ + b_, z);
  }

  /// The z > 0 with K'(z) = 0; K' increases.
  [[nodiscard]] double saddle_point(double budget, double k) const {
    double low = -100.0;  // log z
    double high = 100.0;
    constexpr int halvings = 40;
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (low + high);
      const double z = std::exp(middle);
      const double change = boost::math::digamma(a_ + z) - boost::math::digamma(a_ + b_ + z);
      (budget + k * change - 1.0 / z < 0.0 ? low : high) = middle;
    }
    return std::exp(0.5 * (low + high));
  }

  double a_;
  double b_;
  Complex full_;  ///< log Gamma(a + b) - log Gamma(a)
};

}  // namespace

std::vector<double> product_survival(double a, double b, double budget, std::int64_t count) {
  std::vector<double> survival(static_cast<std::size_t>(count) + 1, 0.0);
  if (budget < 0.0) return survival;
  survival.front() = 1.0;
  if (budget == 0.0) return survival;
  if (std::isinf(budget)) return std::vector<double>(survival.size(), 1.0);
  const LogBeta logs(a, b);
  constexpr double none = 1e-20;
  for (std::size_t k = 1; k < survival.size(); ++k) {
    survival[k] = std::min(survival[k - 1], logs.sum_at_most(budget, static_cast<double>(k)));
    if (survival[k] < none) {
      survival[k] = 0.0;
      break;
    }
  }
  return survival;
}

}  // namespace foredraft::analytic
