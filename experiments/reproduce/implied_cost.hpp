// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/text/text_lines.hpp"

namespace foredraft::experiments {

/// What a printed (alpha, gamma, speedup) says about the drafter's cost, under the bonus convention and autoregressive
/// drafting. Intervals propagate the rounding of both printed inputs.
struct ImpliedCost {
  double c;  ///< (tokens / speedup - 1) / gamma at the printed values; negative: no cost explains them
  Interval c_interval;
  double iid_bound;  ///< largest speedup of i.i.d. acceptance: tokens at c = 0 and the upper end of alpha's rounding
  double process_bound;                    ///< the same for any acceptance process of this mean
  std::optional<std::int64_t> best_gamma;  ///< for c; nothing when c <= 0
  std::optional<double> best_speedup;
};

[[nodiscard]] ImpliedCost implied_cost(const PrintedNumber& alpha, std::int64_t gamma, const PrintedNumber& speedup);

}  // namespace foredraft::experiments
