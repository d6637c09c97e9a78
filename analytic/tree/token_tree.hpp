// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foredraft::analytic {

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

/// A tree of drafted tokens that the target verifies in one pass, the root included. A value: nodes by depth, then by
/// path, so equal trees are equal however they were built.
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
  [[nodiscard]] TreePath path(std::int64_t node) const;

  bool operator==(const TokenTree&) const = default;

 private:
  std::vector<TreeNode> nodes_{{.parent = -1, .rank = 0, .depth = 0}};
};

/// The tree whose drafted nodes are these, in any order. Throws DomainError, which names the path, on an empty path, a
/// negative rank, a path given twice and one whose parent is missing.
[[nodiscard]] TokenTree tree_from_paths(std::span<const TreePath> paths);

/// "0,1,2"
[[nodiscard]] std::string to_string(const TreePath& path);

}  // namespace foredraft::analytic
