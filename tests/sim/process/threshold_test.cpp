// SPDX-License-Identifier: Apache-2.0
#include "sim/process/threshold.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace foredraft::sim {
namespace {

/// In units of 2^-80; missing(): the difference to 1.
Uint128 units(const Threshold& threshold) { return Uint128{threshold.high} << 64U | threshold.low; }
Uint128 missing(const Threshold& threshold) { return (Uint128{1} << 80U) - units(threshold); }

}  // namespace

TEST_CASE("a threshold is the probability itself in units of 2^-80") {
  CHECK(threshold_of(0.0, 1.0) == Threshold{0, 0});
  CHECK(threshold_of(1.0, 0.0) == Threshold{65536, 0});
  CHECK(threshold_of(0.5, 0.5) == Threshold{32768, 0});
  CHECK(threshold_of(0x1p-80, 1.0) == Threshold{0, 1});
  CHECK(threshold_of(0x1p-16, 1.0 - 0x1p-16) == Threshold{1, 0});
  // 0.8 as a double is 0x1.999999999999ap-1, so its 80 bits are known.
  CHECK(threshold_of(0.8, 1.0 - 0.8) == Threshold{0xcccc, 0xccccccccd0000000});
  CHECK(threshold_of(1.0 - 0x1p-53, 0x1p-53) == Threshold{65535, 0xfffffffff8000000});
}

TEST_CASE("a probability within 1e-15 of one keeps all digits of its complement") {
  const double complement = 1.0 - (1.0 - 1e-15);  // exact: 9 * 2^-53
  CHECK(complement == 9 * 0x1p-53);
  CHECK(missing(threshold_of(1.0 - 1e-15, complement)) == Uint128{9} << 27U);
  // Given directly, even if no double near one can represent it.
  CHECK(missing(threshold_of(1.0, 1e-20)) == 12089);  // 1e-20 * 2^80 = 12089.26
}

TEST_CASE("a tiny probability is rounded, not lost, and one below half a unit is zero") {
  CHECK(units(threshold_of(1e-20, 1.0)) == 12089);
  CHECK(units(threshold_of(0x1.8p-81, 1.0)) == 1);
  CHECK(units(threshold_of(0x1p-82, 1.0)) == 0);
  CHECK(units(threshold_of(5e-324, 1.0)) == 0);
}

TEST_CASE("survival over a million positions within 1e-15 of one loses exactly its share each") {
  // (1 - d)^k with d = 9 * 2^-53: the difference to 1 is k d - k (k - 1) / 2 d^2 + ..., the second term below 2^-80
  // k^2.
  const Thresholds survival = survival_thresholds(Iid{1.0 - 1e-15}, 1'000'000, false);
  const double d = 9 * 0x1p-53;
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{1'000'000}}) {
    const double expected = -std::expm1(static_cast<double>(k) * std::log1p(-d));
    const double seen = std::ldexp(static_cast<double>(missing(survival[k - 1])), -80);
    CHECK(seen == Approx(expected).epsilon(1e-14).margin(0x1p-80));
  }
}

TEST_CASE("survival falls with the position and equals the product of the conditionals") {
  const Positional process{.conditional = {0.9, 1.0, 0.25, 0.75, 0.0, 0.5}};
  const Thresholds survival = survival_thresholds(process, 6, false);
  double product = 1.0;
  for (std::size_t k = 0; k < 6; ++k) {
    product *= process.conditional[k];
    CHECK(std::ldexp(static_cast<double>(units(survival[k])), -80) == Approx(product).epsilon(1e-15));
    if (k > 0) CHECK(units(survival[k]) <= units(survival[k - 1]));
  }
  CHECK(survival[5] == Threshold{0, 0});
}

TEST_CASE("the chain uses b at the first position after a rejection and a everywhere else") {
  const Markov chain{.a = 0.75, .b = 0.25};
  const Thresholds rejected = acceptance_thresholds(chain, 3, false);
  const Thresholds accepted = acceptance_thresholds(chain, 3, true);
  CHECK(rejected.high == std::vector<std::uint32_t>{16384, 49152, 49152});
  CHECK(accepted.high == std::vector<std::uint32_t>{49152, 49152, 49152});
  CHECK(survival_thresholds(chain, 2, false).high == std::vector<std::uint32_t>{16384, 12288});
}

TEST_CASE("a Beta mixture survives k positions with the k-th moment of its alpha") {
  // Beta(2, 1): E[alpha^k] = 2 / (k + 2).
  const Thresholds survival = survival_thresholds(BetaMixture{.a = 2.0, .b = 1.0}, 4, false);
  for (std::size_t k = 1; k <= 4; ++k) {
    CHECK(std::ldexp(static_cast<double>(units(survival[k - 1])), -80) ==
          Approx(2.0 / (static_cast<double>(k) + 2.0)).epsilon(1e-15));
  }
}

}  // namespace foredraft::sim
