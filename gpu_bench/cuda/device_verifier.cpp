// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_verifier.hpp"

namespace foredraft::gpu_bench {

void launch_verifier(const VerifierCall& call, DataType type, cudaStream_t stream) {
  switch (type) {
    case DataType::fp16:
      return launch_verifier_as<Half>(call, stream);
    case DataType::bf16:
      return launch_verifier_as<Bfloat16>(call, stream);
    case DataType::fp32:
      return launch_verifier_as<float>(call, stream);
  }
}

void launch_logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                   DataType type, std::uint64_t seed, cudaStream_t stream) {
  switch (type) {
    case DataType::fp16:
      return launch_logits_as<Half>(profile, shape, memory, seed, stream);
    case DataType::bf16:
      return launch_logits_as<Bfloat16>(profile, shape, memory, seed, stream);
    case DataType::fp32:
      return launch_logits_as<float>(profile, shape, memory, seed, stream);
  }
}

}  // namespace foredraft::gpu_bench
