// SPDX-License-Identifier: Apache-2.0
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

/// Throws MemoryError for what the whole device could not hold, before gigabytes of it are filled in vain.
void check_fits(std::string_view what, double needed_bytes, double device_bytes);

/// Why cudaGetDeviceCount, which returned `result`, found no device. Versions as the runtime counts them, 13000 for
/// 13.0; driver 0: there is none.
[[nodiscard]] std::string no_device_text(cudaError_t result, int driver, int runtime);

}  // namespace foredraft::gpu_bench
