// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/scenario.hpp"

/// Draws from a fixed law over tokens in constant time by the alias method [Walker1977; Vose1991], in integers.
///
/// A law over V tokens is rounded to masses of 1 / (V * 2^46); the table holds these masses exactly. So the law drawn
/// from is within 2^-46 of the given one in total variation, a token of probability 0 is never drawn, and nothing
/// depends on the order of floating-point operations. A slot takes 64 bits: the alias in the low 18, the share of the
/// slot that its own token keeps in the high 46.
namespace foredraft::sim {

using AliasSlot = std::uint64_t;

inline constexpr unsigned alias_bits = 18;
inline constexpr unsigned share_bits = 64 - alias_bits;

/// The table of a law that sums to 1 up to round-off; 1 to max_vocabulary entries.
[[nodiscard]] std::vector<AliasSlot> alias_table(std::span<const double> law);

/// The law that a table draws from: integer masses that sum to V * 2^46. For tests and for exact statements.
[[nodiscard]] std::vector<std::uint64_t> alias_masses(std::span<const AliasSlot> table);

/// Where a uniform 64-bit word falls among `slots` slots: which one, and how far into it.
struct SlotDraw {
  std::uint32_t slot;
  std::uint64_t share;  ///< uniform on [0, 2^46)
};

__extension__ using Uint128 = unsigned __int128;

[[nodiscard]] inline SlotDraw slot_draw(std::uint64_t word, std::size_t slots) {
  const Uint128 product = Uint128{word} * slots;
  return {static_cast<std::uint32_t>(product >> 64U), static_cast<std::uint64_t>(product) >> alias_bits};
}

/// Whether the draw stays with the slot's own token; otherwise it goes to alias_of(slot).
[[nodiscard]] inline bool keeps_own(AliasSlot slot, std::uint64_t share) { return share < slot >> alias_bits; }

[[nodiscard]] inline std::uint32_t alias_of(AliasSlot slot) {
  return static_cast<std::uint32_t>(slot & ((AliasSlot{1} << alias_bits) - 1));
}

}  // namespace foredraft::sim
