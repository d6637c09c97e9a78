// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/loop/loop_run.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::gpu_bench {

struct DeviceLoopRequest {
  std::string path;                         ///< of the rows, a file that does not exist
  std::vector<LoopCell> cells;              ///< to be run
  std::vector<latency::ModelShape> models;  ///< that the cells name
  double budget_s = 120.0;                  ///< for all of them
};

/// Runs decoding loops on the device and leaves their rows (loop_table.hpp), written again after every cell. Stretches
/// are replayed graphs or launches, as each cell says, timed by events. Progress goes line by line to `say`. Throws
/// DomainError for a file that is taken and where there is no device, DeviceError where the device gets lost; the rows
/// that were known are kept.
[[nodiscard]] LoopResult run_device_loop(const DeviceLoopRequest& request, const std::atomic<bool>& interrupted,
                                         const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
