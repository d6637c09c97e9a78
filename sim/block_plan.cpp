#include "sim/block_plan.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace foredraft::sim {

BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block) {
  constexpr std::uint64_t most_blocks = std::uint64_t{1} << 32U;
  if (total == 0 || total > most_blocks * per_block) {
    throw DomainError(fmt::format("invalid {}={} (must lie in 1 to {})", name, total, most_blocks * per_block));
  }
  return {.total = total, .per_block = per_block};
}

}  // namespace foredraft::sim
