// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_verifier.hpp"

namespace foredraft::gpu_bench {

void launch_verifier(const VerifierCall& call, latency::DataType type, cudaStream_t stream) {
  switch (type) {
    case latency::DataType::fp16:
      return launch_verifier_as<Half>(call, stream);
    case latency::DataType::bf16:
      return launch_verifier_as<Bfloat16>(call, stream);
    case latency::DataType::fp32:
      return launch_verifier_as<float>(call, stream);
  }
}

void launch_logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                   latency::DataType type, std::uint64_t seed, cudaStream_t stream) {
  switch (type) {
    case latency::DataType::fp16:
      return launch_logits_as<Half>(profile, shape, memory, seed, stream);
    case latency::DataType::bf16:
      return launch_logits_as<Bfloat16>(profile, shape, memory, seed, stream);
    case latency::DataType::fp32:
      return launch_logits_as<float>(profile, shape, memory, seed, stream);
  }
}

}  // namespace foredraft::gpu_bench
