// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace foredraft::experiments {

/// from, from + step, ... or from, from * factor, ..., up to and including `to`.
struct AxisRange {
  double from;
  double to;
  std::optional<double> step;    ///< not 0, towards `to`; 1 (or -1) where neither is given
  std::optional<double> factor;  ///< positive, not 1, towards `to`; then `from` and `to` are positive
};

/// Why a range is refused, with what to do about it; empty for a legal one.
struct RangeRefusal {
  std::string why;
  std::string suggestion;
};
[[nodiscard]] std::optional<RangeRefusal> refuse_range(const AxisRange& range);

/// How many values a legal range has, as a double: a count may be absurd. A `to` that is missed by round-off counts.
[[nodiscard]] double range_count(const AxisRange& range);

/// The values, rounded to 15 significant digits so that 0.1 + 2 * 0.1 is 0.3. The range is legal and not absurdly long.
[[nodiscard]] std::vector<double> range_values(const AxisRange& range);

}  // namespace foredraft::experiments
