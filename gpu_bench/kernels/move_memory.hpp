// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/reduce.hpp"

/// Kernels that do nothing but move memory, 16 bytes a thread at a time: what bandwidth is measured with.
namespace foredraft::gpu_bench {

struct alignas(16) MemoryPack {
  std::uint32_t words[4];
};

enum class MemoryMove { copy, read, write };

template <MemoryMove move>
struct MoveMemoryKernel {
  static constexpr unsigned max_threads = 512;
  static constexpr unsigned in_flight = 4;  ///< packs that a thread loads before it uses the first

  const MemoryPack* from;  ///< copy and read
  MemoryPack* to;          ///< copy and write; a read leaves one pack where all that it read adds up to `unlikely`
  std::int64_t packs;
  unsigned most_blocks;
  std::uint32_t unlikely;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    const std::int64_t per_block = static_cast<std::int64_t>(threads) * in_flight;
    const std::int64_t blocks = (packs + per_block - 1) / per_block;
    return {.blocks = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks),
            .threads = threads,
            .shared_bytes = 0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t stride = static_cast<std::int64_t>(block.blocks()) * block.threads();
    std::uint32_t sum = 0;
    for (std::int64_t first = static_cast<std::int64_t>(block.block()) * block.threads() + block.thread();
         first < packs; first += in_flight * stride) {
      MemoryPack pack[in_flight];
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < in_flight; ++u) {
        const auto word = static_cast<std::uint32_t>(first + u * stride);
        pack[u] = {{word, word, word, word}};
        if (move != MemoryMove::write && first + u * stride < packs) pack[u] = from[first + u * stride];
      }
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < in_flight; ++u) {
        if (move == MemoryMove::read) {
          sum += pack[u].words[0] ^ pack[u].words[1] ^ pack[u].words[2] ^ pack[u].words[3];
        } else if (first + u * stride < packs) {
          to[first + u * stride] = pack[u];
        }
      }
    }
    if (move == MemoryMove::read && sum == unlikely) to[0] = {{sum, sum, sum, sum}};
  }
};

}  // namespace foredraft::gpu_bench
