// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/storage.hpp"
#include "gpu_bench/verify/chain_path.hpp"
#include "gpu_bench/verify/fused_exact.hpp"
#include "gpu_bench/verify/launcher.hpp"
#include "gpu_bench/verify/published/hf_reference.hpp"
#include "gpu_bench/verify/published/wagner.hpp"
#include "gpu_bench/verify/top_beta.hpp"
#include "gpu_bench/verify/tree_path.hpp"
#include "gpu_bench/verify/typical_acceptance.hpp"
#include "gpu_bench/verify/verifiers.hpp"

namespace foredraft::gpu_bench {

/// Workspace of a call besides its inputs and outputs.
[[nodiscard]] WorkspaceSize verifier_workspace(Verifier verifier, const VerificationShape& shape,
                                               latency::DataType type);

/// Cost of a call, counted from its kernels for gamma drafts in every request.
[[nodiscard]] VerificationCost verification_cost(Verifier verifier, const VerificationShape& shape,
                                                 latency::DataType type);

// ---- One call of each verifier, with default parameters: on the host, counted, or on a device, depending on the
// launcher.

/// Scale of logits in the published code of wagner_sigmoid.
inline constexpr SigmoidScale published_scale{.low = -10'000.0F, .high = 10'000.0F};

/// Drafts in the form that every verifier takes. Trees have the gamma drafts of a request as the nodes of
/// binary_tree(gamma): node i + 1 is draft i, and its row is the target's row i + 1.
template <class Storage>
struct VerifierInput {
  VerificationInput<Storage> drafts;
  TreeVerificationInput<Storage> tree;
};

/// For callers: verifier_cost.hpp.
template <class Storage>
[[nodiscard]] WorkspaceSize verifier_workspace_as(Verifier verifier, const VerificationShape& shape) {
  switch (verifier) {
    case Verifier::fused_exact:
    case Verifier::fused_exact_two_launches:
      return fused_exact_workspace(shape);
    case Verifier::hf_reference:
      return hf_reference_workspace<Storage>(shape);
    case Verifier::wagner_exact:
      return wagner_exact_workspace<Storage>(shape);
    case Verifier::wagner_sigmoid:
      return wagner_sigmoid_workspace<Storage>(shape);
    case Verifier::greedy_match:
      return greedy_match_workspace(shape);
    case Verifier::top_beta:
      return top_beta_workspace(shape);
    case Verifier::typical_acceptance:
      return typical_acceptance_workspace(shape);
    case Verifier::tree_greedy:
      return tree_greedy_workspace(shape.batch, shape.gamma, shape.vocabulary);
    case Verifier::tree_sampled:
      return tree_sampled_workspace(shape.batch, shape.gamma, shape.vocabulary);
  }
  return {};
}

template <class Storage, class Launcher>
void launch_verifier(Verifier verifier, const VerifierInput<Storage>& input, const VerificationOutput& output,
                     const Workspace& workspace, Launcher& launcher) {
  switch (verifier) {
    case Verifier::fused_exact:
      return fused_exact(input.drafts, output, workspace, launcher);
    case Verifier::fused_exact_two_launches:
      return fused_exact_two_launches(input.drafts, output, workspace, launcher);
    case Verifier::hf_reference:
      return hf_reference(input.drafts, output, workspace, launcher);
    case Verifier::wagner_exact:
      return wagner_exact(input.drafts, output, workspace, launcher);
    case Verifier::wagner_sigmoid:
      return wagner_sigmoid(input.drafts, output, published_scale, workspace, launcher);
    case Verifier::greedy_match:
      return greedy_match(input.drafts, output, workspace, launcher);
    case Verifier::top_beta:
      return top_beta(TopBeta{}, input.drafts, output, workspace, launcher);
    case Verifier::typical_acceptance:
      return typical_acceptance(TypicalAcceptance{}, input.drafts, output, workspace, launcher);
    case Verifier::tree_greedy:
      return tree_greedy(input.tree, output, workspace, launcher);
    case Verifier::tree_sampled:
      return tree_sampled(input.tree, output, workspace, launcher);
  }
}

}  // namespace foredraft::gpu_bench
