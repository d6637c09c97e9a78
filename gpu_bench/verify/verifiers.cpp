// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/verifiers.hpp"

#include <algorithm>

#include "gpu_bench/kernels/operation_kernels.hpp"
#include "gpu_bench/verify/launch_verifier.hpp"

namespace foredraft::gpu_bench {

const std::vector<VerifierEntry>& verifier_registry() {
  static const std::vector<VerifierEntry> entries{
      {Verifier::fused_exact, "fused_exact", true, false},
      {Verifier::fused_exact_two_launches, "fused_exact_two_launches", true, false},
      {Verifier::hf_reference, "hf_reference", true, true},
      {Verifier::wagner_exact, "wagner_exact", true, true},
      {Verifier::wagner_sigmoid, "wagner_sigmoid", true, true},
      {Verifier::greedy_match, "greedy_match", false, false},
      {Verifier::top_beta, "top_beta", false, false},
      {Verifier::typical_acceptance, "typical_acceptance", false, false},
      {Verifier::tree_greedy, "tree_greedy", false, false},
      {Verifier::tree_sampled, "tree_sampled", false, false},
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

VerificationCost verification_cost(Verifier verifier, const VerificationShape& shape, latency::DataType type) {
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  with_storage(type, [&]<class Storage>() {
    launch_verifier<Storage>(verifier, shape, VerifierMemory{}, DrawStream{}, cutter, launcher);
  });
  launcher.cost.workspace = cutter.size();
  return launcher.cost;
}

}  // namespace foredraft::gpu_bench
