// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator.hpp"

#include <fmt/format.h>
#include <algorithm>
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

namespace {

/// Large enough to make the overhead of a block negligible, small enough to distribute and repeat.
constexpr std::uint64_t iterations_per_block = std::uint64_t{1} << 16U;

/// Maximum number of draws of a block; longer blocks are shortened.
constexpr std::uint64_t draws_per_block = std::uint64_t{1} << 24U;
constexpr std::uint64_t min_iterations = 64;

}  // namespace

BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration) {
  const auto draws = static_cast<std::uint64_t>(std::max<std::int64_t>(draws_per_iteration, 1));
  const std::uint64_t per_block = std::clamp(draws_per_block / draws, min_iterations, iterations_per_block);
  return plan_blocks("iterations", iterations, per_block);
}

BlockPlan plan_sequences(std::uint64_t sequences, double tokens) {
  const auto per_block = static_cast<std::uint64_t>(static_cast<double>(iterations_per_block) / tokens);
  return plan_blocks("sequences", sequences, std::max<std::uint64_t>(per_block, 1));
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
