// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace foredraft::gpu_bench {

/// Where the drafted nodes of a tree hang, one shape for every request of a batch. Node 0 is the root: what has been
/// emitted so far, without a token of its own.
class TreeShape {
 public:
  static constexpr std::int64_t max_nodes = 1023;

  /// `parents[i]` is the parent of node i + 1. Throws DomainError on a parent that is no earlier node, and on more than
  /// max_nodes.
  explicit TreeShape(std::span<const std::int32_t> parents);

  /// Drafted nodes, the root not counted.
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(parents_.size()); }
  /// Drafted nodes on the longest path.
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] std::span<const std::int32_t> parents() const { return parents_; }

  /// Of each node, the root included; no_node where there is none. Siblings come by rising number.
  [[nodiscard]] std::span<const std::int32_t> first_children() const { return first_children_; }
  [[nodiscard]] std::span<const std::int32_t> next_siblings() const { return next_siblings_; }

 private:
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> first_children_;
  std::vector<std::int32_t> next_siblings_;
  std::int64_t depth_ = 0;
};

inline constexpr std::int32_t no_node = -1;

/// Node i + 1 hangs on node i / 2, for i below `nodes`.
[[nodiscard]] TreeShape binary_tree(std::int64_t nodes);

}  // namespace foredraft::gpu_bench
