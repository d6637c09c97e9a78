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
  std::string_view summary;
  std::string_view source;  ///< as `Key, Eq. n` of docs/references.bib, or what it is made after
  bool reads_drafter;       ///< its floor holds the drafter's rows too
  bool waits_for_host;      ///< the host reads something before it goes on: one call is no graph
};

/// In the order of the enumeration.
[[nodiscard]] const std::vector<VerifierEntry>& verifier_registry();
[[nodiscard]] const VerifierEntry& entry_of(Verifier verifier);

/// Nothing for an unknown name.
[[nodiscard]] const VerifierEntry* find_verifier(std::string_view name);

/// Bytes that no verification of this kind can do without: of every request 2 gamma + 1 rows of logits, or the target's
/// gamma + 1 where the drafter's are not asked.
[[nodiscard]] double floor_bytes(Verifier verifier, const VerificationShape& shape, latency::DataType type);

}  // namespace foredraft::gpu_bench
