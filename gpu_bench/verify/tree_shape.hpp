// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace foredraft::gpu_bench {

/// Structure of a tree of drafted nodes, the same for every request of a batch. Node 0 is the root: the text so far,
/// without a token of its own.
class TreeShape {
 public:
  static constexpr std::int64_t max_nodes = 1023;

  /// `parents[i]` is the parent of node i + 1. Throws DomainError for a parent that is not an earlier node, and for
  /// more than max_nodes.
  explicit TreeShape(std::span<const std::int32_t> parents);

  /// Number of drafted nodes, without the root.
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(parents_.size()); }
  /// Number of drafted nodes on the longest path.
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::span<const std::int32_t> parents() const { return parents_; }

  /// For each node including the root; no_node if there is none. Siblings have ascending numbers.
  [[nodiscard]] std::span<const std::int32_t> first_children() const { return first_children_; }
  [[nodiscard]] std::span<const std::int32_t> next_siblings() const { return next_siblings_; }

 private:
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> first_children_;
  std::vector<std::int32_t> next_siblings_;
  std::int64_t depth_ = 0;
};

inline constexpr std::int32_t no_node = -1;

/// The tree in which the parent of node i + 1 is node i / 2, for i below `nodes`.
[[nodiscard]] TreeShape binary_tree(std::int64_t nodes);

}  // namespace foredraft::gpu_bench
