// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "gpu_bench/kernels/fill.hpp"

/// The launches from which a device's limits are measured.
namespace foredraft::gpu_bench {

/// Launch costs in microseconds, each the median of repeated measurements. Kernels are empty; the cost of one more is
/// the slope from 100 to 600 of them.
struct LaunchCosts {
  double stream_launch_us = 0.0;  ///< one more kernel in a stream
  double graph_node_us = 0.0;     ///< one more kernel in a graph
  double grid_sync_us = 0.0;      ///< one barrier over all blocks of a cooperative launch; 0: not supported
  double event_pair_us = 0.0;     ///< two events with nothing between them
  double read_back_us = 0.0;      ///< copying one token to the host and waiting for it
};

[[nodiscard]] LaunchCosts measure_launch_costs(int multiprocessors, bool cooperative);

/// Enqueues one move of the first `bytes`, a multiple of 16.
void launch_move(MemoryMove move, const void* from, void* to, std::int64_t bytes, std::int64_t multiprocessors,
                 cudaStream_t stream);

}  // namespace foredraft::gpu_bench
