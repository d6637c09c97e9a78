// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

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
  template <class Storage>
  __device__ void load_matrices(const Storage* row, std::uint32_t (&to)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
  }
  template <class Storage>
  __device__ void load_transposed(const Storage* row, std::uint32_t (&to)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
  }
  template <class Storage>
  __device__ void multiply_add(const std::uint32_t (&a)[4], std::uint32_t b_low, std::uint32_t b_high,
                               float (&sum)[4]) {
    if constexpr (std::is_same_v<Storage, Half>) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
    } else {
      static_assert(std::is_same_v<Storage, Bfloat16>);
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
    }
  }
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
