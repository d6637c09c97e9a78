// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "core/intervals.hpp"

/// Does one pair of parameters (x, y) explain every printed row? A row that is known up to its rounding leaves a strip
/// of the plane between two lines; all rows together leave a polygon, or nothing. Exact: every pair of bounds is a
/// half-line of x.
namespace foredraft::analytic {

/// y = intercept + slope * x.
struct Line {
  double intercept;
  double slope;
};

/// low(x) <= y <= high(x).
struct Strip {
  Line low;
  Line high;
};

/// The x within `range` for which some y lies in every strip; nothing where none does. At least one strip; finite
/// coefficients.
[[nodiscard]] std::optional<Interval> feasible_x(std::span<const Strip> strips, const Interval& range);

/// The y that lie in every strip at this x; low > high where none does.
[[nodiscard]] Interval feasible_y(std::span<const Strip> strips, double x);

}  // namespace foredraft::analytic
