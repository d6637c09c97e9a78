#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace foredraft::gpu_bench {

/// A call of the driver, the runtime or a library failed.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws DeviceError `file:line: what: error (meaning) - suggestion` unless the call succeeded.
void check(cudaError_t result, std::string_view what,
           const std::source_location& where = std::source_location::current());

}  // namespace foredraft::gpu_bench
