// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "gpu_bench/kernels/launch_shape.hpp"
#include "gpu_bench/kernels/storage.hpp"

/// Puts together what threads, warps and blocks know of a row. A part is a struct of 32-bit words, neutral when
/// default-made, with a function merged(a, b).
namespace foredraft::gpu_bench {

/// The part of the lane whose number differs by `mask`.
template <class Part, class Block>
FOREDRAFT_HOST_DEVICE inline Part shuffled_part(Block& block, const Part& part, unsigned mask) {
  constexpr unsigned count = sizeof(Part) / sizeof(std::uint32_t);
  static_assert(count * sizeof(std::uint32_t) == sizeof(Part));
  struct Words {
    std::uint32_t word[count];
  };
  auto words = std::bit_cast<Words>(part);
  FOREDRAFT_UNROLL
  for (unsigned i = 0; i < count; ++i) words.word[i] = block.shuffle_xor(words.word[i], mask);
  return std::bit_cast<Part>(words);
}

/// Merges over the threads of a block, in fixed trees; the same bits in all of them. `scratch`: a part a warp, free
/// again at the next sync.
template <class Part, class Block>
FOREDRAFT_HOST_DEVICE inline Part block_merged(Block& block, Part part, Part* scratch) {
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) part = merged(part, shuffled_part(block, part, mask));
  if (block.thread() % warp_lanes == 0) scratch[block.thread() / warp_lanes] = part;
  block.sync();
  part = scratch[0];
  for (unsigned warp = 1; warp < block.threads() / warp_lanes; ++warp) part = merged(part, scratch[warp]);
  return part;
}

}  // namespace foredraft::gpu_bench
