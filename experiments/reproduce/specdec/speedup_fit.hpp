// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "core/intervals.hpp"

/// Tests whether one pair of parameters (x, y) explains every printed row. Each rounded row restricts (x, y) to a strip
/// between two lines. The intersection of all strips is a polygon or empty.
namespace foredraft::experiments {

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

/// The interval of x within `range` for which some y lies in every strip; nullopt if there is none. Requires at least
/// one strip.
[[nodiscard]] std::optional<Interval> feasible_x(std::span<const Strip> strips, const Interval& range);

// ---- Fits of printed speedups, and the strips that their rounding allows.

/// Least-squares line through at least two points with different x. With x = iterations and y = 1 / speedup, the
/// intercept is the constant cost of a sentence and the slope the cost of an iteration.
[[nodiscard]] Line least_squares_line(std::span<const double> x, std::span<const double> y);

/// One row of a comparison of drafters: speedup = step * tokens / (draft_time + verify). [Xia2023, Eq. 4]
struct DrafterRow {
  double tokens;      ///< per iteration, > 0
  double draft_time;  ///< t_d >= 0, in any unit
  double speedup;     ///< > 0
};

struct StepTimes {
  double verify;  ///< t_v, in the unit of draft_time
  double step;    ///< one decode step of the target, in the same unit
};

/// Least-squares fit of t_v in `verification` (0 < low < high) and of the step time to at least two speedups. t_v has a
/// relative accuracy of 1e-9 if the error has a single minimum in the range.
[[nodiscard]] StepTimes fit_step_times(std::span<const DrafterRow> rows, const Interval& verification);

/// The pairs (t_v, step time) that give a speedup within `speedup` for tokens and drafting time within their intervals.
/// Requires t_v >= 0 and lower bounds > 0, except for the drafting time.
[[nodiscard]] Strip step_times_strip(const Interval& tokens, const Interval& draft_time, const Interval& speedup);

/// The pairs (slope >= 0, intercept) of 1 / speedup = intercept + slope * iterations that give a speedup within
/// `speedup`. All > 0.
[[nodiscard]] Strip inverse_speedup_strip(const Interval& iterations, const Interval& speedup);

}  // namespace foredraft::experiments
