// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {

void launch_operation(const Operation& operation, DataType type, const KernelContext& context, cudaStream_t stream) {
  switch (type) {
    case DataType::fp16:
      return launch_operation_as<Half>(operation, context, stream);
    case DataType::bf16:
      return launch_operation_as<Bfloat16>(operation, context, stream);
    case DataType::fp32:
      return launch_operation_as<float>(operation, context, stream);
  }
}

void launch_contents(const Buffer& buffer, void* memory, DataType type, std::uint64_t seed, cudaStream_t stream) {
  switch (type) {
    case DataType::fp16:
      return launch_contents_as<Half>(buffer, memory, seed, stream);
    case DataType::bf16:
      return launch_contents_as<Bfloat16>(buffer, memory, seed, stream);
    case DataType::fp32:
      return launch_contents_as<float>(buffer, memory, seed, stream);
  }
}

}  // namespace foredraft::gpu_bench
