// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

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
  __device__ void wait_until(const std::uint32_t* address, std::uint32_t value) {
    std::uint32_t seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(address) : "memory");
    } while (seen != value);
  }
};

}  // namespace foredraft::gpu_bench
