// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_launch.cuh"

namespace foredraft::gpu_bench {

template void launch_operation_as<Bfloat16>(const latency::Operation&, const KernelContext&, cudaStream_t);
template void launch_contents_as<Bfloat16>(const latency::Buffer&, void*, std::uint64_t, cudaStream_t);
template void launch_verifier_as<Bfloat16>(const VerifierCall&, cudaStream_t);
template void launch_logits_as<Bfloat16>(const LogitsProfile&, const VerificationShape&, const VerifierMemory&,
                                         std::uint64_t, cudaStream_t);

}  // namespace foredraft::gpu_bench
