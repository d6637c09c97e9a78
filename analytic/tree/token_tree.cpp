// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/token_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <numeric>

#include "core/check.hpp"
#include "core/contract.hpp"

namespace foredraft {
namespace {

/// Indices of the links, grouped by parent and sorted by rank within a group; start[p] is where the group of p begins.
struct Siblings {
  std::vector<std::int32_t> nodes;
  std::vector<std::size_t> start;
};

Siblings group_siblings(std::span<const TreeLink> links) {
  Siblings siblings{.nodes = std::vector<std::int32_t>(links.size()), .start = {}};
  std::iota(siblings.nodes.begin(), siblings.nodes.end(), 1);
  const auto link = [&](std::int32_t node) -> const TreeLink& { return links[static_cast<std::size_t>(node - 1)]; };
  std::sort(siblings.nodes.begin(), siblings.nodes.end(), [&](std::int32_t a, std::int32_t b) {
    return link(a).parent != link(b).parent ? link(a).parent < link(b).parent : link(a).rank < link(b).rank;
  });
  siblings.start.assign(links.size() + 2, 0);
  for (const TreeLink& each : links) ++siblings.start[static_cast<std::size_t>(each.parent) + 1];
  std::partial_sum(siblings.start.begin(), siblings.start.end(), siblings.start.begin());
  return siblings;
}

void check_links(std::span<const TreeLink> links) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    check_range(fmt::format("parent of node {}", i + 1), links[i].parent, 0, static_cast<std::int64_t>(i));
    check_at_least(fmt::format("rank of node {}", i + 1), links[i].rank, 0);
  }
}

}  // namespace

TokenTree::TokenTree(std::span<const TreeLink> links) {
  check_links(links);
  const Siblings siblings = group_siblings(links);
  nodes_.reserve(links.size() + 1);
  std::vector<std::int32_t> link_of{0};  // of each node placed so far
  link_of.reserve(links.size() + 1);
  for (std::size_t parent = 0; parent < link_of.size(); ++parent) {
    const auto old = static_cast<std::size_t>(link_of[parent]);
    std::int32_t previous = -1;
    for (std::size_t i = siblings.start[old]; i < siblings.start[old + 1]; ++i) {
      const std::int32_t rank = links[static_cast<std::size_t>(siblings.nodes[i] - 1)].rank;
      if (rank == previous) {
        throw DomainError(fmt::format("invalid rank={} (must be given once among siblings)", rank));
      }
      previous = rank;
      nodes_.push_back({.parent = static_cast<std::int32_t>(parent), .rank = rank, .depth = nodes_[parent].depth + 1});
      link_of.push_back(siblings.nodes[i]);
    }
  }
  FOREDRAFT_ENSURE(nodes_.size() == links.size() + 1);
}

std::int64_t TokenTree::leaves() const {
  std::vector<bool> inner(nodes_.size(), false);
  for (const TreeNode& node : nodes_) {
    if (node.parent >= 0) inner[static_cast<std::size_t>(node.parent)] = true;
  }
  return std::count(inner.begin(), inner.end(), false);
}

TreePath TokenTree::path(std::int64_t node) const {
  TreePath path;
  for (auto i = static_cast<std::size_t>(node); nodes_[i].parent >= 0; i = static_cast<std::size_t>(nodes_[i].parent)) {
    path.push_back(nodes_[i].rank);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

TokenTree tree_from_paths(std::span<const TreePath> paths) {
  std::vector<TreePath> sorted(paths.begin(), paths.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const TreePath& a, const TreePath& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  std::map<TreePath, std::int32_t> index{{{}, 0}};
  std::vector<TreeLink> links;
  links.reserve(sorted.size());
  for (const TreePath& path : sorted) {
    if (path.empty()) throw DomainError("invalid path (must have at least one rank: the root is always there)");
    if (path.back() < 0) {
      throw DomainError(fmt::format("invalid path=\"{}\" (must hold ranks, from 0)", analytic::to_string(path)));
    }
    const auto parent = index.find(TreePath(path.begin(), path.end() - 1));
    if (parent == index.end()) {
      throw DomainError(
          fmt::format("invalid path=\"{}\" (must hang on a node of the tree: its parent \"{}\" is missing)",
                      analytic::to_string(path), analytic::to_string(TreePath(path.begin(), path.end() - 1))));
    }
    links.push_back({.parent = parent->second, .rank = path.back()});
    if (!index.emplace(path, static_cast<std::int32_t>(links.size())).second) {
      throw DomainError(fmt::format("invalid path=\"{}\" (must be given once)", analytic::to_string(path)));
    }
  }
  return TokenTree(links);
}

}  // namespace foredraft

namespace foredraft::analytic {

std::string to_string(const TreePath& path) { return fmt::format("{}", fmt::join(path, ",")); }

}  // namespace foredraft::analytic
