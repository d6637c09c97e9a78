// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <queue>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Whether `a` leaves the queue after `b`.
struct LeavesLater {
  bool operator()(const GrownNode& a, const GrownNode& b) const {
    if (a.probability != b.probability) return a.probability < b.probability;
    if (a.depth != b.depth) return a.depth > b.depth;
    return a.parent != b.parent ? a.parent > b.parent : a.rank > b.rank;
  }
};

}  // namespace

void check_budget(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  constexpr std::int64_t most_nodes = 1'000'000;
  check_range("nodes", budget.nodes, 1, most_nodes);
  check_range("depth", budget.depth, 0, accuracies.heads());
}

std::vector<GrownNode> grow_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  check_budget(accuracies, budget);
  if (!accuracies.falls()) {
    throw DomainError("invalid accuracies (must fall with rank for the greedy tree; the dynamic program needs not)");
  }
  std::vector<GrownNode> grown;
  std::priority_queue<GrownNode, std::vector<GrownNode>, LeavesLater> frontier;
  // A node of no chance would only cost time; so would its children and later siblings, which have none either.
  const auto offer = [&](std::int32_t parent, std::int32_t rank, std::int32_t depth, double parent_probability) {
    if (depth > budget.depth || static_cast<std::size_t>(rank) >= accuracies.head(depth).size()) return;
    const double probability = parent_probability * accuracies.head(depth)[static_cast<std::size_t>(rank)];
    if (probability > 0.0) frontier.push({.parent = parent, .rank = rank, .depth = depth, .probability = probability});
  };
  offer(0, 0, 1, 1.0);
  while (!frontier.empty() && static_cast<std::int64_t>(grown.size()) + 1 < budget.nodes) {
    const GrownNode next = frontier.top();
    frontier.pop();
    grown.push_back(next);
    const double parent_probability =
        next.parent == 0 ? 1.0 : grown[static_cast<std::size_t>(next.parent) - 1].probability;
    offer(next.parent, next.rank + 1, next.depth, parent_probability);
    offer(static_cast<std::int32_t>(grown.size()), 0, next.depth + 1, next.probability);
  }
  return grown;
}

TokenTree greedy_tree(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  std::vector<TreeLink> links;
  for (const GrownNode& node : grow_greedily(accuracies, budget)) {
    links.push_back({.parent = node.parent, .rank = node.rank});
  }
  return TokenTree(links);
}

TokenTree best_tree(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  return accuracies.falls() ? greedy_tree(accuracies, budget) : dynamic_program_tree(accuracies, budget);
}

}  // namespace foredraft::analytic
