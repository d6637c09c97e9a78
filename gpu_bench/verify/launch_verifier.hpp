// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/fused_exact.hpp"
#include "gpu_bench/verify/published/hf_reference.hpp"
#include "gpu_bench/verify/published/wagner.hpp"
#include "gpu_bench/verify/tree_path.hpp"
#include "gpu_bench/verify/verifiers.hpp"

/// One call of each verifier, with default parameters: on the host, counted, or on a device, depending on the launcher.
namespace foredraft::gpu_bench {

/// Scale of logits in the published code of wagner_sigmoid.
inline constexpr SigmoidScale published_scale{.low = -10'000.0F, .high = 10'000.0F};

/// Memory of one batch, laid out as in verification.hpp and tree_path.hpp. Trees have the gamma drafts of a request as
/// the nodes of binary_tree(gamma): node i + 1 is draft i, and its row is the target's row i + 1.
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

template <class Storage, class Launcher>
void launch_verifier(Verifier verifier, const VerificationShape& shape, const VerifierMemory& memory,
                     const DrawStream& draws, WorkspaceCutter& cutter, Launcher& launcher) {
  const auto batch = static_cast<unsigned>(shape.batch);
  const auto gamma = static_cast<unsigned>(shape.gamma);
  const auto vocabulary = static_cast<unsigned>(shape.vocabulary);
  const auto* target_logits = static_cast<const Storage*>(memory.target_logits);
  const VerificationInput<Storage> drafts{.target_logits = target_logits,
                                          .draft_logits = static_cast<const Storage*>(memory.draft_logits),
                                          .drafts = memory.drafts,
                                          .draft_counts = memory.draft_counts,
                                          .batch = batch,
                                          .gamma = gamma,
                                          .vocabulary = vocabulary,
                                          .draws = draws};
  const TreeVerificationInput<Storage> tree{.target_logits = target_logits,
                                            .node_tokens = memory.node_tokens,
                                            .first_children = memory.first_children,
                                            .next_siblings = memory.next_siblings,
                                            .batch = batch,
                                            .nodes = gamma,
                                            .depth = static_cast<unsigned>(binary_tree(shape.gamma).depth()),
                                            .vocabulary = vocabulary,
                                            .draws = draws};
  switch (verifier) {
    case Verifier::fused_exact:
      return fused_exact(drafts, memory.output, cutter, launcher);
    case Verifier::fused_exact_two_launches:
      return fused_exact_two_launches(drafts, memory.output, cutter, launcher);
    case Verifier::hf_reference:
      return hf_reference(drafts, memory.output, cutter, launcher);
    case Verifier::wagner_exact:
      return wagner_exact(drafts, memory.output, cutter, launcher);
    case Verifier::wagner_sigmoid:
      return wagner_sigmoid(drafts, memory.output, published_scale, cutter, launcher);
    case Verifier::greedy_match:
      return greedy_match(drafts, memory.output, cutter, launcher);
    case Verifier::top_beta:
      return top_beta(TopBeta{}, drafts, memory.output, cutter, launcher);
    case Verifier::typical_acceptance:
      return typical_acceptance(TypicalAcceptance{}, drafts, memory.output, cutter, launcher);
    case Verifier::tree_greedy:
      return tree_greedy(tree, memory.output, cutter, launcher);
    case Verifier::tree_sampled:
      return tree_sampled(tree, memory.output, cutter, launcher);
  }
}

}  // namespace foredraft::gpu_bench
