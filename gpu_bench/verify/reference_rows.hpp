// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/reference.hpp"
#include "gpu_bench/verify/row_rules.hpp"

/// The same for the rules that judge by the target's rows alone; draft logits are not looked at. The margin is that of
/// decisions that rounding can turn: a comparison of two stored logits is exact, and where nothing else decides the
/// margin is infinite.
namespace foredraft::gpu_bench {

/// Accept drafts while they are the target's most probable token, then emit that token [Stern2018].
[[nodiscard]] ReferenceTokens reference_greedy_match(const ReferenceRequest& request);

/// Margin: the gap's distance from the tolerance, times the probability of the draft.
[[nodiscard]] ReferenceTokens reference_top_beta(const ReferenceRequest& request, const TopBeta& rule);

/// Margin: the distance of the draft's probability from the threshold.
[[nodiscard]] ReferenceTokens reference_typical_acceptance(const ReferenceRequest& request,
                                                           const TypicalAcceptance& rule);

/// A drafted tree of one request.
struct ReferenceTree {
  std::span<const double> target_logits;      ///< [nodes + 1, vocabulary]
  std::span<const std::int32_t> node_tokens;  ///< [nodes + 1]
  std::span<const std::int32_t> parents;      ///< [nodes], of node i + 1
  std::int64_t vocabulary;
  DrawStream draws;
  unsigned request;
};

/// From the root to the child that holds the most probable token, while there is one; then emit that token.
[[nodiscard]] ReferenceTokens reference_tree_greedy(const ReferenceTree& tree);

/// The same with a token drawn from the target at each node, by inverse CDF over rising tokens with draw
/// (replacement, node). Margin: the distance of the draw from the nearer end of the token's share.
[[nodiscard]] ReferenceTokens reference_tree_sampled(const ReferenceTree& tree);

}  // namespace foredraft::gpu_bench
