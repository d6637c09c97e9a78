// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_launch.hpp"

namespace foredraft::gpu_bench {

void launch_operation(const latency::Operation& operation, latency::DataType type, const KernelContext& context,
                      cudaStream_t stream) {
  with_storage(type, [&]<class Storage>() { DeviceLaunches<Storage>::operation(operation, context, stream); });
}

void launch_contents(const latency::Buffer& buffer, void* memory, latency::DataType type, std::uint64_t seed,
                     cudaStream_t stream) {
  with_storage(type, [&]<class Storage>() { DeviceLaunches<Storage>::contents(buffer, memory, seed, stream); });
}

void launch_verifier(const VerifierCall& call, latency::DataType type, cudaStream_t stream) {
  with_storage(type, [&]<class Storage>() { DeviceLaunches<Storage>::verifier(call, stream); });
}

void launch_logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                   latency::DataType type, std::uint64_t seed, cudaStream_t stream) {
  with_storage(type, [&]<class Storage>() { DeviceLaunches<Storage>::logits(profile, shape, memory, seed, stream); });
}

}  // namespace foredraft::gpu_bench
