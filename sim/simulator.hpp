// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/parallel.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Maximum number of blocks, which the counter of the random numbers limits.
inline constexpr std::uint64_t max_blocks = std::uint64_t{1} << 32U;

/// How a run is divided into blocks of iterations or sequences.
struct BlockPlan {
  std::uint64_t total;
  std::uint64_t per_block;  ///< in each block except the last

  [[nodiscard]] std::uint64_t blocks() const { return (total + per_block - 1) / per_block; }
  [[nodiscard]] std::uint64_t in_block(std::uint64_t block) const {
    return std::min(per_block, total - block * per_block);
  }
};

/// Throws DomainError, naming the total `name`, for an empty run and for one of more than `most` blocks.
[[nodiscard]] BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block,
                                    std::uint64_t most = max_blocks);

/// The random numbers of a run, and its stop token.
struct RunKey {
  std::uint64_t seed;
  std::uint64_t point;  ///< index of the point in its sweep, below 2^32
  StopToken stop = {};  ///< checked every few milliseconds; run_block then throws Interrupted
};

/// A prepared run, split into fixed blocks of work.
///
/// Contract: run_block(key, i) is a pure function of its arguments for i in [0, blocks()) unless it is stopped, and the
/// merged tallies of all blocks are the result. Neither threads nor the order of blocks can change it. Thread-safe.
class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  Simulator(Simulator&&) = delete;
  Simulator& operator=(Simulator&&) = delete;
  virtual ~Simulator() = default;

  [[nodiscard]] virtual std::uint64_t blocks() const = 0;
  [[nodiscard]] virtual Tally run_block(const RunKey& key, std::uint64_t block) const = 0;
};

/// Runs all blocks on at most `threads` threads (0: one per hardware thread). `progress` receives the finished fraction
/// after each block, from any thread. Throws Interrupted when stopped.
[[nodiscard]] Tally run(const Simulator& simulator, const RunKey& key, unsigned threads,
                        const std::function<void(double share)>& progress = {});

}  // namespace foredraft::sim
