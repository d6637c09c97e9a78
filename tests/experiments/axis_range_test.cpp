// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <catch2/catch.hpp>
#include <limits>

namespace foredraft::experiments {

TEST_CASE("a range reaches its end in spite of round-off, without an extra value") {
  const auto values = [](double from, double to, double step) { return range_values({from, to, step, std::nullopt}); };
  CHECK(values(0.0, 0.3, 0.1) == std::vector<double>{0.0, 0.1, 0.2, 0.3});  // 3 * 0.1 > 0.3
  CHECK(values(0.1, 0.7, 0.1).size() == 7);                                 // 0.6 / 0.1 < 6
  CHECK(values(0.0, 1.0, 0.3) == std::vector<double>{0.0, 0.3, 0.6, 0.9});
  CHECK(values(5.0, 1.0, -2.0) == std::vector<double>{5.0, 3.0, 1.0});
  CHECK(values(2.0, 2.0, 1.0) == std::vector<double>{2.0});
  CHECK(range_count({0.0, 1.0, 1e-12, std::nullopt}) == 1e12 + 1);
}

TEST_CASE("a factor multiplies, up and down") {
  CHECK(range_values({1.0, 8.0, std::nullopt, 2.0}) == std::vector<double>{1.0, 2.0, 4.0, 8.0});
  CHECK(range_values({1.0, 7.0, std::nullopt, 2.0}) == std::vector<double>{1.0, 2.0, 4.0});
  CHECK(range_values({0.001, 1.0, std::nullopt, 10.0}) == std::vector<double>{0.001, 0.01, 0.1, 1.0});
  CHECK(range_values({8.0, 1.0, std::nullopt, 0.5}) == std::vector<double>{8.0, 4.0, 2.0, 1.0});
}

TEST_CASE("the largest finite number can end a range") {
  constexpr double largest = std::numeric_limits<double>::max();
  CHECK(range_values({1.0, largest, std::nullopt, largest}) == std::vector<double>{1.0, largest});
}

TEST_CASE("without step or factor the step is one towards the end") {
  CHECK(range_values({1.0, 3.0, std::nullopt, std::nullopt}) == std::vector<double>{1.0, 2.0, 3.0});
  CHECK(range_values({3.0, 1.0, std::nullopt, std::nullopt}) == std::vector<double>{3.0, 2.0, 1.0});
}

TEST_CASE("ranges that never reach their end are rejected") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(reject_range({0.0, 1.0, 0.0, std::nullopt}));
  CHECK(reject_range({0.0, 1.0, -0.1, std::nullopt}));
  CHECK(reject_range({0.0, 1.0, nan, std::nullopt}));
  CHECK(reject_range({nan, 1.0, 0.1, std::nullopt}));
  CHECK(reject_range({1.0, 8.0, std::nullopt, 1.0}));
  CHECK(reject_range({1.0, 8.0, std::nullopt, 0.5}));
  CHECK(reject_range({1.0, 8.0, std::nullopt, nan}));
  CHECK(reject_range({0.0, 8.0, std::nullopt, 2.0}));
  CHECK(reject_range({1.0, 8.0, 1.0, 2.0}));
  CHECK_FALSE(reject_range({1.0, 8.0, std::nullopt, 2.0}));
}

}  // namespace foredraft::experiments
