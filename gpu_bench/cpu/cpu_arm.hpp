#pragma once

#include <functional>
#include <string>

#include "gpu_bench/measure/measure.hpp"

namespace foredraft::gpu_bench {

/// An arm whose sample is the mean of as many calls as calls_per_sample says, by the steady clock; `call(i)` makes
/// call number i. `before_sample` may throw to end the measurement. The processor's clock is not known.
[[nodiscard]] Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int rotated,
                          const std::function<void()>& before_sample);

}  // namespace foredraft::gpu_bench
