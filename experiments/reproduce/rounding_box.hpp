// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "experiments/text/text_lines.hpp"

/// What rounding leaves of a value that is computed from printed ones.
namespace foredraft::experiments {

struct RoundedValue {
  double value;       ///< at the printed inputs
  Interval rounding;  ///< over everything that rounds to them
};

/// `f` at the printed values, and its range over the box of their roundings, for an f that is monotone in each input
/// there, so that its extremes lie at corners. 1 to 10 inputs.
[[nodiscard]] RoundedValue propagate_rounding(const std::vector<RoundedValue>& inputs,
                                              const std::function<double(std::span<const double>)>& f);

/// A printed number, times `scale`: 0.01 turns a percentage into a share.
[[nodiscard]] RoundedValue rounded(const PrintedNumber& printed, double scale = 1.0);

}  // namespace foredraft::experiments
