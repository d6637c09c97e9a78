// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace foredraft::gpu_bench {

/// Something needs more memory than is free. The run goes on without it.
class MemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user wants the run to end. Arms throw it; what was measured is kept.
struct Interrupted {};

}  // namespace foredraft::gpu_bench
