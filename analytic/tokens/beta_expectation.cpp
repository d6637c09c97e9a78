// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/beta_expectation.hpp"

#include <algorithm>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"

namespace foredraft::analytic {
namespace {

/// One side of the split alpha = s: the variable x runs from its end at 0 up to its split value `split`, 1 - x from 1
/// down to `rest` = 1 - split. `power` and `rest_power` are the Beta parameters of x and of 1 - x.
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

/// The node at the fraction r of the side, 1 - r = rc. Below power 1 the density is singular at x = 0, so x = split
/// r^(1/power) takes the singularity into the variable; the Jacobian 1/power is left to the caller.
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
    // At the mode the linear terms of the two logarithms cancel; leaving them out keeps the digits of a sharp peak.
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
  const double near = decay / (1.0 + decay);  // the distance to the nearer end
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

}  // namespace

double beta_expectation(double a, double b, const std::function<double(double, double)>& f) {
  // Split at the mode where there is an interior one, else at the mean, the scale of the decay from the end with the
  // mode.
  const bool has_mode = a > 1.0 && b > 1.0;
  const double left = has_mode ? (a - 1.0) / ((a - 1.0) + (b - 1.0)) : a / (a + b);
  const double right = has_mode ? (b - 1.0) / ((a - 1.0) + (b - 1.0)) : b / (a + b);
  const Side low{left, right, a, b, has_mode};
  const Side high{right, left, b, a, has_mode};
  const auto mirrored = [&](double one_minus_alpha, double alpha) { return f(alpha, one_minus_alpha); };
  // Halve the step until two halvings in a row change nothing. (Boost.Math's integrator also stops when its error
  // estimate has risen twice, which the plateau of a heavy tail makes it do 0.2 % away from the value.)
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

}  // namespace foredraft::analytic
