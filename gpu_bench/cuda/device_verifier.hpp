// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "gpu_bench/kernels/storage.hpp"
#include "gpu_bench/verify/logits.hpp"
#include "gpu_bench/verify/verifiers.hpp"

namespace foredraft::gpu_bench {

/// Whether the host waits for results, as some published verifiers do. A graph cannot.
enum class HostWaits { as_published, never };

/// Device memory of one batch, laid out as in verification.hpp and tree_verification.hpp.
struct VerifierMemory {
  void* target_logits;
  void* draft_logits;
  std::int32_t* drafts;
  std::int32_t* draft_counts;
  std::int32_t* node_tokens;
  const std::int32_t* first_children;  ///< of binary_tree(gamma)
  const std::int32_t* next_siblings;
  VerificationOutput output;
};

/// One call of a verifier.
struct VerifierCall {
  Verifier verifier;
  VerificationShape shape;
  VerifierMemory memory;
  Workspace workspace;  ///< verifier_workspace(), counters zero
  DrawStream draws;
  HostWaits waits;
};

/// Enqueues the launches of a call.
void launch_verifier(const VerifierCall& call, latency::DataType type, cudaStream_t stream);

/// Logits of this profile in the rows of target and drafter, which have the same ranking of tokens; each draft is the
/// first token of its row; full counts.
void launch_logits(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                   latency::DataType type, std::uint64_t seed, cudaStream_t stream);

/// The same for one storage type: Half, Bfloat16, float. Each is compiled in a separate file.
template <class Storage>
void launch_verifier_as(const VerifierCall& call, cudaStream_t stream);
template <class Storage>
void launch_logits_as(const LogitsProfile& profile, const VerificationShape& shape, const VerifierMemory& memory,
                      std::uint64_t seed, cudaStream_t stream);

}  // namespace foredraft::gpu_bench
