// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foredraft/tree.hpp"

namespace foredraft::analytic {

using foredraft::TokenTree;
using foredraft::tree_from_paths;
using foredraft::TreeLink;
using foredraft::TreeNode;
using foredraft::TreePath;

/// The path as text, "0,1,2".
[[nodiscard]] std::string to_string(const TreePath& path);

/// Throws DomainError unless there is at least one entry, all lie in [0, 1] and their sum is at most 1. The message
/// counts heads and ranks from 1.
void check_head(std::span<const double> row, std::int64_t head);

/// Marginal accuracies a_d(i): the probability that candidate i of the head for depth d is the accepted token, given
/// that its parent was accepted. Candidates of one head exclude each other, and depths are independent [Cai2024, Sec.
/// 2.3.3; Chen2024, Sec. 3.1]. Depths count from 1, ranks from 0 (the most probable).
class HeadAccuracies {
 public:
  /// One head per depth, each of any length. Throws DomainError as check_head() does.
  explicit HeadAccuracies(std::vector<std::vector<double>> rows);

  /// Number of depths with accuracies.
  [[nodiscard]] std::int64_t heads() const { return static_cast<std::int64_t>(rows_.size()); }
  [[nodiscard]] std::span<const double> head(std::int64_t depth) const {
    return rows_[static_cast<std::size_t>(depth - 1)];
  }
  /// Accuracy of one candidate; 0 for ranks that the head does not have.
  [[nodiscard]] double at(std::int64_t depth, std::int64_t rank) const;
  /// True if accuracies do not increase with rank. Measured accuracies may increase.
  [[nodiscard]] bool falls() const;

  /// Probability that the accepted token is one of the first `count` candidates, count <= head(depth).size().
  [[nodiscard]] double top(std::int64_t depth, std::int64_t count) const;

 private:
  std::vector<std::vector<double>> rows_;
};

// ---- Tokens of an iteration that drafts a tree: the target's token (the root) and the longest accepted path, X = 1 +
// accepted depth. Ranks without an accuracy are never accepted. Every function throws DomainError if the tree is deeper
// than the accuracies.

/// f(v), the acceptance probability of every node: the product of the accuracies on its path; 1 for the root.
[[nodiscard]] std::vector<double> node_probabilities(const TokenTree& tree, const HeadAccuracies& accuracies);

/// E[X] = sum_v f(v), in tokens. [Chen2024, Prop. 3.4]
[[nodiscard]] double tokens_per_iteration(const TokenTree& tree, const HeadAccuracies& accuracies);

/// P(X = k) at index k - 1; P(X > d) is the sum of f over the nodes of depth d, which are mutually exclusive.
[[nodiscard]] std::vector<double> tokens_pmf(const TokenTree& tree, const HeadAccuracies& accuracies);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(const TokenTree& tree, const HeadAccuracies& accuracies);

}  // namespace foredraft::analytic
