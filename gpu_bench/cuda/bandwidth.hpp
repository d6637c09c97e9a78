// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/kernels/fill.hpp"

namespace foredraft::gpu_bench {

/// Moves `bytes` repeatedly. A sweep of sizes shows the bandwidth of the second-level cache, the transition and the
/// bandwidth of memory.
class MemoryMover {
 public:
  /// Allocates `max_bytes` of random contents, twice for copies.
  MemoryMover(std::int64_t max_bytes, std::int64_t multiprocessors);

  /// Enqueues one move of the first `bytes`, a multiple of 16.
  void launch(MemoryMove move, std::int64_t bytes, const Stream& stream) const;

 private:
  DeviceMemory from_;
  DeviceMemory to_;
  unsigned max_blocks_;
};

/// Sizes of a sweep: powers of two from 1 MiB to at most 16 times the second-level cache, with intermediate sizes
/// around it.
[[nodiscard]] std::vector<std::int64_t> sweep_sizes(std::int64_t l2_bytes);

}  // namespace foredraft::gpu_bench
