// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/kernels/storage.hpp"

namespace foredraft::gpu_bench {

/// Interface of a kernel's thread to its block on the device; host_block.hpp has the same functions.
class DeviceBlock {
 public:
  __device__ unsigned thread() const { return threadIdx.x; }
  __device__ unsigned threads() const { return blockDim.x; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return gridDim.x; }
  __device__ std::byte* shared() const {
    extern __shared__ __align__(16) std::byte memory[];
    return memory;
  }
  __device__ void sync() { __syncthreads(); }
  template <class T>
  __device__ T shuffle_xor(T value, unsigned mask) {
    return __shfl_xor_sync(0xffffffffU, value, static_cast<int>(mask));
  }
  __device__ std::uint32_t atomic_add(std::uint32_t* address, std::uint32_t value) { return atomicAdd(address, value); }
  __device__ void fence() { __threadfence(); }
  template <class Pack>
  __device__ void copy_to_shared(const void* from, Pack* to) {
    constexpr unsigned copied = 16;
    static_assert(sizeof(Pack) % copied == 0);
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
#pragma unroll
    for (unsigned i = 0; i < sizeof(Pack); i += copied) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address + i),
                   "l"(static_cast<const std::byte*>(from) + i)
                   : "memory");
    }
  }
  __device__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  __device__ void wait_for_copies() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
  __device__ void wait_until(const std::uint32_t* address, std::uint32_t value) {
    std::uint32_t seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(address) : "memory");
    } while (seen != value);
  }
};

/// Blocks of a kernel that a multiprocessor should have registers for.
template <class Kernel>
constexpr unsigned min_blocks_of() {
  if constexpr (requires { Kernel::min_blocks; }) {
    return Kernel::min_blocks;
  } else {
    return 1;
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::max_threads, min_blocks_of<Kernel>())
    run_kernel(const __grid_constant__ Kernel kernel) {
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
