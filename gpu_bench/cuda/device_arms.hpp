// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "gpu_bench/cuda/nvml.hpp"
#include "gpu_bench/cuda/stream.hpp"
#include "gpu_bench/measure/measure.hpp"

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
/// `fewest_calls`.
/// `launch(call)` puts call number `call` into the stream.
[[nodiscard]] Arm graph_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch,
                            int fewest_calls = 1);

/// The same launched one by one.
[[nodiscard]] Arm eager_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch,
                            int fewest_calls = 1);

}  // namespace foredraft::gpu_bench
