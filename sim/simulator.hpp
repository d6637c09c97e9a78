// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "core/parallel.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Maximum number of blocks; limited by the random number counter.
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

/// Throws DomainError for an empty run and for more than `maximum` blocks; the message calls the total `name`.
[[nodiscard]] BlockPlan plan_blocks(std::string_view name, std::uint64_t total, std::uint64_t per_block,
                                    std::uint64_t maximum = max_blocks);

/// 2^16 iterations per block, fewer if an iteration may take many draws.
[[nodiscard]] BlockPlan plan_iterations(std::uint64_t iterations, std::int64_t draws_per_iteration);

/// About 2^16 tokens per block.
[[nodiscard]] BlockPlan plan_sequences(std::uint64_t sequences, double tokens);

/// The random numbers of a run, and its stop token.
struct RunKey {
  std::uint64_t seed;
  std::uint64_t point;  ///< index of the point in its sweep, below 2^32
  StopToken stop = {};  ///< checked every few milliseconds; run_block then throws Interrupted
};

/// A prepared run, split into fixed blocks of work. Thread-safe. run_block(key, i) is a pure function of its arguments
/// unless stopped, and the result is the merged tally of all blocks, so it does not depend on threads or order.
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

/// A run with blocks that are simulated by `run_block(key, block, number of iterations or sequences in the block)`.
template <class RunBlock>
class BlockSimulator final : public Simulator {
 public:
  BlockSimulator(const BlockPlan& plan, RunBlock run_block) : plan_(plan), run_block_(std::move(run_block)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }
  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    return run_block_(key, block, plan_.in_block(block));
  }

 private:
  BlockPlan plan_;
  RunBlock run_block_;
};

template <class RunBlock>
[[nodiscard]] std::unique_ptr<Simulator> make_block_simulator(const BlockPlan& plan, RunBlock run_block) {
  return std::make_unique<BlockSimulator<RunBlock>>(plan, std::move(run_block));
}

/// Runs all blocks on at most `threads` threads (0: one per hardware thread). `progress` receives the finished fraction
/// after each block, from any thread. Throws Interrupted when stopped.
[[nodiscard]] Tally run(const Simulator& simulator, const RunKey& key, unsigned threads,
                        const std::function<void(double share)>& progress = {});

}  // namespace foredraft::sim
