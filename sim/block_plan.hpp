// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace foredraft::sim {

/// As many as the counter of the random numbers has room for.
inline constexpr std::uint64_t most_blocks = std::uint64_t{1} << 32U;

/// How a run is cut into blocks of iterations or sequences.
struct BlockPlan {
  std::uint64_t total;
  std::uint64_t per_block;  ///< in each block but the last

  [[nodiscard]] std::uint64_t blocks() const { return (total + per_block - 1) / per_block; }
  [[nodiscard]] std::uint64_t in_block(std::uint64_t block) const {
    return std::min(per_block, total - block * per_block);
  }
};

/// Throws DomainError, naming the total `name`, for a run of nothing and for one of more than `most` blocks.
[[nodiscard]] BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block,
                                    std::uint64_t most = most_blocks);

}  // namespace foredraft::sim
