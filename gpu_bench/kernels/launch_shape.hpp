// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::gpu_bench {

/// Threads that shuffle with each other.
inline constexpr unsigned warp_lanes = 32;

/// How a kernel is launched: a row of blocks.
struct LaunchShape {
  unsigned blocks;
  unsigned threads;       ///< a block; a multiple of warp_lanes
  unsigned shared_bytes;  ///< a block
};

}  // namespace foredraft::gpu_bench
