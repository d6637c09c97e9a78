// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "foredraft/words.hpp"

/// How large and how deep a tree pays: every node costs verification, every depth a pass of the drafter.
namespace foredraft::analytic {

struct TreeCost {
  std::span<const double> verification;  ///< [n - 1]: time of one target pass over n positions, any unit, > 0
  double c;                              ///< draft/target time of one step, >= 0; the target's is verification[0]
  Drafting drafting;                     ///< autoregressive: depth passes; block: one, whatever the depth
};

/// Time of an iteration that verifies `nodes` positions of a tree of this depth, in steps of plain decoding.
[[nodiscard]] double tree_iteration_cost(const TreeCost& cost, std::int64_t nodes, std::int64_t depth);

struct PricedTree {
  TokenTree tree;
  double tokens;   ///< expected, of one iteration
  double speedup;  ///< tokens / tree_iteration_cost
};

/// The tree of the greatest speedup of all trees within the budget; ties: fewer nodes. The root alone (plain decoding,
/// speedup 1) is one of them [Chen2024]. Throws DomainError, as best_tree() does, and where
/// `verification` has fewer entries than the budget nodes.
[[nodiscard]] PricedTree best_priced_tree(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                          const TreeCost& cost);

/// 1 + growth * (n - 1) for n = 1..nodes: each further position adds `growth` >= 0 of a step.
[[nodiscard]] std::vector<double> linear_verification(std::int64_t nodes, double growth);

}  // namespace foredraft::analytic
