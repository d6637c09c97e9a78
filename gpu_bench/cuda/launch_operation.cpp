// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {

void launch_operation(const latency::Operation& operation, latency::DataType type, const KernelContext& context,
                      cudaStream_t stream) {
  switch (type) {
    case latency::DataType::fp16:
      return launch_operation_as<Half>(operation, context, stream);
    case latency::DataType::bf16:
      return launch_operation_as<Bfloat16>(operation, context, stream);
    case latency::DataType::fp32:
      return launch_operation_as<float>(operation, context, stream);
  }
}

void launch_contents(const latency::Buffer& buffer, void* memory, latency::DataType type, std::uint64_t seed,
                     cudaStream_t stream) {
  switch (type) {
    case latency::DataType::fp16:
      return launch_contents_as<Half>(buffer, memory, seed, stream);
    case latency::DataType::bf16:
      return launch_contents_as<Bfloat16>(buffer, memory, seed, stream);
    case latency::DataType::fp32:
      return launch_contents_as<float>(buffer, memory, seed, stream);
  }
}

}  // namespace foredraft::gpu_bench
