// SPDX-License-Identifier: Apache-2.0
#include "sim/system/arrivals.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

RandomStream length_stream() { return {8, {.purpose = Purpose::test, .point = 0, .block = 0}}; }

}  // namespace

// 70,000 draws detect a length that is 12 % too frequent.
TEST_CASE("lengths with a spread are uniform on both sides of the middle, limits included") {
  RandomStream random = length_stream();
  std::vector<std::int64_t> observed(7, 0);
  for (int i = 0; i < 70'000; ++i) {
    ++observed.at(static_cast<std::size_t>(draw_length(TokenCount{.tokens = 13, .spread = 3}, random) - 10));
  }
  CHECK(tests::chi_squared_p_value(observed, std::vector<double>(7, 10'000.0)) > tests::family_level);
}

TEST_CASE("a length without spread is constant, a geometric one has its mean") {
  RandomStream random = length_stream();
  CHECK(draw_length(TokenCount{.tokens = 0}, random) == 0);
  CHECK(draw_length(TokenCount{.tokens = 40}, random) == 40);
  double sum = 0.0;
  constexpr int count = 40'000;
  for (int i = 0; i < count; ++i) {
    sum += static_cast<double>(draw_length(TokenCount{.tokens = 2.5, .geometric = true}, random));
  }
  const double deviation = std::sqrt(2.5 * 1.5);
  CHECK(std::abs(sum / count - 2.5) <= tests::standard_errors * deviation / std::sqrt(count));
}

// 40,000 draws detect errors of 3 % in the mean and of 0.5 % in a share of 5 %.
TEST_CASE("lognormal lengths have their mean, and one in twenty is longer than the 95th percentile") {
  for (const double p95 : {600.0, 1300.0, 1900.0}) {
    RandomStream random = length_stream();
    constexpr int count = 40'000;
    double sum = 0.0;
    double squares = 0.0;
    int longer = 0;
    for (int i = 0; i < count; ++i) {
      const std::int64_t length = draw_length(TokenCount{.tokens = 500.0, .p95 = p95}, random);
      REQUIRE(length >= 1);
      sum += static_cast<double>(length);
      squares += static_cast<double>(length) * static_cast<double>(length);
      if (static_cast<double>(length) > p95) ++longer;
    }
    const double mean = sum / count;
    CHECK(std::abs(mean - 500.0) <= tests::standard_errors * std::sqrt((squares / count - mean * mean) / count));
    CHECK(std::abs(longer - 0.05 * count) <= tests::standard_errors * std::sqrt(0.05 * 0.95 * count));
  }
}

}  // namespace foredraft::sim
