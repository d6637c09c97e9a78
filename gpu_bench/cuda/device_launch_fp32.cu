// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_launch.cuh"

namespace foredraft::gpu_bench {

template void launch_operation_as<float>(const latency::Operation&, const KernelContext&, cudaStream_t);
template void launch_contents_as<float>(const latency::Buffer&, void*, std::uint64_t, cudaStream_t);
template void launch_verifier_as<float>(const VerifierCall&, cudaStream_t);
template void launch_logits_as<float>(const LogitsProfile&, const VerificationShape&, const VerifierMemory&,
                                      std::uint64_t, cudaStream_t);

}  // namespace foredraft::gpu_bench
