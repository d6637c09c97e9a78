// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "gpu_bench/kernels/storage.hpp"

/// Sums and reductions within a block and between blocks, in a fixed order.
namespace foredraft::gpu_bench {

/// The sum over the lanes of each aligned group of `lanes`, a power of two, in all of them.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float lane_sum(Block& block, float value, unsigned lanes = warp_lanes) {
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2) value += block.shuffle_xor(value, mask);
  return value;
}

/// The sum over the threads of a block, in all of them. `scratch`: one float per warp, reusable after the next sync.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float block_sum(Block& block, float value, float* scratch) {
  value = lane_sum(block, value);
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = value;
  block.sync();
  float sum = 0.0F;
  for (unsigned warp = 0; warp < block.threads() / warp_lanes; ++warp) sum += scratch[warp];
  return sum;
}

/// Returns true in the block that arrives last of `parties`, which then sees the writes of the others. `counter` is
/// zero before and after. `flag`: a word of shared memory.
template <class Block>
FOREDRAFT_HOST_DEVICE inline bool comes_last(Block& block, unsigned parties, std::uint32_t* counter,
                                             std::uint32_t* flag) {
  block.fence();
  block.sync();
  if (block.thread() == 0) {
    const bool last = block.atomic_add(counter, 1U) == parties - 1;
    if (last) *counter = 0;
    *flag = last ? 1U : 0U;
  }
  block.sync();
  block.fence();
  return *flag != 0U;
}

FOREDRAFT_HOST_DEVICE constexpr unsigned divide_up(unsigned value, unsigned by) { return (value + by - 1) / by; }

/// Operation PickToken: a row is split over `splits` blocks; the last of them to finish picks among their picks.
template <class Storage, unsigned width_of_access>
struct PickTokenKernel {
  static constexpr unsigned max_threads = 256;

  const Storage* logits;
  std::int32_t* out;
  float* best_logits;          ///< rows * splits
  std::uint32_t* best_tokens;  ///< rows * splits
  std::uint32_t* counters;     ///< rows, zero
  unsigned rows;
  unsigned vocabulary;
  unsigned splits;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows * splits,
            .threads = threads,
            .shared_bytes = static_cast<unsigned>((2 * (threads / warp_lanes) + 1) * sizeof(float))};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    constexpr unsigned n = width_of_access;
    const unsigned row = block.block() / splits;
    const unsigned split = block.block() % splits;
    const unsigned per_split = divide_up(divide_up(vocabulary, n), splits) * n;
    const unsigned end = (split + 1) * per_split < vocabulary ? (split + 1) * per_split : vocabulary;
    const Storage* from = logits + static_cast<std::int64_t>(row) * vocabulary;

    Pick mine{-std::numeric_limits<float>::infinity(), no_token};
    for (unsigned i = split * per_split + block.thread() * n; i < end; i += block.threads() * n) {
      float values[n];
      load<n>(from + i, values);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < n; ++j) mine = better(mine, {values[j], i + j});
    }
    mine = best_of_block(block, mine);
    if (splits == 1) {
      if (block.thread() == 0) out[row] = token_id(mine);
      return;
    }
    if (block.thread() == 0) {
      best_logits[block.block()] = mine.logit;
      best_tokens[block.block()] = mine.token;
    }
    auto* flag = reinterpret_cast<std::uint32_t*>(block.shared()) + 2 * (block.threads() / warp_lanes);
    if (!comes_last(block, splits, counters + row, flag) || block.thread() != 0) return;
    mine = {-std::numeric_limits<float>::infinity(), no_token};
    for (unsigned i = row * splits; i < (row + 1) * splits; ++i) mine = better(mine, {best_logits[i], best_tokens[i]});
    out[row] = token_id(mine);
  }

 private:
  static constexpr std::uint32_t no_token = 0xffffffffU;

  struct Pick {
    float logit;
    std::uint32_t token;
  };

  /// Token 0 if every logit is NaN: the next embedding must find a row.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static std::int32_t token_id(const Pick& pick) {
    return pick.token == no_token ? 0 : static_cast<std::int32_t>(pick.token);
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE static Pick better(const Pick& a, const Pick& b) {
    return b.logit > a.logit || (b.logit == a.logit && b.token < a.token) ? b : a;
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE static Pick best_of_block(Block& block, Pick mine) {
    const unsigned warps = block.threads() / warp_lanes;
    auto* logits_of_warps = reinterpret_cast<float*>(block.shared());
    auto* tokens_of_warps = reinterpret_cast<std::uint32_t*>(block.shared()) + warps;
    for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) {
      const float logit = block.shuffle_xor(mine.logit, mask);
      const std::uint32_t token = block.shuffle_xor(mine.token, mask);
      mine = better(mine, {logit, token});
    }
    if (block.thread() % warp_lanes == 0) {
      logits_of_warps[block.thread() / warp_lanes] = mine.logit;
      tokens_of_warps[block.thread() / warp_lanes] = mine.token;
    }
    block.sync();
    for (unsigned warp = 0; warp < warps; ++warp) mine = better(mine, {logits_of_warps[warp], tokens_of_warps[warp]});
    return mine;
  }
};

}  // namespace foredraft::gpu_bench
