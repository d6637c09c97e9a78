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

// ---- Fits of printed speedups, and the strips that their rounding leaves.

/// Least-squares line y = intercept + slope * x through at least two points with two different x. With x = iterations
/// and y = 1 / speedup, the intercept is the share of plain decoding's time that a sentence costs whatever is accepted,
/// the slope that of one iteration.
[[nodiscard]] Line least_squares_line(std::span<const double> x, std::span<const double> y);

/// One row of a comparison of drafters: speedup = step * tokens / (draft_time + verify). [Xia2023, Eq. 4]
struct DrafterRow {
  double tokens;      ///< per iteration, > 0
  double draft_time;  ///< t_d >= 0, in any unit
  double speedup;     ///< > 0
};

struct StepTimes {
  double verify;  ///< t_v, in the unit of draft_time
  double step;    ///< one plain step of the target, in the same unit
};

/// The t_v in `verify_range` (0 < low < high) and the step time of least squared error of the speedups; at least two
/// rows. t_v to 1e-9 of itself, on the supposition that the error has one minimum in the range.
[[nodiscard]] StepTimes fit_step_times(std::span<const DrafterRow> rows, const Interval& verify_range);

/// The (t_v, step time) that give a speedup within `speedup` for tokens and drafting time within theirs. All lows > 0
/// but that of the drafting time; for t_v >= 0.
[[nodiscard]] Strip step_times_strip(const Interval& tokens, const Interval& draft_time, const Interval& speedup);

/// The (slope, intercept) of 1 / speedup = intercept + slope * iterations that give a speedup within `speedup`; for
/// slope >= 0. All lows > 0.
[[nodiscard]] Strip inverse_speedup_strip(const Interval& iterations, const Interval& speedup);

}  // namespace foredraft::analytic
