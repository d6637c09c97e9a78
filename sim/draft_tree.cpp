// SPDX-License-Identifier: Apache-2.0
#include "sim/draft_tree.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"

namespace foredraft::sim {

DraftTree::DraftTree(std::span<const Branch> branches) : children_(branches.size() + 1) {
  std::vector<std::int64_t> depth{0};
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const Branch& branch = branches[i];
    check_range(fmt::format("parent of node {}", i + 1), branch.parent, 0, static_cast<std::int64_t>(i));
    check_at_least(fmt::format("rank of node {}", i + 1), branch.rank, 0);
    const auto parent = static_cast<std::size_t>(branch.parent);
    children_[parent].push_back({.rank = branch.rank, .node = static_cast<std::int32_t>(i + 1)});
    depth.push_back(depth[parent] + 1);
  }
  depth_ = *std::max_element(depth.begin(), depth.end());
  for (std::vector<Child>& siblings : children_) {
    std::sort(siblings.begin(), siblings.end(), [](const Child& a, const Child& b) { return a.rank < b.rank; });
    const auto twice = std::adjacent_find(siblings.begin(), siblings.end(),
                                          [](const Child& a, const Child& b) { return a.rank == b.rank; });
    if (twice != siblings.end()) {
      throw DomainError(fmt::format("invalid rank={} (must be given once among siblings)", twice->rank));
    }
  }
}

std::span<const DraftTree::Child> DraftTree::children(std::int32_t node) const {
  return children_[static_cast<std::size_t>(node)];
}

std::optional<std::int32_t> DraftTree::child(std::int32_t node, std::int64_t rank) const {
  for (const Child& child : children(node)) {
    if (child.rank == rank) return child.node;
  }
  return std::nullopt;
}

}  // namespace foredraft::sim
