// SPDX-License-Identifier: Apache-2.0
#include "sim/system/row_acceptance.hpp"

#include <algorithm>

namespace foredraft::sim {

RowMemory ReplayedRows::begin(std::uint64_t /*request*/) {
  // The high word of a product: equal chances to 2^-64 of a sequence.
  return {.sequence = static_cast<std::uint64_t>((Uint128{recorded_.sequences()} * choices_.next_u64()) >> 64U)};
}

std::int64_t ReplayedRows::accepted(std::uint64_t /*draw*/, const RowMemory& memory, std::int64_t gamma) const {
  const std::size_t size = recorded_.size(memory.sequence);
  if (size == 0) return 0;
  const auto drafts = static_cast<std::size_t>(gamma);
  std::size_t all = 0;
  for (std::size_t position = memory.emitted % size; all < drafts; position = 0) {
    const std::size_t testable = std::min(drafts - all, size - position);
    const std::size_t accepted = recorded_.accepted(memory.sequence, position, testable, key_);
    all += accepted;
    if (accepted < testable) break;
  }
  return static_cast<std::int64_t>(all);
}

}  // namespace foredraft::sim
