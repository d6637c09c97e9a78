// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/iid_tokens.hpp"

#include <algorithm>
#include <cmath>

#include "analytic/numerics/exact_comparison.hpp"
#include "analytic/numerics/gamma_range.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check(const IidIteration& iteration) {
  check_probability("alpha", iteration.alpha);
  check_gamma(iteration.gamma, iteration.convention);
}

/// sum_{j<n} r^j and r^n of the ratio r = alpha * x >= 0, which may exceed 1.
struct GeometricSeries {
  double sum;
  double power;
};

GeometricSeries geometric_series(double alpha, double x, std::int64_t n) {
  if (n == 0) return {0.0, 1.0};
  const auto terms = static_cast<double>(n);
  const double r = alpha * x;
  // The product rounded to a double would lose the distance of r from 1; one fused operation keeps it.
  const double distance = std::fma(alpha, x, -1.0);
  if (std::abs(distance) > 0.5) {
    const double power = std::pow(r, terms);
    return {(power - 1.0) / distance, power};
  }
  if (distance == 0.0) return {terms, 1.0};
  const double exponent = terms * std::log1p(distance);
  return {std::expm1(exponent) / distance, std::exp(exponent)};
}

}  // namespace

double tokens_per_iteration(const IidIteration& iteration) {
  check(iteration);
  const double alpha = iteration.alpha;
  return stable::geometric_sum(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_variance(const IidIteration& iteration) {
  check(iteration);
  const double alpha = iteration.alpha;
  return stable::truncated_geometric_variance(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_probability(const IidIteration& iteration, std::int64_t tokens) {
  check(iteration);
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (tokens < 1 || tokens > n) return 0.0;
  const double reached = std::pow(iteration.alpha, static_cast<double>(tokens - 1));
  return tokens == n ? reached : (1.0 - iteration.alpha) * reached;
}

double tokens_at_least(const IidIteration& iteration, std::int64_t tokens) {
  check(iteration);
  if (tokens <= 1) return 1.0;
  if (tokens > max_tokens(iteration.gamma, iteration.convention)) return 0.0;
  return std::pow(iteration.alpha, static_cast<double>(tokens - 1));
}

std::int64_t tokens_quantile(const IidIteration& iteration, double level) {
  check(iteration);
  check_probability("level", level);
  const double alpha = iteration.alpha;
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (alpha == 0.0 || level == 0.0) return 1;
  if (alpha == 1.0 || level == 1.0) return n;
  // P(X <= k) = 1 - alpha^k for k < n: the smallest k with alpha^k <= 1 - level. Doubles give k to a relative 1e-14;
  // between those limits, exact comparison decides.
  const double estimate = std::log1p(-level) / std::log(alpha);
  constexpr double relative_error = 1e-14;
  const double lower = std::floor(estimate * (1.0 - relative_error));
  if (lower + 1.0 >= static_cast<double>(n)) return n;
  auto below = static_cast<std::int64_t>(std::max(lower, 0.0));
  auto reached = std::max(below + 1, static_cast<std::int64_t>(std::ceil(estimate * (1.0 + relative_error))));
  while (reached - below > 1) {
    const std::int64_t middle = below + (reached - below) / 2;
    (exact::power_at_most(alpha, middle, level) ? reached : below) = middle;
  }
  return std::min(reached, n);
}

double all_accepted_probability(const IidIteration& iteration) {
  check(iteration);
  return std::pow(iteration.alpha, static_cast<double>(iteration.gamma));
}

double tokens_generating_function(const IidIteration& iteration, double x) {
  check(iteration);
  check_nonnegative("x", x);
  const double alpha = iteration.alpha;
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (alpha == 1.0) return std::pow(x, static_cast<double>(n));
  // sum_k P(X = k) x^k term by term: all positive, where 1 + (x - 1) (...) would cancel for x < 1.
  const GeometricSeries series = geometric_series(alpha, x, n - 1);
  return x * ((1.0 - alpha) * series.sum + series.power);
}

}  // namespace foredraft::analytic
