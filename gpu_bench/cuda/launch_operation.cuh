// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/cuda/launch_kernel.cuh"
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {

template <class Storage>
void launch_operation_as(const latency::Operation& operation, const KernelContext& context, cudaStream_t stream) {
  with_kernel<Storage>(operation, context, [stream](const auto& kernel) { launch_kernel(kernel, stream); });
}

template <class Storage>
void launch_contents_as(const latency::Buffer& buffer, void* memory, std::uint64_t seed, cudaStream_t stream) {
  with_content_kernel<Storage>(buffer, memory, seed, [stream](const auto& kernel) { launch_kernel(kernel, stream); });
}

}  // namespace foredraft::gpu_bench
