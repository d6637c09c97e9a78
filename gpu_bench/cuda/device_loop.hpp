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

/// Device work as arms of a measurement.
namespace foredraft::gpu_bench {

/// Resources of every sample: a stream, events, and the processor's clock frequency. Must outlive its arms.
struct Bench {
  Stream stream;
  EventTimer timer;
  const Nvml& nvml;
  std::function<void()> before_sample;  ///< may throw, which ends the measurement
};

/// An arm whose samples are the mean over calls, replayed as one graph or launched one by one: as many as last 100 us,
/// at least `min_calls`. `launch(call)` enqueues call number `call`.
[[nodiscard]] Arm device_arm(const std::string& name, const Bench& bench, latency::Launch how,
                             const std::function<void(int)>& launch, int min_calls = 1);

struct DeviceLoopRequest {
  std::string path;                         ///< of the rows; the file must not exist
  std::vector<LoopCell> cells;              ///< to be run
  std::vector<latency::ModelShape> models;  ///< named by the cells
  double budget_s = 120.0;                  ///< for all of them
};

/// Runs decoding loops on the device and writes their rows (loop_table.hpp), again after every cell. Timed by events;
/// replayed graphs or individual launches, depending on the cell. Reports progress line by line to `say`. Throws
/// DomainError if the file is taken or there is no device, DeviceError if the device is lost; completed rows are kept.
[[nodiscard]] LoopResult run_device_loop(const DeviceLoopRequest& request, const std::atomic<bool>& interrupted,
                                         const std::function<void(const std::string&)>& say);

}  // namespace foredraft::gpu_bench
