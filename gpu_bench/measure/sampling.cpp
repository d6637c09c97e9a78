// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace foredraft::gpu_bench {

int calls_per_sample(double us_per_call, int rotated) {
  constexpr double shortest_sample_us = 100.0;
  constexpr double most_calls = 1000.0;
  const double wanted = std::clamp(std::ceil(shortest_sample_us / std::max(us_per_call, 0.01)), 1.0, most_calls);
  return (std::max(static_cast<int>(wanted), rotated) + rotated - 1) / rotated * rotated;
}

}  // namespace foredraft::gpu_bench
