// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "gpu_bench/kernels/operation_kernels.hpp"
#include "gpu_bench/verify/launch_verifier.hpp"
#include "gpu_bench/verify/logits.hpp"

/// What is launched on a device, in the storage type that the caller names.
namespace foredraft::gpu_bench {

/// Enqueues any operation except a projection.
void launch_operation(const latency::Operation& operation, latency::DataType type, const KernelContext& context,
                      cudaStream_t stream);

/// Fills a buffer with its initial contents before a pass: random numbers, or NaN for activations.
void launch_contents(const latency::Buffer& buffer, void* memory, latency::DataType type, std::uint64_t seed,
                     cudaStream_t stream);

/// Whether the host waits for results, as some published verifiers do. A graph cannot.
enum class HostWaits { as_published, never };

struct VerifierCall {
  Verifier verifier;
  VerificationShape shape;
  VerifierMemory memory;
  Workspace workspace;  ///< of the size in verification_cost(), counters zero
  DrawStream draws;
  HostWaits waits;
};

void launch_verifier(const VerifierCall& call, latency::DataType type, cudaStream_t stream);

/// Logits of this profile in the rows of target and drafter, which have the same ranking of tokens; each draft is the
/// first token of its row; full counts.
void launch_logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                   latency::DataType type, std::uint64_t seed, cudaStream_t stream);

/// The same for one storage type: Half, Bfloat16, float. Each is compiled in a file of its own.
template <class Storage>
struct DeviceLaunches {
  static void operation(const latency::Operation& operation, const KernelContext& context, cudaStream_t stream);
  static void contents(const latency::Buffer& buffer, void* memory, std::uint64_t seed, cudaStream_t stream);
  static void verifier(const VerifierCall& call, cudaStream_t stream);
  static void logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                     std::uint64_t seed, cudaStream_t stream);
};

}  // namespace foredraft::gpu_bench
