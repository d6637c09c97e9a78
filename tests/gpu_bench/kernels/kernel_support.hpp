// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gpu_bench/kernels/host_block.hpp"
#include "gpu_bench/kernels/operation_kernels.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench::tests {

using foredraft::tests::single_precision;

/// Relative error of one rounding to a storage type: half a unit in the last place.
template <class Storage>
inline constexpr double one_rounding = 0x1.0p-24;
template <>
inline constexpr double one_rounding<Half> = 0x1.0p-11;
template <>
inline constexpr double one_rounding<Bfloat16> = 0x1.0p-8;

inline constexpr std::uint32_t seed = 20240607;

/// Values of a storage type, uniform between -1 and 1.
template <class Storage>
std::vector<Storage> random_values(std::size_t count, std::uint32_t salt) {
  std::mt19937 engine(seed + salt);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<Storage> values(count);
  for (Storage& value : values) value = from_float<Storage>(uniform(engine));
  return values;
}

template <class Storage>
std::vector<double> as_doubles(const std::vector<Storage>& values) {
  std::vector<double> doubles;
  for (const Storage& value : values) doubles.push_back(static_cast<double>(to_float(value)));
  return doubles;
}

/// NaN, with which outputs are poisoned.
template <class Storage>
std::vector<Storage> poisoned(std::size_t count) {
  return std::vector<Storage>(count, from_float<Storage>(std::nanf("")));
}

template <class Storage>
bool same_bits(const std::vector<Storage>& a, const std::vector<Storage>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Storage)) == 0;
}

/// Fails on the first element that differs from its double-precision value by more than one rounding to its storage
/// plus single-precision arithmetic on terms of this size, plus `rounded`: what earlier roundings may add.
template <class Storage>
void check_close(const std::vector<Storage>& got, const std::vector<double>& want, double size_of_terms,
                 double rounded = 0.0) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double value = static_cast<double>(to_float(got[i]));
    // Below its smallest normal number a half is known to 2^-25.
    const double allowed =
        one_rounding<Storage> * std::abs(want[i]) + single_precision * size_of_terms + 0x1.0p-25 + rounded;
    INFO("element " << i << " is " << value << ", not " << want[i]);
    REQUIRE(std::abs(value - want[i]) <= allowed);
  }
}

}  // namespace foredraft::gpu_bench::tests
