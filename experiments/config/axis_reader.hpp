// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problems.hpp"
#include "experiments/config/sweep_config.hpp"

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

/// Reads one key of [axes], a list or a range of numbers, into `axis`, whose parameter is set. Returns how many values
/// it has, as a double: an absurdly long range is counted and refused, not listed. Nothing, with the problem told,
/// where it is wrong otherwise.
[[nodiscard]] std::optional<double> read_axis(const scenario::Node& node, const std::string& key, scenario::Axis& axis,
                                              ProblemList& problems);

}  // namespace foredraft::experiments
