// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/words.hpp"

/// Trees of the most expected tokens within a budget. Nodes count the root; a tree may have fewer nodes than the budget
/// where no further node has any chance of being accepted. Sizes up to a million nodes, depth at most the heads.
namespace foredraft::analytic {

struct TreeBudget {
  std::int64_t nodes;  ///< positions that the target verifies, the root's included; >= 1
  std::int64_t depth;  ///< drafted tokens of one path; 0 to accuracies.heads()
};

/// A node in the order in which it joins the tree.
struct GrownNode {
  std::int32_t parent;  ///< 0 the root, i the i-th node grown
  std::int32_t rank;
  std::int32_t depth;
  double probability;  ///< that it is accepted
};

/// The drafted nodes of greatest probability, falling; ties: the shallower, then the one whose parent came first, then
/// the lower rank. The first n - 1 of them with the root are an optimal tree of n nodes for every n: a node is never
/// more probable than its parent or a sibling of lower rank, so the greatest n are connected. O(n log n).
/// [Cai2024, Sec. 2.3.3] DomainError for accuracies that rise with the rank.
[[nodiscard]] std::vector<GrownNode> grow_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget);
[[nodiscard]] TokenTree greedy_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// The same optimum by dynamic programming over (depth, children, nodes), for accuracies that may rise with rank; a
/// node has its children from rank 0 on, without a gap. After [Chen2024, Sec. 3.1], with accuracies that may differ
/// between depths. O(depth * ranks * nodes^2) time, at most 2^38, and O(depth * ranks * nodes) memory, at most 2^28
/// entries: DomainError beyond.
class TreeProgram {
 public:
  TreeProgram(const HeadAccuracies& accuracies, const TreeBudget& budget);

  /// [m]: the most expected tokens of a tree of m nodes; -infinity where there is none.
  [[nodiscard]] const std::vector<double>& tokens() const { return levels_.front().best; }
  /// A tree of tokens()[nodes].
  [[nodiscard]] TokenTree tree(std::size_t nodes) const;

 private:
  /// What can hang below a node of one depth: value[j][m] is the most expected tokens, the node's own included, of a
  /// subtree of m nodes in which it has exactly j children; best[m] the most over j.
  struct Level {
    std::vector<std::vector<double>> value;
    std::vector<double> best;
  };
  static Level childless(std::size_t nodes);
  static Level level_above(std::span<const double> head, const Level& below, std::size_t nodes);
  static std::size_t nodes_of_child(const Level& level, const Level& below, double accuracy, std::size_t j,
                                    std::size_t m);

  HeadAccuracies accuracies_;
  std::vector<Level> levels_;  ///< of depth 0, 1, ...
};
[[nodiscard]] TokenTree dynamic_program_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// The greedy tree where accuracies fall with the rank, else that of the dynamic program.
[[nodiscard]] TokenTree best_tree(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// Every node of depth d has the same number widths[d] of children, the first candidates of its head.
[[nodiscard]] TokenTree dense_tree(std::span<const std::int64_t> widths);
/// 1 + sum_d prod_{j<=d} widths[j]
[[nodiscard]] std::int64_t dense_nodes(std::span<const std::int64_t> widths);
/// 1 + sum_d prod_{j<=d} A_j(widths[j]), A the top-k accuracy.
[[nodiscard]] double dense_tokens(const HeadAccuracies& accuracies, std::span<const std::int64_t> widths);
/// Widths of the dense tree of the most expected tokens within the budget; empty: the root alone.
[[nodiscard]] std::vector<std::int64_t> best_dense_widths(const HeadAccuracies& accuracies, const TreeBudget& budget);

/// Throws DomainError unless 1 <= nodes <= 10^6 and 0 <= depth <= accuracies.heads().
void check_budget(const HeadAccuracies& accuracies, const TreeBudget& budget);

// ---- How large and how deep a tree pays: every node costs verification, every depth a pass of the drafter.

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
