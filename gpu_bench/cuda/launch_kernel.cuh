// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include "gpu_bench/cuda/device_block.cuh"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/kernels/storage.hpp"

namespace foredraft::gpu_bench {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::max_threads) run_kernel(const __grid_constant__ Kernel kernel) {
  DeviceBlock block;
  kernel(block);
}

template <class Kernel>
void launch_kernel(const Kernel& kernel, cudaStream_t stream) {
  const LaunchShape shape = kernel.shape();
  constexpr unsigned shared_bytes_without_request = 48 * 1024;
  if (shape.shared_bytes > shared_bytes_without_request) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&run_kernel<Kernel>),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)),
          "cudaFuncSetAttribute: shared memory");
  }
  run_kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(kernel);
  check(cudaGetLastError(), "kernel launch");
}

}  // namespace foredraft::gpu_bench
