// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("every half and every bfloat16 but NaN survives fp32, and NaN stays NaN") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const Bfloat16 bfloat{static_cast<std::uint16_t>(bits)};
    INFO(bits);
    if (std::isnan(to_float(half))) {
      REQUIRE(std::isnan(to_float(from_float<Half>(to_float(half)))));
    } else {
      REQUIRE(from_float<Half>(to_float(half)).bits == half.bits);
    }
    if (std::isnan(to_float(bfloat))) {
      REQUIRE(std::isnan(to_float(from_float<Bfloat16>(to_float(bfloat)))));
    } else {
      REQUIRE(from_float<Bfloat16>(to_float(bfloat)).bits == bfloat.bits);
    }
  }
}

TEST_CASE("halves have the values that the format gives them") {
  CHECK(to_float(Half{0x3c00}) == 1.0F);
  CHECK(to_float(Half{0xc000}) == -2.0F);
  CHECK(to_float(Half{0x7bff}) == 65504.0F);
  CHECK(to_float(Half{0x0400}) == 0x1.0p-14F);
  CHECK(to_float(Half{0x0001}) == 0x1.0p-24F);
  CHECK(to_float(Half{0xfc00}) == -infinity);
}

TEST_CASE("conversion rounds to the nearest, ties to even, in the middle of every pair of neighbors") {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = to_float(Half{bits});
    const float high = to_float(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = 0.5F * (low + high);
    const std::uint16_t even = static_cast<std::uint16_t>(bits + (bits & 1U));
    INFO(bits);
    REQUIRE(from_float<Half>(middle).bits == even);
    REQUIRE(from_float<Half>(-middle).bits == (even | 0x8000U));
    REQUIRE(from_float<Half>(std::nextafter(middle, low)).bits == bits);
    REQUIRE(from_float<Half>(std::nextafter(middle, high)).bits == bits + 1);
  }
  for (std::uint16_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = to_float(Bfloat16{bits});
    const float high = to_float(Bfloat16{static_cast<std::uint16_t>(bits + 1)});
    const float middle = low + 0.5F * (high - low);
    INFO(bits);
    REQUIRE(from_float<Bfloat16>(middle).bits == static_cast<std::uint16_t>(bits + (bits & 1U)));
    REQUIRE(from_float<Bfloat16>(std::nextafter(middle, low)).bits == bits);
    REQUIRE(from_float<Bfloat16>(std::nextafter(middle, high)).bits == bits + 1);
  }
}

TEST_CASE("values beyond the largest half become infinite from half a unit above it") {
  CHECK(from_float<Half>(65519.99F).bits == 0x7bff);
  CHECK(from_float<Half>(65520.0F).bits == 0x7c00);
  CHECK(from_float<Half>(1e30F).bits == 0x7c00);
  CHECK(from_float<Half>(-infinity).bits == 0xfc00);
  CHECK(from_float<Half>(0x1.0p-25F).bits == 0);
  CHECK(from_float<Half>(-0.0F).bits == 0x8000);
  CHECK(from_float<Bfloat16>(std::numeric_limits<float>::max()).bits == 0x7f80);
}

}  // namespace foredraft::gpu_bench::tests
