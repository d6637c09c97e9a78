// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/dependent_acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check(const Markov& chain) {
  check_probability("a", chain.a);
  check_probability("b", chain.b);
}

}  // namespace

double tokens_per_iteration(const Markov& chain, std::int64_t gamma, Convention convention) {
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

namespace {

/// One side of the split alpha = s. The variable x runs from 0 to `split`, and 1 - x from 1 to `rest` = 1 - split.
/// `power` and `rest_power` are the Beta parameters of x and of 1 - x.
struct Side {
  double split;
  double rest;
  double power;
  double rest_power;
  bool split_at_mode;
};

/// A point of a side and the density there, relative to the density at the split.
struct Node {
  double x;
  double one_minus_x;
  double weight;
};

/// The node at the fraction r of the side, 1 - r = rc. Below power 1 the density is singular at x = 0; x = split
/// r^(1/power) absorbs the singularity into the variable, and the Jacobian 1/power is left to the caller.
Node node(const Side& side, double r, double rc) {
  double log_ratio = rc < 0.5 ? std::log1p(-rc) : std::log(r);  // of x to the split
  double ratio = r;
  double shortfall = rc;
  if (side.power < 1.0) {
    log_ratio /= side.power;
    ratio = std::exp(log_ratio);
    shortfall = -std::expm1(log_ratio);
  }
  const double x = side.split * ratio;
  const double one_minus_x = side.rest + side.split * shortfall;
  const double excess = side.split * shortfall / side.rest;  // 1 - x is rest * (1 + excess)
  double log_weight = 0.0;
  if (side.split_at_mode) {
    // At the mode the linear terms of the two logarithms cancel; omitting them preserves the digits of a sharp peak.
    log_weight = (side.power - 1.0) * (rc < 0.5 ? boost::math::log1pmx(-rc) : log_ratio + shortfall) +
                 (side.rest_power - 1.0) * boost::math::log1pmx(excess);
  } else {
    log_weight = (side.rest_power - 1.0) * std::log1p(excess);
    if (side.power > 1.0) log_weight += (side.power - 1.0) * log_ratio;
  }
  return {x, one_minus_x, std::exp(log_weight)};
}

/// Integrals of the density, and of the density times f, relative to the density at the split.
struct Integrals {
  double mass = 0.0;
  double moment = 0.0;
};

/// Contribution of the nodes at +-t of the double-exponential rule r = 1 / (1 + exp(pi sinh t)).
template <class Function>
Integrals nodes_at(const Side& side, double t, const Function& f) {
  constexpr double pi = 3.14159265358979323846;
  const double decay = std::exp(-pi * std::sinh(t));
  const double near = decay / (1.0 + decay);  // distance to the nearer end
  const double far = 1.0 / (1.0 + decay);
  const double step = pi * std::cosh(t) * near * far * side.split / std::min(side.power, 1.0);
  Integrals sum;
  const auto add = [&](const Node& at) {
    const double weight = step * at.weight;
    if (weight == 0.0) return;
    sum.mass += weight;
    sum.moment += weight * f(at.x, at.one_minus_x);
  };
  add(node(side, near, far));
  if (t > 0.0) add(node(side, far, near));
  return sum;
}

/// E[f(alpha, 1 - alpha)] for alpha ~ Beta(a, b), by double-exponential quadrature on both sides of the mode. Accurate
/// to about 1e-13 for positive f that are smooth on a logarithmic scale of alpha and of 1 - alpha, up to a, b of about
/// 1e12. f receives 1 - alpha with full precision, as alpha itself may round to 1.
template <class Function>
double beta_expectation(double a, double b, const Function& f) {
  // Split at an interior mode if there is one, else at the mean, the scale of the decay from the end with the mode.
  const bool has_mode = a > 1.0 && b > 1.0;
  const double left = has_mode ? (a - 1.0) / ((a - 1.0) + (b - 1.0)) : a / (a + b);
  const double right = has_mode ? (b - 1.0) / ((a - 1.0) + (b - 1.0)) : b / (a + b);
  const Side low{left, right, a, b, has_mode};
  const Side high{right, left, b, a, has_mode};
  const auto mirrored = [&](double one_minus_alpha, double alpha) { return f(alpha, one_minus_alpha); };
  // Halve the step until two halvings in a row change nothing. (Boost.Math's integrator also stops if its error
  // estimate has risen twice, which the plateau of a heavy tail causes 0.2 % away from the value.)
  constexpr double last_t = 6.1;  // where the distance to the end underflows
  constexpr double tolerance = 1e-13;
  constexpr int finest_level = 14;
  CompensatedSum mass;
  CompensatedSum moment;
  double estimate = 0.0;
  int settled = 0;
  for (int level = 2; level <= finest_level && settled < 2; ++level) {
    const double step = std::ldexp(1.0, -level);
    for (int i = level == 2 ? 0 : 1; i * step < last_t; i += level == 2 ? 1 : 2) {
      const Integrals below = nodes_at(low, i * step, f);
      const Integrals above = nodes_at(high, i * step, mirrored);
      mass.add(below.mass + above.mass);
      moment.add(below.moment + above.moment);
    }
    const double refined = moment.value() / mass.value();
    settled = std::abs(refined - estimate) <= tolerance * std::abs(refined) ? settled + 1 : 0;
    estimate = refined;
  }
  return estimate;
}

// E[alpha^k] is a product of k positive factors below one: no cancellation for any a and b, unlike a difference of
// log-gamma functions. Beyond this length the quadrature over alpha is faster and more accurate.
constexpr std::int64_t longest_product = 4096;
constexpr std::int64_t longest_mixture = 1'000'000;

/// Beyond these limits, numerically one or two points, the quadrature's weights exceed the range of a double.
void check_parameter(std::string_view name, double value) {
  check_positive(name, value);
  if (!(value >= 1e-100 && value <= 1e100)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in [1e-100, 1e+100])", name, value));
  }
}

void check(const BetaMixture& mixture) {
  check_parameter("a", mixture.a);
  check_parameter("b", mixture.b);
}

void check(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  check(mixture);
  check_gamma(gamma, convention);
}

/// E[alpha | the first j drafts were accepted].
double next_acceptance(const BetaMixture& mixture, double j) { return (mixture.a + j) / (mixture.a + mixture.b + j); }

/// sum_{j=first}^{last-1} log1p(b / (a + j)) by Euler-Maclaurin at midpoints, for first >= longest_product: the
/// integral without the parts that cancel (z log1p(b/z) = b + z log1pmx(b/z)), and one correction.
double log_product_tail(const BetaMixture& mixture, double first, double last) {
  const double b = mixture.b;
  const double z = mixture.a + first - 0.5;
  const double end = mixture.a + last - 0.5;
  const double integral =
      end * boost::math::log1pmx(b / end) - z * boost::math::log1pmx(b / z) + b * std::log1p((last - first) / (z + b));
  const double slope_difference = b / (z * (z + b)) - b / (end * (end + b));
  return integral - slope_difference / 24.0;
}

}  // namespace

double accepted_at_least(const BetaMixture& mixture, std::int64_t k) {
  check(mixture);
  check_range("k", k, 0, largest_gamma);
  double product = 1.0;
  const std::int64_t factors = std::min(k, longest_product);
  for (std::int64_t j = 0; j < factors; ++j) product *= next_acceptance(mixture, static_cast<double>(j));
  if (k > factors) {
    product *= std::exp(-log_product_tail(mixture, static_cast<double>(factors), static_cast<double>(k)));
  }
  return product;
}

std::vector<double> marginal_of(const BetaMixture& mixture, std::int64_t gamma) {
  check(mixture);
  check_range("gamma", gamma, 0, longest_mixture);
  std::vector<double> marginal;
  double product = 1.0;
  for (std::int64_t j = 0; j < gamma; ++j) {
    product *= next_acceptance(mixture, static_cast<double>(j));
    marginal.push_back(product);
  }
  return marginal;
}

double tokens_per_iteration(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  check(mixture, gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n > longest_product) {
    return beta_expectation(mixture.a, mixture.b, [n](double alpha, double complement) {
      return stable::geometric_sum(alpha, complement, n);
    });
  }
  CompensatedSum tokens;
  double reached = 1.0;
  for (std::int64_t j = 0; j < n; ++j) {
    tokens.add(reached);
    reached *= next_acceptance(mixture, static_cast<double>(j));
  }
  return tokens.value();
}

double tokens_variance(const BetaMixture& mixture, std::int64_t gamma, Convention convention) {
  const double mean = tokens_per_iteration(mixture, gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n > longest_product) {
    // Law of total variance about the mean: both parts positive.
    return beta_expectation(mixture.a, mixture.b, [n, mean](double alpha, double complement) {
      const double deviation = stable::geometric_sum(alpha, complement, n) - mean;
      return stable::truncated_geometric_variance(alpha, complement, n) + deviation * deviation;
    });
  }
  CompensatedSum variance;
  double reached = 1.0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double deviation = static_cast<double>(j + 1) - mean;
    const auto position = static_cast<double>(j);
    const double rejected = j + 1 == n ? 1.0 : mixture.b / (mixture.a + mixture.b + position);
    variance.add(reached * rejected * deviation * deviation);
    reached *= next_acceptance(mixture, position);
  }
  return variance.value();
}

}  // namespace foredraft::analytic
