// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_memory.hpp"

#include <fmt/core.h>

#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/run/run_errors.hpp"

namespace foredraft::gpu_bench {

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears it: the device is well, and a smaller request may succeed
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    throw MemoryError(fmt::format(
        "the device has {:.2f} of {:.2f} GiB free, a buffer needs {:.2f} GiB - choose a smaller model, batch or "
        "context, or end what else uses the device",
        static_cast<double>(free_bytes) / gib, static_cast<double>(total_bytes) / gib,
        static_cast<double>(bytes) / gib));
  }
  check(result, "cudaMalloc");
  memory_.reset(memory);
}

void DeviceMemory::Release::operator()(void* memory) const {
  cudaFree(memory);  // a destructor has nobody to tell; the next call reports a lost device
}

}  // namespace foredraft::gpu_bench
