// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// Trees of drafted tokens that the target verifies in one pass, from accuracies by rank.
namespace foredraft {

/// One node: a drafted token, or (the first) the token that the target yields in any case.
struct TreeNode {
  std::int32_t parent;  ///< index of the node before it; -1 for the root
  std::int32_t rank;    ///< which candidate of its head it is, from 0; 0 for the root
  std::int32_t depth;   ///< tokens drafted up to it; 0 for the root
  bool operator==(const TreeNode&) const = default;
};

/// The ranks on the way from the root to a node: {0, 1} is the second candidate behind the first. The format of
/// Medusa's tree lists [Cai2024, Sec. 2.3.3].
using TreePath = std::vector<std::int32_t>;

/// Where a node hangs. Used to build trees: link i is node i + 1, and its parent is an earlier node.
struct TreeLink {
  std::int32_t parent;
  std::int32_t rank;
};

/// A tree of drafted tokens, the root included. A value: nodes by depth, then by path, so equal trees are equal however
/// they were built.
class TokenTree {
 public:
  /// The root alone: no draft.
  TokenTree() = default;

  /// Throws DomainError on a parent that is no earlier node, a negative rank, or siblings of one rank.
  explicit TokenTree(std::span<const TreeLink> links);

  [[nodiscard]] const std::vector<TreeNode>& nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
  [[nodiscard]] std::int64_t depth() const { return nodes_.back().depth; }
  /// Nodes without children, which is the number of candidate sequences.
  [[nodiscard]] std::int64_t leaves() const;
  /// 0 <= node < size().
  [[nodiscard]] TreePath path(std::int64_t node) const;

  bool operator==(const TokenTree&) const = default;

 private:
  std::vector<TreeNode> nodes_{{.parent = -1, .rank = 0, .depth = 0}};
};

/// The tree whose drafted nodes are these, in any order. Throws DomainError, which names the path, on an empty path, a
/// negative rank, a path given twice and one whose parent is missing.
[[nodiscard]] TokenTree tree_from_paths(std::span<const TreePath> paths);

/// Time of an iteration; without one the tree of the most tokens is the best.
struct TreePrice {
  std::vector<double>
      verification;        ///< [n - 1]: target pass over n positions, any unit, > 0; at least as many as nodes
  double c;                ///< draft/target time of one step, >= 0; the target's is verification[0]
  Drafting drafting;       ///< autoregressive: depth passes; block: one, whatever the depth
  std::string times = {};  ///< whose they are, for people; empty: as stated
};

struct TreeQuestion {
  /// [d - 1][i]: the probability that candidate i of depth d is the accepted token, given that the token before it was
  /// accepted [Cai2024, Sec. 2.3.3]; a row is at most 1 in total. Where no row rises with the rank the search takes
  /// O(nodes log nodes), else O(depth ranks nodes^2), and children are first candidates.
  std::vector<std::vector<double>> accuracies;
  std::int64_t nodes;  ///< most nodes, the root included; 1 to 10^6
  std::int64_t depth;  ///< most drafted tokens of one path; 0 to the rows of `accuracies`
  /// A tree to judge; nothing: find the best. Ranks that a row does not have count as 0.
  std::optional<TokenTree> given = {};
  std::optional<TreePrice> price = {};
};

/// One tree and what it does.
struct JudgedTree {
  TokenTree tree;
  double tokens;                         ///< expected, of one iteration
  double variance;                       ///< of them
  std::optional<double> iteration_cost;  ///< in steps of plain decoding
  std::optional<double> speedup;         ///< over plain decoding
};

struct TreeAnswer {
  TreeQuestion question;
  JudgedTree chosen;               ///< the given tree, or the best one
  std::optional<JudgedTree> best;  ///< beside a given tree: the best within its nodes and the depth
  JudgedTree dense;                ///< the tree of equal widths and most tokens within the nodes and the depth
  std::vector<std::int64_t> dense_widths;
  JudgedTree chain;                   ///< the best chain of first candidates within them
  std::vector<double> pmf;            ///< P(X = k) of the chosen tree at index k - 1
  std::vector<double> probabilities;  ///< that each of its nodes is accepted
  std::vector<std::string> notes;     ///< what a reader has to know of the accuracies
};

/// The tree of the most expected tokens [Cai2024, Sec. 2.3.3], with a price that of the greatest speedup [Chen2024],
/// beside simpler ones. Throws DomainError for accuracies, nodes, depths and times outside of the ranges above, and for
/// a given tree with a node that has no accuracy or no time.
[[nodiscard]] TreeAnswer best_tree(const TreeQuestion& question);

}  // namespace foredraft

#pragma GCC visibility pop
