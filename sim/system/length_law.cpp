// SPDX-License-Identifier: Apache-2.0
#include "sim/system/length_law.hpp"

#include "sim/process/simulators.hpp"

namespace foredraft::sim {
std::int64_t draw_length(const TokenCount& count, RandomStream& random) {
  if (count.geometric) return draw_length(SequenceLength{.tokens = count.tokens, .geometric = true}, random);
  const auto middle = static_cast<std::int64_t>(count.tokens);
  if (count.spread == 0) return middle;
  // The high word of a product: uniform to 2^-32 of a length's chance.
  const auto lengths = static_cast<std::uint64_t>(2 * count.spread + 1);
  return middle - count.spread + static_cast<std::int64_t>((Uint128{lengths} * random.next_u64()) >> 64U);
}

}  // namespace foredraft::sim
