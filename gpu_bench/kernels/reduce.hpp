// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/launch_shape.hpp"
#include "gpu_bench/kernels/storage.hpp"

/// Sums and agreements within a block and between blocks, in a fixed order.
namespace foredraft::gpu_bench {

/// The sum over the lanes of each aligned group of `lanes`, a power of two, in all of them.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float lane_sum(Block& block, float value, unsigned lanes = warp_lanes) {
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2) value += block.shuffle_xor(value, mask);
  return value;
}

/// The sum over the threads of a block, in all of them. `scratch`: one float a warp, free again at the next sync.
template <class Block>
FOREDRAFT_HOST_DEVICE inline float block_sum(Block& block, float value, float* scratch) {
  value = lane_sum(block, value);
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = value;
  block.sync();
  float sum = 0.0F;
  for (unsigned warp = 0; warp < block.threads() / warp_lanes; ++warp) sum += scratch[warp];
  return sum;
}

/// True in the block that comes last of `parties`, which then sees what the others wrote before. `counter` is zero
/// before and after. `flag`: a word of shared memory.
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

}  // namespace foredraft::gpu_bench
