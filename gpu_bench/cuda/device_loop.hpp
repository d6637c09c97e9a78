// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/nvml.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "latency/models/model_shape.hpp"

/// Things on the device as arms of a measurement.
namespace foredraft::gpu_bench {

/// What every sample needs: a stream, events, and the clock that the processor ran at. Outlives its arms.
struct Bench {
  Stream stream;
  EventTimer timer;
  const Nvml& nvml;
  std::function<void()> before_sample;  ///< may throw, which ends the measurement
};

/// Samples of one call each, taken as the mean over the calls of one replay: as many as last 100 us, at least
/// `min_calls`.
/// `launch(call)` puts call number `call` into the stream.
[[nodiscard]] Arm graph_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch,
                            int min_calls = 1);

/// The same launched one by one.
[[nodiscard]] Arm eager_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch,
                            int min_calls = 1);

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
