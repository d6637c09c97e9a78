// SPDX-License-Identifier: Apache-2.0
#include "sim/block_plan.hpp"

#include <fmt/format.h>

#include "foredraft/errors.hpp"

namespace foredraft::sim {

BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block, std::uint64_t most) {
  if (total == 0 || total > most * per_block) {
    throw DomainError(fmt::format("invalid {}={} (must lie in 1 to {})", name, total, most * per_block));
  }
  return {.total = total, .per_block = per_block};
}

}  // namespace foredraft::sim
