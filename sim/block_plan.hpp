#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace foredraft::sim {

/// How a run is cut into blocks of iterations or sequences.
struct BlockPlan {
  std::uint64_t total;
  std::uint64_t per_block;  ///< in each block but the last

  [[nodiscard]] std::uint64_t blocks() const { return (total + per_block - 1) / per_block; }
  [[nodiscard]] std::uint64_t in_block(std::uint64_t block) const {
    return std::min(per_block, total - block * per_block);
  }
};

/// Throws DomainError, naming the total `name`, for a run of nothing and for one of more blocks than the counter of the
/// random numbers has room for (2^32).
[[nodiscard]] BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block);

}  // namespace foredraft::sim
