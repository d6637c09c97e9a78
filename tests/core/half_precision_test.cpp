// SPDX-License-Identifier: Apache-2.0
#include "core/numbers.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace foredraft {
namespace {

/// The value of a binary16 pattern with sign 0, from its fields.
double decode(std::uint32_t pattern) {
  const auto exponent = static_cast<int>(pattern >> 10U);
  const auto fraction = static_cast<double>(pattern & 0x3FFU);
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
}

constexpr double half_infinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t infinity_pattern = 0x7C00;

}  // namespace

TEST_CASE("every half rounds to itself, and a value between two neighbors to the nearer, on a tie to the even one") {
  for (std::uint32_t pattern = 0; pattern + 1 < infinity_pattern; ++pattern) {
    const double low = decode(pattern);
    const double high = decode(pattern + 1);
    const double middle = 0.5 * (low + high);
    const double even = pattern % 2 == 0 ? low : high;
    const bool right = round_to_half(low) == low && round_to_half(-high) == -high && round_to_half(middle) == even &&
                       round_to_half(std::nextafter(middle, 0.0)) == low &&
                       round_to_half(std::nextafter(middle, half_infinity)) == high;
    if (!right) {
      CAPTURE(pattern, low, high);
      CHECK(right);
    }
  }
  CHECK(decode(infinity_pattern - 1) == 65504.0);
}

TEST_CASE("beyond the largest half is infinity, and non-finite values stay") {
  CHECK(round_to_half(65519.99) == 65504.0);
  CHECK(round_to_half(65520.0) == half_infinity);
  CHECK(round_to_half(-1e300) == -half_infinity);
  CHECK(round_to_half(half_infinity) == half_infinity);
  CHECK(std::isnan(round_to_half(std::nan(""))));
  CHECK(round_to_half(5e-324) == 0.0);
}

}  // namespace foredraft
