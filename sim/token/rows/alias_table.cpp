// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/alias_table.hpp"

#include <algorithm>
#include <numeric>

#include "core/contract.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t slot_mass = std::uint64_t{1} << share_bits;

/// The law in units of 1 / (V * 2^46), summing to V * 2^46 exactly. What rounding leaves over, at most V / 2 units and
/// the round-off of the largest entry, goes to the largest entry, where it weighs least.
std::vector<std::uint64_t> integer_masses(std::span<const double> law) {
  const std::uint64_t total = slot_mass * law.size();
  const long double sum = std::accumulate(law.begin(), law.end(), 0.0L);
  const long double scale = static_cast<long double>(total) / sum;
  std::vector<std::uint64_t> masses(law.size());
  std::uint64_t placed = 0;
  for (std::size_t x = 0; x < law.size(); ++x) {
    masses[x] = static_cast<std::uint64_t>(static_cast<long double>(law[x]) * scale + 0.5L);
    placed += masses[x];
  }
  *std::max_element(masses.begin(), masses.end()) += total - placed;  // modulo 2^64: the difference may be negative
  return masses;
}

}  // namespace

std::vector<AliasSlot> alias_table(std::span<const double> law) {
  FOREDRAFT_EXPECT(!law.empty() && law.size() <= static_cast<std::size_t>(max_vocabulary));
  std::vector<std::uint64_t> masses = integer_masses(law);
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t x = 0; x < masses.size(); ++x) (masses[x] < slot_mass ? small : large).push_back(x);

  std::vector<AliasSlot> table(masses.size());
  const auto fill = [&table](std::uint32_t x, std::uint64_t share, std::uint32_t alias) {
    table[x] = share << alias_bits | alias;
  };
  while (!small.empty()) {
    // Integer masses sum to V full slots, so a slot that is not full implies one that is more than full.
    FOREDRAFT_EXPECT(!large.empty());
    const std::uint32_t poor = small.back();
    const std::uint32_t rich = large.back();
    small.pop_back();
    fill(poor, masses[poor], rich);
    masses[rich] -= slot_mass - masses[poor];
    if (masses[rich] < slot_mass) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  for (const std::uint32_t x : large) fill(x, 0, x);  // exactly full: its own alias
  return table;
}

std::vector<std::uint64_t> alias_masses(std::span<const AliasSlot> table) {
  std::vector<std::uint64_t> masses(table.size(), 0);
  for (std::size_t x = 0; x < table.size(); ++x) {
    const std::uint64_t share = table[x] >> alias_bits;
    masses[x] += share;
    masses[alias_of(table[x])] += slot_mass - share;
  }
  return masses;
}

}  // namespace foredraft::sim
