// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "gpu_bench/measure/measure.hpp"

namespace foredraft::gpu_bench {

/// Calls that make a sample, as calls_per_sample says of one that is tried; `call(i)` makes call number i.
[[nodiscard]] int calls_of_sample(const std::function<void(int)>& call, int rotated);

/// An arm whose sample is the mean of `calls` calls, by the steady clock. `before_sample` may throw to end the
/// measurement. The processor's clock is not known.
[[nodiscard]] Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int calls,
                          const std::function<void()>& before_sample);

}  // namespace foredraft::gpu_bench
