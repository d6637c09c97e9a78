// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/words.hpp"

/// Trees with the maximum expected tokens within a budget. Nodes include the root. A tree has fewer nodes than the
/// budget if all other nodes have probability 0. Throws DomainError for a budget of more than a million nodes.
namespace foredraft::analytic {

struct TreeBudget {
  std::int64_t nodes;  ///< positions that the target verifies, including the root; >= 1
  std::int64_t depth;  ///< drafted tokens of one path; 0 to accuracies.heads()
};

/// No limit of the width.
inline constexpr std::int64_t any_width = std::numeric_limits<std::int64_t>::max();

/// A node in the order in which it is added to the tree.
struct GrownNode {
  std::int32_t parent;  ///< 0: the root; i: the i-th added node
  std::int32_t rank;
  std::int32_t depth;
  double probability;  ///< acceptance probability
};

/// The drafted nodes by descending probability; ties: smaller depth, earlier parent, lower rank. The root and the first
/// n - 1 nodes are an optimal tree of n nodes, because a node is never more probable than its parent or a sibling of
/// lower rank. O(n log n). [Cai2024, Sec. 2.3.3] Throws DomainError for accuracies that increase with rank.
///
/// `width`: maximum children of a node, and maximum nodes with children per depth. The tree is optimal within this
/// limit.
[[nodiscard]] std::vector<GrownNode> grow_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                                   std::int64_t width = any_width);
[[nodiscard]] TokenTree greedy_tree(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                    std::int64_t width = any_width);

/// The optimal tree by dynamic programming over (depth, children, nodes), also for accuracies that increase with rank.
/// The children of a node have consecutive ranks from 0. Extends [Chen2024, Sec. 3.1] to accuracies that differ between
/// depths. Takes O(depth * ranks * nodes^2) time and O(depth * ranks * nodes) memory; throws DomainError beyond 2^38
/// steps or 2^28 entries.
[[nodiscard]] TokenTree dynamic_program_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// The greedy tree if accuracies do not increase with rank, else the tree of the dynamic program.
[[nodiscard]] TokenTree best_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// A tree in which every node of depth d has widths[d] children, the first candidates of its head.
[[nodiscard]] TokenTree dense_tree(std::span<const std::int64_t> widths);
/// Nodes of dense_tree(): 1 + sum_d prod_{j<=d} widths[j].
[[nodiscard]] std::int64_t dense_nodes(std::span<const std::int64_t> widths);
/// Widths of the dense tree with the maximum expected tokens within the budget; empty: only the root.
[[nodiscard]] std::vector<std::int64_t> best_dense_widths(const HeadAccuracies& accuracies, const TreeBudget& budget);

// ---- Optimal size and depth of a tree: every node costs verification, every depth a forward pass of the drafter.

struct TreeCost {
  std::span<const double> verification;  ///< [n - 1]: time of one target pass over n positions, any unit, > 0
  double c;           ///< time of a draft step divided by verification[0], the time of a target step; >= 0
  Drafting drafting;  ///< autoregressive: one forward pass per depth; block: one in total
};

/// Time, in decode steps, of an iteration that verifies `nodes` positions of a tree of this depth.
[[nodiscard]] double tree_iteration_cost(const TreeCost& cost, std::int64_t nodes, std::int64_t depth);

struct PricedTree {
  TokenTree tree;
  double tokens;   ///< expected tokens of one iteration
  double speedup;  ///< tokens / tree_iteration_cost
};

/// The tree with the maximum speedup within the budget; ties: fewer nodes. The root without drafts (autoregressive
/// decoding, speedup 1) is a candidate [Chen2024]. Throws DomainError as best_tree() does, and if `verification` has
/// fewer entries than the budget has nodes.
[[nodiscard]] PricedTree best_priced_tree(const HeadAccuracies& accuracies, const TreeBudget& budget,
                                          const TreeCost& cost);

/// [n - 1]: 1 + growth * (n - 1) for n = 1..nodes: each position after the first adds `growth` >= 0 decode steps.
[[nodiscard]] std::vector<double> linear_verification(std::int64_t nodes, double growth);

}  // namespace foredraft::analytic
