// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/words.hpp"

#pragma GCC visibility push(default)

/// Trees of drafted tokens that the target verifies in one forward pass, built from accuracies by rank.
namespace foredraft {

/// One node: a drafted token, or at the root the token that the target always yields.
struct TreeNode {
  std::int32_t parent;  ///< index of the parent node; -1 for the root
  std::int32_t rank;    ///< rank of the candidate in its head's ranking, from 0; 0 for the root
  std::int32_t depth;   ///< drafted tokens from the root to it; 0 for the root
  bool operator==(const TreeNode&) const = default;
};

/// The ranks on the path from the root to a node: {0, 1} is the second candidate after the first. The format of
/// Medusa's tree lists [Cai2024, Sec. 2.3.3].
using TreePath = std::vector<std::int32_t>;

/// Parent and rank of a node, to build trees: link i is node i + 1, and its parent is an earlier node.
struct TreeLink {
  std::int32_t parent;
  std::int32_t rank;
};

/// A tree of drafted tokens including the root. A value type. Nodes are sorted by depth, then by path, so equal trees
/// compare equal.
class TokenTree {
 public:
  /// Only the root: no draft.
  TokenTree() = default;

  /// Throws DomainError for a parent that is not an earlier node, a negative rank, or siblings of the same rank.
  explicit TokenTree(std::span<const TreeLink> links);

  [[nodiscard]] const std::vector<TreeNode>& nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
  [[nodiscard]] std::int64_t depth() const { return nodes_.back().depth; }
  /// Number of nodes without children, which is the number of candidate sequences.
  [[nodiscard]] std::int64_t leaves() const;
  /// Ranks on the path to a node; 0 <= node < size().
  [[nodiscard]] TreePath path(std::int64_t node) const;

  bool operator==(const TokenTree&) const = default;

 private:
  std::vector<TreeNode> nodes_{{.parent = -1, .rank = 0, .depth = 0}};
};

/// Builds a tree from the paths of its drafted nodes, in any order. Throws DomainError, which names the path, for an
/// empty path, a negative rank, a duplicate path and a missing parent.
[[nodiscard]] TokenTree tree_from_paths(std::span<const TreePath> paths);

/// Time of an iteration. Without a price the best tree has the maximum expected tokens.
struct TreePrice {
  /// [n - 1]: time of a target pass over n positions, any unit, > 0; at least as many entries as nodes.
  std::vector<double> verification;
  double c;                ///< time of a draft step divided by verification[0], the time of a target step; >= 0
  Drafting drafting;       ///< autoregressive: one forward pass per depth; block: one in total
  std::string times = {};  ///< source of the times, for display; empty: given by the user
};

/// A context that a drafter may have at a node, with its accuracies and confidences.
struct DraftContext {
  double probability;  ///< of this context
  /// [i]: probability that candidate i is the accepted token, given that the node was accepted; at most 1 in total.
  std::vector<double> accuracies;
  std::vector<double> confidences;  ///< [i]: the drafter's estimate of accuracies[i], in [0, 1]
};

/// Trees that grow while drafting [Li2024eagle2]. A node's value is the product of the confidences on its path. At each
/// depth the drafter expands the `width` nodes with the largest values, each by its first `width` candidates. The
/// target verifies the nodes with the largest values of all depths; among equals, shallower nodes first.
///
/// Each node has its own context. Its accuracies are (1 - spread) times the question's accuracies, plus spread / j for
/// each of the first j candidates. j is random; its distribution makes the mean accuracies equal to the question's, and
/// j = 0 means no candidate. Confidences are accuracies^(1/temperature), normalized together with the probability of no
/// candidate.
struct TreeGrowth {
  std::int64_t width;                  ///< 1 to 1024; 10 in [Li2024eagle2]
  double spread = 0.0;                 ///< in [0, 1]; 0: equal contexts, 1: only j equally accurate candidates
  double temperature = 1.0;            ///< 0.01 to 100; 1: calibrated, below 1: overconfident, above 1: underconfident
  std::uint64_t iterations = 100'000;  ///< to simulate
  std::uint64_t seed = 1;
};

struct TreeQuestion {
  /// [d - 1][i]: probability that candidate i of depth d is the accepted token, given that the token before it was
  /// accepted [Cai2024, Sec. 2.3.3]; each depth sums to at most 1. The search takes O(nodes log nodes) if accuracies do
  /// not increase with rank; else O(depth ranks nodes^2), and the children of a node are its first candidates.
  std::vector<std::vector<double>> accuracies;
  std::int64_t nodes;  ///< maximum number of nodes including the root; 1 to 10^6
  std::int64_t depth;  ///< maximum drafted tokens of one path; 0 to the size of `accuracies`
  /// A tree to evaluate; empty: find the best. Ranks without an accuracy count as 0.
  std::optional<TokenTree> given = {};
  std::optional<TreePrice> price = {};
  /// If set, also simulate a tree that grows while drafting, with as many nodes as the chosen tree. Requires accuracies
  /// that do not increase with rank.
  std::optional<TreeGrowth> growth = {};
};

/// A tree with its expected tokens and speedup.
struct JudgedTree {
  TokenTree tree;
  double tokens;                         ///< expected tokens of one iteration
  double variance;                       ///< variance of the tokens of one iteration
  std::optional<double> iteration_cost;  ///< in decode steps of the target
  std::optional<double> speedup;         ///< over autoregressive decoding
};

/// A tree that grows while drafting, with as many nodes as the chosen tree.
struct DynamicTree {
  std::int64_t depth;           ///< drafted depth: of the chosen tree, or of the question if there is no price
  Estimate tokens;              ///< expected tokens of one iteration, simulated
  double variance;              ///< variance of the tokens of one iteration
  std::optional<double> exact;  ///< expected tokens by enumeration of all contexts; empty if there are too many
  double bound;                 ///< upper bound of the expected tokens with this mean number of nodes
  JudgedTree static_tree;       ///< the best tree with the same limits of nodes, depth and width that ignores contexts
  std::optional<double> iteration_cost;  ///< in decode steps of the target; all depths are drafted
  std::optional<Estimate> speedup;       ///< over autoregressive decoding
};

struct TreeAnswer {
  TreeQuestion question;
  JudgedTree chosen;               ///< the given tree, or the best one
  std::optional<JudgedTree> best;  ///< only with a given tree: the best tree within its nodes and the depth
  JudgedTree dense;                ///< the best tree of equal widths per depth within the nodes and the depth
  std::vector<std::int64_t> dense_widths;
  JudgedTree chain;                    ///< the best chain of first candidates within the nodes and the depth
  std::optional<DynamicTree> dynamic;  ///< if asked for
  std::vector<double> pmf;             ///< P(X = k) of the chosen tree at index k - 1
  std::vector<double> probabilities;   ///< acceptance probability of each node of the chosen tree
  std::vector<std::string> notes;      ///< caveats about the accuracies
};

/// The tree with the maximum expected tokens [Cai2024, Sec. 2.3.3] or, with a price, the maximum speedup [Chen2024],
/// and simpler trees for comparison. Throws DomainError for accuracies, nodes, depths and times outside of the ranges
/// above, and for a given tree that is deeper than `accuracies` or has more nodes than times.
[[nodiscard]] TreeAnswer best_tree(const TreeQuestion& question);

}  // namespace foredraft

#pragma GCC visibility pop
