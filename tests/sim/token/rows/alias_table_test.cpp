// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/row_operations.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random_stream.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// The distribution that a table draws from: integer masses that sum to V * 2^46.
std::vector<std::uint64_t> alias_masses(const std::vector<AliasSlot>& table) {
  std::vector<std::uint64_t> masses(table.size(), 0);
  for (std::size_t x = 0; x < table.size(); ++x) {
    const std::uint64_t share = table[x] >> alias_bits;
    masses[x] += share;
    masses[alias_of(table[x])] += (std::uint64_t{1} << share_bits) - share;
  }
  return masses;
}

/// The distribution that a table draws from, recomputed from its slots.
std::vector<double> distribution_of(const std::vector<AliasSlot>& table) {
  std::vector<double> distribution;
  for (const std::uint64_t mass : alias_masses(table)) {
    distribution.push_back(std::ldexp(static_cast<double>(mass), -static_cast<int>(share_bits)) /
                           static_cast<double>(table.size()));
  }
  return distribution;
}

/// Powers of ten over 12 decades in irregular order, normalized.
std::vector<double> steep_distribution(std::size_t size) {
  std::vector<double> distribution(size);
  for (std::size_t x = 0; x < size; ++x) distribution[x] = std::pow(10.0, -static_cast<double>(x * 37 % 101) * 0.12);
  const long double sum = std::accumulate(distribution.begin(), distribution.end(), 0.0L);
  for (double& probability : distribution)
    probability = static_cast<double>(static_cast<long double>(probability) / sum);
  return distribution;
}

/// Rounding to masses of 1 / (V 2^46) moves an entry by half of that, and its sum is corrected at the largest entry.
double resolution(std::size_t size) {
  return std::ldexp(0.5, -static_cast<int>(share_bits)) / static_cast<double>(size);
}

}  // namespace

TEST_CASE("an alias table draws from the distribution it was made from") {
  const std::size_t size = GENERATE(1U, 2U, 3U, 7U, 1000U, 32'000U, 256'000U);
  CAPTURE(size);
  const std::vector<double> distribution = steep_distribution(size);
  const std::vector<AliasSlot> table = alias_table(distribution);
  const std::vector<double> drawn = distribution_of(table);
  const auto largest =
      static_cast<std::size_t>(std::max_element(distribution.begin(), distribution.end()) - distribution.begin());
  for (std::size_t x = 0; x < size; ++x) {
    const double allowed = x == largest ? resolution(size) * static_cast<double>(size) : resolution(size);
    if (!(std::abs(drawn[x] - distribution[x]) <= allowed + tests::few_ulp * distribution[x])) {
      CAPTURE(x);
      CHECK(drawn[x] == distribution[x]);
    }
  }
  const std::vector<std::uint64_t> masses = alias_masses(table);
  CHECK(std::accumulate(masses.begin(), masses.end(), std::uint64_t{0}) ==
        (std::uint64_t{1} << share_bits) * static_cast<std::uint64_t>(size));
}

TEST_CASE("dyadic distributions are drawn exactly") {
  CHECK(distribution_of(alias_table(std::vector<double>{0.5, 0.125, 0.25, 0.125})) ==
        std::vector<double>{0.5, 0.125, 0.25, 0.125});
  CHECK(distribution_of(alias_table(std::vector<double>{0.0, 1.0, 0.0, 0.0})) ==
        std::vector<double>{0.0, 1.0, 0.0, 0.0});
  CHECK(distribution_of(alias_table(std::vector<double>(64, 1.0 / 64))) == std::vector<double>(64, 1.0 / 64));
}

TEST_CASE("a token of probability 0 is in no slot, not even with 256,000 tokens and all mass on one") {
  std::vector<double> distribution(256'000, 0.0);
  distribution[255'999] = 1.0;
  const std::vector<std::uint64_t> masses = alias_masses(alias_table(distribution));
  CHECK(std::count(masses.begin(), masses.end(), std::uint64_t{0}) == 255'999);
  CHECK(masses.back() == (std::uint64_t{1} << share_bits) * 256'000);
}

TEST_CASE("a distribution that sums to 1 only up to round-off is scaled, not patched") {
  std::vector<double> distribution{0.1, 0.2, 0.3, 0.4};
  for (double& probability : distribution) probability *= 1.0 + 1e-11;
  const std::vector<double> drawn = distribution_of(alias_table(distribution));
  for (std::size_t x = 0; x < distribution.size(); ++x)
    CHECK(drawn[x] == Approx(0.1 * static_cast<double>(x + 1)).epsilon(1e-13));
}

TEST_CASE("a word picks slot and share as its position in the range of slots") {
  CHECK(slot_draw(0, 5).slot == 0);
  CHECK(slot_draw(0, 5).share == 0);
  CHECK(slot_draw(~std::uint64_t{0}, 5).slot == 4);
  CHECK(slot_draw(~std::uint64_t{0}, 1).share == (std::uint64_t{1} << share_bits) - 1);
  CHECK(slot_draw(std::uint64_t{1} << 63U, 5).slot == 2);
  CHECK(slot_draw(std::uint64_t{1} << 63U, 5).share == std::uint64_t{1} << (share_bits - 1));
}

TEST_CASE("a slot keeps a draw only below its share, and one without a share keeps none") {
  const std::vector<AliasSlot> table = alias_table(std::vector<double>{0.0, 1.0, 0.0, 0.0});
  for (const std::size_t x : {0U, 2U, 3U}) {
    CHECK_FALSE(keeps_own(table[x], 0));  // a token of probability 0 is never drawn
    CHECK(alias_of(table[x]) == 1);
  }
  for (const std::uint64_t share : {std::uint64_t{1}, std::uint64_t{1} << 45U, (std::uint64_t{1} << share_bits) - 1}) {
    CHECK(keeps_own(share << alias_bits, share - 1));
    CHECK_FALSE(keeps_own(share << alias_bits, share));
  }
}

// 200,000 draws in 6 nonempty cells detect a relative error of 3 % in a cell of 0.2.
TEST_CASE("draws through slot_draw, keeps_own and alias_of follow the distribution") {
  const std::vector<double> distribution{0.05, 0.30, 0.00, 0.15, 0.25, 0.05, 0.20};
  const std::vector<AliasSlot> table = alias_table(distribution);
  RandomStream random(1, {.purpose = Purpose::test, .point = 0, .block = 0});
  constexpr int draws = 200'000;
  std::vector<std::int64_t> counts(distribution.size(), 0);
  for (int i = 0; i < draws; ++i) {
    const SlotDraw draw = slot_draw(random.next_u64(), table.size());
    ++counts[keeps_own(table[draw.slot], draw.share) ? draw.slot : alias_of(table[draw.slot])];
  }
  std::vector<double> expected;
  for (const double probability : distribution) expected.push_back(probability * draws);
  CHECK(tests::chi_squared_p_value(counts, expected) > tests::family_level);
}

}  // namespace foredraft::sim
