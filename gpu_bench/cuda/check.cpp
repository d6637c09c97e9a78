// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/run/profile_folder.hpp"

#include <fmt/core.h>

namespace foredraft::gpu_bench {
namespace {

std::string_view cuda_suggestion(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return "another process may hold the memory; a smaller model or batch needs less";
    case cudaErrorNoDevice:
      return "nvidia-smi shows whether the driver sees a device; in a container it must be passed in";
    case cudaErrorInsufficientDriver:
    case cudaErrorUnsupportedPtxVersion:
      return "the driver is older than this program: update it, or build with an older CUDA toolkit";
    case cudaErrorNoKernelImageForDevice:
      return "this program holds code for compute capability 8.0 and 9.0 and later ones";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
      return "a bug: compute-sanitizer names the kernel";
    case cudaErrorDevicesUnavailable:
      return "the device is in exclusive use by another process";
    default:
      return "the device may have been lost or reset: nvidia-smi and the kernel's log say more";
  }
}

}  // namespace

void check(cudaError_t result, std::string_view what, const std::source_location& where) {
  if (result == cudaSuccess) return;
  const std::string message =
      fmt::format("{}:{}: {}: {} ({}) - {}", where.file_name(), where.line(), what, cudaGetErrorName(result),
                  cudaGetErrorString(result), cuda_suggestion(result));
  if (result == cudaErrorMemoryAllocation) throw MemoryError(message);
  throw DeviceError(message);
}

void check_fits(std::string_view what, double needed_bytes, double device_bytes) {
  if (needed_bytes <= device_bytes) return;
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  throw MemoryError(
      fmt::format("{} needs {:.1f} GiB of memory, the device has {:.1f} GiB - choose a smaller model, batch or context",
                  what, needed_bytes / gib, device_bytes / gib));
}

std::string no_device_text(cudaError_t result, int driver, int runtime) {
  const auto version = [](int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); };
  if (driver == 0) return "no NVIDIA driver is installed, or it is not visible from here";
  if (result == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the driver offers CUDA {}, this program needs {} - update the driver, or build with an older toolkit",
        version(driver), version(runtime));
  }
  return fmt::format("no CUDA device is visible: {}", cudaGetErrorString(result));
}

}  // namespace foredraft::gpu_bench
