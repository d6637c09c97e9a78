// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator.hpp"

#include <fmt/format.h>
#include <atomic>
#include <mutex>

#include "foredraft/errors.hpp"

namespace foredraft::sim {

BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block, std::uint64_t maximum) {
  if (total == 0 || total > maximum * per_block) {
    throw DomainError(fmt::format("invalid {}={} (must lie in 1 to {})", name, total, maximum * per_block));
  }
  return {.total = total, .per_block = per_block};
}

Tally run(const Simulator& simulator, const RunKey& key, unsigned threads,
          const std::function<void(double share)>& progress) {
  Tally total;
  std::mutex total_mutex;
  std::atomic<std::uint64_t> finished{0};
  const std::uint64_t blocks = simulator.blocks();
  parallel_for(blocks, threads, [&](std::uint64_t block) {
    key.stop.check();
    const Tally part = simulator.run_block(key, block);
    {
      const std::lock_guard lock(total_mutex);  // integers: the order of merging cannot change the result
      total.merge(part);
    }
    if (progress) progress(static_cast<double>(++finished) / static_cast<double>(blocks));
  });
  check_conservation(total);
  return total;
}

}  // namespace foredraft::sim
