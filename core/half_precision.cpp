// SPDX-License-Identifier: Apache-2.0
#include "core/half_precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foredraft {

double round_to_half(double value) {
  constexpr int smallest_exponent = -14;  // below, the spacing stays at 2^-24
  constexpr int significant_bits = 11;
  constexpr double largest = 65504.0;
  if (value == 0.0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), smallest_exponent);
  const int spacing = exponent - (significant_bits - 1);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  if (std::abs(nearest) <= largest) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace foredraft
