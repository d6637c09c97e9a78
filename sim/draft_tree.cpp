// SPDX-License-Identifier: Apache-2.0
#include "sim/draft_tree.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

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

Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts) {
  FOREDRAFT_EXPECT(accepted_counts.size() == static_cast<std::size_t>(shape.gamma) + 1);
  Tally tally = empty_tally(shape.gamma, shape.convention);
  const std::uint64_t all = std::accumulate(accepted_counts.begin(), accepted_counts.end(), std::uint64_t{0});
  std::uint64_t surviving = all;  // iterations that accepted at least k drafts
  for (std::size_t k = 0; k < accepted_counts.size(); ++k) {
    const std::uint64_t ended = accepted_counts[k];
    if (ended > 0) {
      const auto drafts = static_cast<std::int64_t>(k);
      const std::int64_t emitted = std::min(drafts + 1, shape.max_tokens());
      tally.tokens_count[static_cast<std::size_t>(emitted - 1)] += ended;
      tally.units.add({emitted, 1, shape.gamma, shape.draft_passes(), drafts, std::min(drafts + 1, shape.gamma)},
                      static_cast<std::int64_t>(ended));
    }
    if (k + 1 == accepted_counts.size()) break;
    tally.drafted_at[k] = all;
    tally.tested_at[k] = surviving;
    surviving -= ended;
    tally.accepted_at[k] = surviving;
  }
  return tally;
}

}  // namespace foredraft::sim
