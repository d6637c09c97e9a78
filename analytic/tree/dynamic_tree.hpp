// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/tree.hpp"

/// Trees that grow while drafting: which nodes are verified depends on the confidences of the iteration [Li2024eagle2].
namespace foredraft::analytic {

/// [d - 1]: the contexts of a node whose children are of depth d, by falling number of equal candidates. Nodes meet
/// contexts independently of each other.
using DepthContexts = std::vector<std::vector<DraftContext>>;

/// The contexts of TreeGrowth around these accuracies, with probabilities above 0. Throws DomainError for accuracies
/// that rise with the rank, a spread outside of [0, 1] and a temperature outside of [0.01, 100].
[[nodiscard]] DepthContexts contexts_around(const HeadAccuracies& accuracies, double spread, double temperature);

/// How far a tree grows.
struct GrowthBudget {
  std::int64_t nodes;  ///< positions that the target verifies, including the root; 1 to 10^6
  std::int64_t depth;  ///< depths that are drafted; 0 to the size of the contexts
  std::int64_t width;  ///< nodes of a depth that are expanded, and candidates of each; 1 to 1024
};

/// E[X] of a tree that grows as TreeGrowth says, in tokens: the mean over all combinations of contexts of the sum of
/// the verified nodes' accuracies. nullopt for more than 2^16 combinations.
[[nodiscard]] std::optional<double> dynamic_tree_tokens(const DepthContexts& contexts, const GrowthBudget& budget);

/// Upper bound of E[X] for all trees that choose their nodes by the contexts and verify `nodes` of them on average,
/// with at most `width` children each: the nodes of the largest accuracies over all combinations of contexts. At most
/// 1e-3 above it, relatively, for depths to 100: accuracies are rounded by a mean-preserving spread.
[[nodiscard]] double dynamic_tree_bound(const DepthContexts& contexts, const GrowthBudget& budget);

}  // namespace foredraft::analytic
