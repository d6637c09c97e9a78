// SPDX-License-Identifier: Apache-2.0
#include "sim/process/draws.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/process/steppers.hpp"
#include "tests/sim/process/process_testing.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;

/// The 16-bit lanes of a stream in order, directly from the generator.
std::vector<std::uint32_t> lanes_of(Purpose purpose, std::uint64_t block, std::uint64_t draws) {
  std::vector<std::uint32_t> lanes;
  for (std::uint64_t index = 0; index < draws; ++index) {
    const PhiloxWords words =
        philox4x32_10(philox_counter({.purpose = purpose, .point = test_key.point, .block = block}, index),
                      philox_key(test_key.seed));
    for (const std::uint32_t word : words) {
      lanes.push_back((word & 0xffffU) ^ 0x8000U);
      lanes.push_back((word >> 16U) ^ 0x8000U);
    }
  }
  return lanes;
}

}  // namespace

TEST_CASE("every drafted token reads a separate 16-bit lane and none is left over") {
  const std::uint64_t positions = GENERATE(1U, 5U, 70U);
  constexpr std::uint64_t block = 3;
  constexpr std::uint64_t iterations = 40;  // five draws of eight lanes for each position
  Draws draws(test_key, bernoulli_draws, block, positions);
  const std::vector<std::uint32_t> lanes = lanes_of(Purpose::bernoulli, block, iterations / 8 * positions);
  REQUIRE(lanes.size() == iterations * positions);

  std::vector<std::uint32_t> seen(lanes.size(), ~0U);
  for (std::uint64_t i = 0; i < iterations; ++i) {
    for (std::uint64_t k = 0; k < positions; ++k) {
      const std::size_t place = (i / 8 * positions + k) * 8 + i % 8;
      REQUIRE(seen[place] == ~0U);
      seen[place] = draws.leading(i, k);
    }
  }
  CHECK(seen == lanes);
}

TEST_CASE("reading draws in any order gives the same numbers") {
  Draws forwards(test_key, survival_draws, 0, 3);
  Draws backwards(test_key, survival_draws, 0, 3);
  std::vector<std::uint32_t> there;
  std::vector<std::uint32_t> back;
  for (std::uint64_t i = 0; i < 300; ++i) there.push_back(forwards.leading(i, i % 3));
  for (std::uint64_t i = 300; i-- > 0;) back.push_back(backwards.leading(i, i % 3));
  std::reverse(back.begin(), back.end());
  CHECK(there == back);
}

TEST_CASE("a tie is settled by 64 more bits of the draft's own draw of the tie purpose") {
  constexpr std::uint64_t iteration = 11;
  constexpr std::uint64_t position = 2;
  constexpr std::uint64_t positions = 5;
  Draws draws(test_key, bernoulli_draws, 1, positions);
  const PhiloxWords words =
      philox4x32_10(philox_counter({.purpose = Purpose::bernoulli_tie, .point = test_key.point, .block = 1},
                                   iteration * positions + position),
                    philox_key(test_key.seed));
  const std::uint64_t trailing = std::uint64_t{words[1]} << 32U | words[0];
  CHECK(draws.trailing(iteration, position) == trailing);

  const std::uint32_t leading = draws.leading(iteration, position);
  CHECK_FALSE(draws.below({.high = leading, .low = trailing}, iteration, position));
  CHECK(draws.below({.high = leading, .low = trailing + 1}, iteration, position));
  CHECK(draws.below({.high = leading + 1, .low = 0}, iteration, position));
  CHECK_FALSE(draws.below({.high = leading, .low = 0}, iteration, position));
}

TEST_CASE("a survival row finds the same number of thresholds as counting them does") {
  // A long row with many equal leading bits, and one with certainty and zero in it.
  const std::vector<AcceptanceProcess> processes{Iid{0.999'99}, Positional{{1.0, 1.0, 0.7, 0.7, 0.1, 0.0, 0.5}},
                                                 BetaMixture{0.5, 0.01}};
  for (const AcceptanceProcess& process : processes) {
    const std::int64_t positions = std::holds_alternative<Positional>(process) ? 7 : 3000;
    const Thresholds thresholds = survival_thresholds(process, positions, false);
    const SurvivalRow row(thresholds);
    for (std::uint32_t leading = 0; leading < 65536; leading += 7) {
      std::size_t above = 0;
      while (above < thresholds.size() && thresholds.high[above] > leading) ++above;
      if (row.above(leading) != above) FAIL("leading " << leading << ": " << row.above(leading) << " != " << above);
    }
  }
}

TEST_CASE("a survival row settles a tie by the trailing bits of every threshold that shares the leading ones") {
  // Sixteen consecutive thresholds share their leading bits. A draw just below threshold k is below the first k + 1
  // thresholds, a draw equal to it below the first k.
  const Thresholds thresholds = survival_thresholds(Iid{1.0 - 0x1p-20}, 40, false);
  REQUIRE(thresholds.high[0] == thresholds.high[15]);
  const SurvivalRow row(thresholds);
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    const Threshold threshold = thresholds[k];
    REQUIRE(threshold.low > 0);
    const std::size_t first = row.above(threshold.high);
    REQUIRE(row.ties(first, threshold.high));
    CHECK(row.above_tied(first, threshold.high, threshold.low - 1) == k + 1);
    CHECK(row.above_tied(first, threshold.high, threshold.low) == k);
  }
}

}  // namespace foredraft::sim
