// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/token_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <numeric>

#include "analytic/numerics/stable_forms.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "core/numbers.hpp"
#include "foredraft/errors.hpp"

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
          fmt::format("invalid path=\"{}\" (must have its parent in the tree: its parent \"{}\" is missing)",
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

void check_head(std::span<const double> row, std::int64_t head) {
  if (row.empty()) throw DomainError(fmt::format("invalid accuracies[head {}] (must have at least one rank)", head));
  CompensatedSum total;
  for (std::size_t i = 0; i < row.size(); ++i) {
    check_probability(fmt::format("accuracies[head {}][rank {}]", head, i + 1), row[i]);
    total.add(row[i]);
  }
  constexpr double row_tolerance = 1e-10;  // of decimal numbers
  if (total.value() > 1.0 + row_tolerance) {
    throw DomainError(
        fmt::format("invalid sum of accuracies[head {}]={} (must be at most 1: at most one candidate of a head is "
                    "accepted; top-k accuracies count earlier ranks again: give their differences)",
                    head, short_number_text(total.value())));
  }
}

HeadAccuracies::HeadAccuracies(std::vector<std::vector<double>> rows) : rows_(std::move(rows)) {
  if (rows_.empty()) throw DomainError("invalid accuracies (must have at least one head)");
  for (std::size_t i = 0; i < rows_.size(); ++i) check_head(rows_[i], static_cast<std::int64_t>(i) + 1);
}

double HeadAccuracies::at(std::int64_t depth, std::int64_t rank) const {
  const auto row = head(depth);
  return static_cast<std::size_t>(rank) < row.size() ? row[static_cast<std::size_t>(rank)] : 0.0;
}

bool HeadAccuracies::falls() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const std::vector<double>& row) { return std::is_sorted(row.rbegin(), row.rend()); });
}

double HeadAccuracies::top(std::int64_t depth, std::int64_t count) const {
  CompensatedSum total;
  for (const double accuracy : head(depth).first(static_cast<std::size_t>(count))) total.add(accuracy);
  return std::min(total.value(), 1.0);
}

namespace {

/// P(X > d) for d = 0..depth.
std::vector<double> reached_depths(const TokenTree& tree, const HeadAccuracies& accuracies) {
  const std::vector<double> probability = node_probabilities(tree, accuracies);
  std::vector<CompensatedSum> sums(static_cast<std::size_t>(tree.depth()) + 1);
  for (std::size_t i = 0; i < probability.size(); ++i) {
    sums[static_cast<std::size_t>(tree.nodes()[i].depth)].add(probability[i]);
  }
  std::vector<double> reached;
  reached.reserve(sums.size());
  // Round-off may raise a depth above the one before it by a unit in the last place.
  for (const CompensatedSum& sum : sums) {
    reached.push_back(std::min(sum.value(), reached.empty() ? 1.0 : reached.back()));
  }
  return reached;
}

}  // namespace

std::vector<double> node_probabilities(const TokenTree& tree, const HeadAccuracies& accuracies) {
  std::vector<double> probability{1.0};
  probability.reserve(tree.nodes().size());
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    if (node.depth > accuracies.heads()) {
      throw DomainError(fmt::format("invalid path=\"{}\" (must have an accuracy: there are {} heads)",
                                    to_string(tree.path(static_cast<std::int64_t>(i))), accuracies.heads()));
    }
    probability.push_back(probability[static_cast<std::size_t>(node.parent)] * accuracies.at(node.depth, node.rank));
  }
  return probability;
}

double tokens_per_iteration(const TokenTree& tree, const HeadAccuracies& accuracies) {
  CompensatedSum tokens;
  for (const double probability : node_probabilities(tree, accuracies)) tokens.add(probability);
  return tokens.value();
}

std::vector<double> tokens_pmf(const TokenTree& tree, const HeadAccuracies& accuracies) {
  std::vector<double> pmf = reached_depths(tree, accuracies);
  for (std::size_t d = 0; d + 1 < pmf.size(); ++d) pmf[d] -= pmf[d + 1];
  return pmf;
}

double tokens_variance(const TokenTree& tree, const HeadAccuracies& accuracies) {
  return variance_about(tokens_per_iteration(tree, accuracies), tokens_pmf(tree, accuracies));
}

}  // namespace foredraft::analytic
