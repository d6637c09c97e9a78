// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/words.hpp"

/// Trees with the most expected tokens within a budget. Nodes include the root; a tree has fewer nodes than the budget
/// if all further nodes have probability 0. DomainError for a budget of more than a million nodes.
namespace foredraft::analytic {

struct TreeBudget {
  std::int64_t nodes;  ///< positions that the target verifies, including the root; >= 1
  std::int64_t depth;  ///< drafted tokens of one path; 0 to accuracies.heads()
};

/// A tree's width without a bound.
inline constexpr std::int64_t any_width = std::numeric_limits<std::int64_t>::max();

/// A node in the order in which it is added to the tree.
struct GrownNode {
  std::int32_t parent;  ///< 0 the root, i the i-th node grown
  std::int32_t rank;
  std::int32_t depth;
  double probability;  ///< acceptance probability
};

/// The drafted nodes by falling probability; ties: smaller depth, earlier parent, lower rank. The first n - 1 and the
/// root are an optimal tree of n nodes: a node is never more probable than its parent or a sibling of lower rank. O(n
/// log n). [Cai2024, Sec. 2.3.3] DomainError for accuracies that rise with the rank.
///
/// `width`: maximum children of a node, and maximum nodes of a depth that have children. The tree is optimal within it.
[[nodiscard]] std::vector<GrownNode> grow_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                                   std::int64_t width = any_width);
[[nodiscard]] TokenTree greedy_tree(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                    std::int64_t width = any_width);

/// The optimal tree by dynamic programming over (depth, children, nodes), for accuracies that may rise with the rank;
/// the children of a node have ranks from 0 on, without a gap. After [Chen2024, Sec. 3.1], with accuracies that may
/// differ between depths. O(depth * ranks * nodes^2) time, at most 2^38, and O(depth * ranks * nodes) memory, at most
/// 2^28 entries: DomainError beyond.
[[nodiscard]] TokenTree dynamic_program_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// The greedy tree if accuracies do not rise with the rank, else that of the dynamic program.
[[nodiscard]] TokenTree best_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// Every node of depth d has the same number widths[d] of children, the first candidates of its head.
[[nodiscard]] TokenTree dense_tree(std::span<const std::int64_t> widths);
/// 1 + sum_d prod_{j<=d} widths[j]
[[nodiscard]] std::int64_t dense_nodes(std::span<const std::int64_t> widths);
/// Widths of the dense tree with the most expected tokens within the budget; empty: only the root.
[[nodiscard]] std::vector<std::int64_t> best_dense_widths(const HeadAccuracies& accuracies, const TreeBudget& budget);

// ---- Optimal size and depth of a tree: every node costs verification, every depth a forward pass of the drafter.

struct TreeCost {
  std::span<const double> verification;  ///< [n - 1]: time of one target pass over n positions, any unit, > 0
  double c;           ///< time of a draft step divided by that of a target step, >= 0; the target's is verification[0]
  Drafting drafting;  ///< autoregressive: one forward pass per depth; block: one in total
};

/// Time of an iteration that verifies `nodes` positions of a tree of this depth, in decode steps.
[[nodiscard]] double tree_iteration_cost(const TreeCost& cost, std::int64_t nodes, std::int64_t depth);

struct PricedTree {
  TokenTree tree;
  double tokens;   ///< expected tokens of one iteration
  double speedup;  ///< tokens / tree_iteration_cost
};

/// The tree with the maximum speedup within the budget; ties: fewer nodes. The root by itself (autoregressive decoding,
/// speedup 1) is a candidate [Chen2024]. Throws DomainError as best_tree() does, and if `verification` has fewer
/// entries than the budget has nodes.
[[nodiscard]] PricedTree best_priced_tree(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                          const TreeCost& cost);

/// 1 + growth * (n - 1) for n = 1..nodes: each further position adds `growth` >= 0 decode steps.
[[nodiscard]] std::vector<double> linear_verification(std::int64_t nodes, double growth);

}  // namespace foredraft::analytic
