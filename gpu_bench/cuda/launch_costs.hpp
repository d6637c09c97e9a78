// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::gpu_bench {

/// What launching costs, in microseconds; each the median of repeated runs of many launches of an empty kernel.
struct LaunchCosts {
  double stream_launch_us = 0.0;  ///< one more kernel behind others in a stream
  double graph_node_us = 0.0;     ///< one more kernel behind others in a graph
  double grid_sync_us = 0.0;      ///< one barrier over all blocks of a cooperative launch; 0: not offered
  double event_pair_us = 0.0;     ///< what two events with nothing between them show
  double read_back_us = 0.0;      ///< one token copied to the host and waited for
};

[[nodiscard]] LaunchCosts measure_launch_costs(int multiprocessors, bool cooperative);

}  // namespace foredraft::gpu_bench
