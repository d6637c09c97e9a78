// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/linear_feasibility.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

double at(const Line& line, double x) { return line.intercept + line.slope * x; }

void check_strips(std::span<const Strip> strips) {
  if (strips.empty()) throw DomainError("invalid strips (must have at least one entry)");
  for (const Strip& strip : strips) {
    for (const double value : {strip.low.intercept, strip.low.slope, strip.high.intercept, strip.high.slope}) {
      if (!std::isfinite(value)) throw DomainError("invalid strip (must have finite coefficients)");
    }
  }
}

}  // namespace

std::optional<Interval> feasible_x(std::span<const Strip> strips, const Interval& range) {
  check_strips(strips);
  Interval x = range;
  for (const Strip& below : strips) {
    for (const Strip& above : strips) {
      // below.low(x) <= above.high(x), that is gap + slope * x >= 0.
      const double gap = above.high.intercept - below.low.intercept;
      const double slope = above.high.slope - below.low.slope;
      if (slope > 0.0) {
        x.low = std::max(x.low, -gap / slope);
      } else if (slope < 0.0) {
        x.high = std::min(x.high, gap / -slope);
      } else if (gap < 0.0) {
        return std::nullopt;
      }
    }
  }
  if (!(x.low <= x.high)) return std::nullopt;
  return x;
}

Interval feasible_y(std::span<const Strip> strips, double x) {
  check_strips(strips);
  Interval y{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const Strip& strip : strips) {
    y.low = std::max(y.low, at(strip.low, x));
    y.high = std::min(y.high, at(strip.high, x));
  }
  return y;
}

}  // namespace foredraft::analytic
