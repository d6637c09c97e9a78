// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analytic/observed/clustered_estimate.hpp"

/// Numbers with as many digits as their intervals are worth.
namespace foredraft::experiments {

/// Digits after the point that show `half_width` of an interval with two digits up to 35 units of the last one, else
/// with one: 0 to 6, 3 where it is 0 or unknown.
[[nodiscard]] int digits_for(double half_width);

/// With so many digits; never "-0".
[[nodiscard]] std::string rounded(double value, int digits);
/// With its sign, "+0.05".
[[nodiscard]] std::string signed_rounded(double value, int digits);

/// With so many digits, rounded away from zero.
[[nodiscard]] std::string rounded_up(double value, int digits);

/// "2.418 (2.406 to 2.431)", 95 %.
[[nodiscard]] std::string with_interval(const analytic::ClusteredEstimate& estimate);
[[nodiscard]] std::string with_interval(double value, const Interval& interval);

/// "2.418 +- 0.013", 95 %.
[[nodiscard]] std::string with_half_interval(const analytic::ClusteredEstimate& estimate);

}  // namespace foredraft::experiments
