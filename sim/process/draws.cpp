// SPDX-License-Identifier: Apache-2.0
#include "sim/process/draws.hpp"

#include "core/contract.hpp"
#include "sim/process/instruction_set.hpp"

namespace foredraft::sim {

Draws::Draws(const RunKey& key, const DrawPurposes& purposes, std::uint64_t block, std::uint64_t positions)
    : key_(philox_key(key.seed)),
      counter_(philox_counter({.purpose = purposes.leading, .point = key.point, .block = block}, 0)),
      tie_id_{.purpose = purposes.tie, .point = key.point, .block = block},
      positions_(positions) {}

std::uint64_t Draws::trailing(std::uint64_t iteration, std::uint64_t position) const {
  const PhiloxWords words = philox4x32_10(philox_counter(tie_id_, iteration * positions_ + position), key_);
  return std::uint64_t{words[1]} << 32U | words[0];
}

void Draws::fill(std::uint64_t index, std::uint64_t position) {
  // Eight iterations share their draws: start with the first position again, unless that one is out of reach.
  first_ = position < window ? index - position : index;
  FOREDRAFT_EXPECT(first_ + window <= std::uint64_t{1} << 56U);  // the draw index has 56 bits of the counter
  kernels().fill_draws(key_.data(), counter_.data(), first_, window, words_.data());
}

}  // namespace foredraft::sim
