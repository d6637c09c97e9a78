// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/launch_verifier.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Calls use(number of the type's storage).
template <class Use>
auto with_storage(latency::DataType type, const Use& use) {
  switch (type) {
    case latency::DataType::fp16:
      return use(Half{});
    case latency::DataType::bf16:
      return use(Bfloat16{});
    case latency::DataType::fp32:
      break;
  }
  return use(0.0F);
}

template <class Storage>
VerificationCost counted(Verifier verifier, const VerificationShape& shape) {
  const auto batch = static_cast<unsigned>(shape.batch);
  const auto gamma = static_cast<unsigned>(shape.gamma);
  const auto vocabulary = static_cast<unsigned>(shape.vocabulary);
  const VerifierInput<Storage> input{.drafts = {.target_logits = nullptr,
                                                .draft_logits = nullptr,
                                                .drafts = nullptr,
                                                .draft_counts = nullptr,
                                                .draft_log_sum_exps = nullptr,
                                                .batch = batch,
                                                .gamma = gamma,
                                                .vocabulary = vocabulary,
                                                .draws = {}},
                                     .tree = {.target_logits = nullptr,
                                              .node_tokens = nullptr,
                                              .first_children = nullptr,
                                              .next_siblings = nullptr,
                                              .batch = batch,
                                              .nodes = gamma,
                                              .depth = static_cast<unsigned>(binary_tree(shape.gamma).depth()),
                                              .vocabulary = vocabulary,
                                              .draws = {}}};
  CountingLauncher launcher;
  launch_verifier(verifier, input, VerificationOutput{}, Workspace{}, launcher);
  return launcher.cost;
}

}  // namespace

WorkspaceSize verifier_workspace(Verifier verifier, const VerificationShape& shape, latency::DataType type) {
  return with_storage(type, [&](auto storage) { return verifier_workspace_as<decltype(storage)>(verifier, shape); });
}

VerificationCost verification_cost(Verifier verifier, const VerificationShape& shape, latency::DataType type) {
  return with_storage(type, [&](auto storage) { return counted<decltype(storage)>(verifier, shape); });
}

}  // namespace foredraft::gpu_bench
