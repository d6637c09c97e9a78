// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/elementwise.hpp"

namespace foredraft::gpu_bench::published {

struct Sum {
  static constexpr float none = 0.0F;
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a + b; }
};
/// NaN if any is, as in the library.
struct Largest {
  static constexpr float none = -std::numeric_limits<float>::infinity();
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a > b || a != a ? a : b; }
};
struct Smallest {
  static constexpr float none = std::numeric_limits<float>::infinity();
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a < b || a != a ? a : b; }
};

/// Blocks that share a row of this length, by its length alone.
[[nodiscard]] inline unsigned reduce_splits(unsigned columns) {
  constexpr unsigned columns_per_block = 4096;
  return columns <= columns_per_block ? 1 : divide_up(columns, columns_per_block);
}

/// out[row] = Reduction over in[row, 0 .. columns). A row is split over blocks; the last of them puts the parts
/// together.
template <class Reduction, class In, class Out>
struct ReduceKernel {
  static constexpr unsigned max_threads = 256;

  const In* in;
  Out* out;
  float* parts;             ///< rows * reduce_splits(columns)
  std::uint32_t* counters;  ///< rows, zero
  unsigned rows;
  unsigned columns;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows * reduce_splits(columns),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>((threads / warp_lanes + 1) * sizeof(float))};
  }
  [[nodiscard]] latency::Work work() const {
    return {.read_bytes = static_cast<double>(rows) * columns * sizeof(In),
            .written_bytes = static_cast<double>(rows) * sizeof(Out),
            .flop = static_cast<double>(rows) * columns};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned splits = divide_up(block.blocks(), rows);
    const unsigned row = block.block() / splits;
    const unsigned split = block.block() % splits;
    const unsigned per_split = divide_up(columns, splits);
    const unsigned end = (split + 1) * per_split < columns ? (split + 1) * per_split : columns;
    const In* from = in + static_cast<std::int64_t>(row) * columns;
    float mine = Reduction::none;
    for (unsigned i = split * per_split + block.thread(); i < end; i += block.threads()) {
      mine = Reduction::of(mine, number(from[i]));
    }
    mine = over_block(block, mine);
    if (splits == 1) {
      if (block.thread() == 0) out[row] = stored<Out>(mine);
      return;
    }
    if (block.thread() == 0) parts[block.block()] = mine;
    auto* flag = reinterpret_cast<std::uint32_t*>(block.shared()) + block.threads() / warp_lanes;
    if (!comes_last(block, splits, counters + row, flag) || block.thread() != 0) return;
    mine = Reduction::none;
    for (unsigned i = row * splits; i < (row + 1) * splits; ++i) mine = Reduction::of(mine, parts[i]);
    out[row] = stored<Out>(mine);
  }

 private:
  template <class Block>
  FOREDRAFT_HOST_DEVICE static float over_block(Block& block, float value) {
    auto* of_warps = reinterpret_cast<float*>(block.shared());
    for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2)
      value = Reduction::of(value, block.shuffle_xor(value, mask));
    if (block.thread() % warp_lanes == 0) of_warps[block.thread() / warp_lanes] = value;
    block.sync();
    value = Reduction::none;
    for (unsigned warp = 0; warp < block.threads() / warp_lanes; ++warp) value = Reduction::of(value, of_warps[warp]);
    return value;
  }
};

}  // namespace foredraft::gpu_bench::published
