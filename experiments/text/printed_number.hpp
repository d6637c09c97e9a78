// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/intervals.hpp"

namespace foredraft::experiments {

/// A number as a paper prints it, with the interval of values that round to it: half a unit of the last printed digit
/// either way. "0.8" stands for [0.75, 0.85], "0.80" for [0.795, 0.805], "7" for [6.5, 7.5].
struct PrintedNumber {
  std::string text;
  double value;
  Interval rounding;
};

/// Whether parse_printed_number() takes it.
[[nodiscard]] bool is_printed_number(std::string_view text);

/// Throws DomainError on anything but a plain decimal number.
[[nodiscard]] PrintedNumber parse_printed_number(std::string_view text);

[[nodiscard]] constexpr bool intersects(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

}  // namespace foredraft::experiments
