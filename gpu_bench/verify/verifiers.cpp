// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/verifiers.hpp"

#include <algorithm>

namespace foredraft::gpu_bench {

const std::vector<VerifierEntry>& verifier_registry() {
  static const std::vector<VerifierEntry> entries{
      {Verifier::fused_exact, "fused_exact", "rejection sampling from logits in one launch, every row read once",
       "Leviathan2023, Alg. 1", true, false},
      {Verifier::fused_exact_two_launches, "fused_exact_two_launches",
       "the same in two launches, in which no block waits for another", "Leviathan2023, Alg. 1", true, false},
      {Verifier::hf_reference, "hf_reference", "rejection sampling by the launches of the transformers library",
       "huggingface/transformers", true, true},
      {Verifier::wagner_exact, "wagner_exact", "rejection sampling by one tiled kernel after two softmaxes",
       "Wagner2024", true, true},
      {Verifier::wagner_sigmoid, "wagner_sigmoid",
       "the same with sigmoids of scaled logits: not the target's distribution", "Wagner2024, Eq. 5", true, true},
      {Verifier::greedy_match, "greedy_match", "accept the target's most probable token only", "Stern2018", false,
       false},
      {Verifier::top_beta, "top_beta", "accept one of the target's beta best, within a log-likelihood gap",
       "Xia2023, Eq. 8-10", false, false},
      {Verifier::typical_acceptance, "typical_acceptance", "accept with p > min(epsilon, delta exp(-entropy))",
       "Cai2024", false, false},
      {Verifier::tree_greedy, "tree_greedy", "the longest path of a drafted tree that the target would take greedily",
       "Cai2024", false, false},
      {Verifier::tree_sampled, "tree_sampled", "the path of a drafted tree along tokens sampled from the target",
       "Miao2024", false, false},
  };
  return entries;
}

const VerifierEntry& entry_of(Verifier verifier) { return verifier_registry().at(static_cast<std::size_t>(verifier)); }

const VerifierEntry* find_verifier(std::string_view name) {
  const auto& entries = verifier_registry();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

double floor_bytes(Verifier verifier, const VerificationShape& shape, latency::DataType type) {
  const std::int64_t rows = shape.gamma + 1 + (entry_of(verifier).reads_drafter ? shape.gamma : 0);
  return static_cast<double>(shape.batch) * static_cast<double>(rows) * static_cast<double>(shape.vocabulary) *
         static_cast<double>(latency::bytes_of(type));
}

}  // namespace foredraft::gpu_bench
