// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "gpu_bench/verify/verification.hpp"
#include "latency/operations/program.hpp"

/// Every verifier by name. To launch one: launch_verifier.hpp.
namespace foredraft::gpu_bench {

enum class Verifier {
  fused_exact,
  fused_exact_two_launches,
  hf_reference,
  wagner_exact,
  wagner_sigmoid,
  greedy_match,
  top_beta,
  typical_acceptance,
  tree_greedy,
  tree_sampled,
};

struct VerifierEntry {
  Verifier verifier;
  std::string_view name;
  bool reads_drafter;   ///< its lower bound includes the drafter's rows
  bool waits_for_host;  ///< the host reads something before it continues: a call cannot be a graph
};

/// All verifiers, in the order of the enumeration.
[[nodiscard]] const std::vector<VerifierEntry>& verifier_registry();
[[nodiscard]] const VerifierEntry& entry_of(Verifier verifier);

/// Null for an unknown name.
[[nodiscard]] const VerifierEntry* find_verifier(std::string_view name);

/// Minimum bytes of a verification of this kind: for every request 2 gamma + 1 rows of logits, or the target's gamma +
/// 1 if the drafter's are not used.
[[nodiscard]] double floor_bytes(Verifier verifier, const VerificationShape& shape, latency::DataType type);

/// Cost of a call, counted from its kernels for gamma drafts in every request.
[[nodiscard]] VerificationCost verification_cost(Verifier verifier, const VerificationShape& shape,
                                                 latency::DataType type);

}  // namespace foredraft::gpu_bench
