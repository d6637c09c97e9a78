// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace foredraft::sim {

__extension__ using Uint128 = unsigned __int128;

/// The high word of the product of a uniform 64-bit word and `count`: uniform over 0 to count - 1, up to 2^-64.
[[nodiscard]] inline std::uint64_t uniform_index(std::uint64_t word, std::uint64_t count) {
  return static_cast<std::uint64_t>((Uint128{word} * count) >> 64U);
}

/// Uniform on [0, 1) with the high 53 bits of a uniform word.
[[nodiscard]] inline double unit_uniform(std::uint64_t word) { return static_cast<double>(word >> 11U) * 0x1.0p-53; }

}  // namespace foredraft::sim
