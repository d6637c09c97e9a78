// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/tree.hpp"

/// Trees that grow while drafting: the drafter's confidences decide which nodes are verified [Li2024eagle2].
namespace foredraft::analytic {

/// [d - 1]: the contexts of nodes with children of depth d, by descending number of equal candidates. Contexts of nodes
/// are independent.
using DepthContexts = std::vector<std::vector<DraftContext>>;

/// The contexts of TreeGrowth with these mean accuracies and probabilities above 0. Throws DomainError for accuracies
/// that increase with rank, a spread outside of [0, 1] and a temperature outside of [0.01, 100].
[[nodiscard]] DepthContexts contexts_around(const HeadAccuracies& accuracies, double spread, double temperature);

/// Limits of a growing tree.
struct GrowthBudget {
  std::int64_t nodes;  ///< positions that the target verifies, including the root; 1 to 10^6
  std::int64_t depth;  ///< depths that are drafted; 0 to the size of the contexts
  std::int64_t width;  ///< expanded nodes per depth, and candidates of each; 1 to 1024
};

/// E[X] in tokens of a tree that grows by TreeGrowth: the sum of the acceptance probabilities of the verified nodes,
/// averaged over all combinations of contexts. nullopt for more than 2^16 combinations.
[[nodiscard]] std::optional<double> dynamic_tree_tokens(const DepthContexts& contexts, const GrowthBudget& budget);

/// Upper bound of E[X] over all trees that choose their nodes by context, verify `nodes` nodes on average and have at
/// most `width` children per node. Takes the nodes with the largest acceptance probabilities over all combinations of
/// contexts. Rounding (a mean-preserving spread of these) increases the bound by at most 1e-3, relative, for depths up
/// to 100.
[[nodiscard]] double dynamic_tree_bound(const DepthContexts& contexts, const GrowthBudget& budget);

}  // namespace foredraft::analytic
