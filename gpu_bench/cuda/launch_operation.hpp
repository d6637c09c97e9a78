// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "gpu_bench/kernels/operation_kernels.hpp"

namespace foredraft::gpu_bench {

/// Enqueues any operation except a projection.
void launch_operation(const latency::Operation& operation, latency::DataType type, const KernelContext& context,
                      cudaStream_t stream);

/// Fills a buffer with its initial contents before a pass: random numbers, or NaN for activations.
void launch_contents(const latency::Buffer& buffer, void* memory, latency::DataType type, std::uint64_t seed,
                     cudaStream_t stream);

/// The same for one storage type: Half, Bfloat16, float. Each is compiled in a separate file.
template <class Storage>
void launch_operation_as(const latency::Operation& operation, const KernelContext& context, cudaStream_t stream);
template <class Storage>
void launch_contents_as(const latency::Buffer& buffer, void* memory, std::uint64_t seed, cudaStream_t stream);

}  // namespace foredraft::gpu_bench
