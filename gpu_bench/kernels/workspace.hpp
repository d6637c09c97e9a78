// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace foredraft::gpu_bench {

/// Where the blocks of one kernel meet. Kernels run one after another, so they share it.
struct Workspace {
  float* floats;
  std::uint32_t* counters;  ///< zero between kernels
};

struct WorkspaceSize {
  std::int64_t floats = 0;
  std::int64_t counters = 0;
};

}  // namespace foredraft::gpu_bench
