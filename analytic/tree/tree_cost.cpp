// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_cost.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/numerics/compensated_sum.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_tree_cost(const TreeCost& cost, std::int64_t nodes) {
  check_at_least("entries of verification", static_cast<std::int64_t>(cost.verification.size()), nodes);
  for (std::size_t i = 0; i < cost.verification.size(); ++i) {
    check_positive(fmt::format("verification[{}]", i), cost.verification[i]);
  }
  check_nonnegative("c", cost.c);
}

double iteration_steps(const TreeCost& cost, std::int64_t nodes, std::int64_t depth) {
  return cost.verification[static_cast<std::size_t>(nodes - 1)] / cost.verification[0] +
         cost.c * static_cast<double>(draft_passes(depth, cost.drafting));
}

TokenTree tree_of_first(std::span<const GrownNode> grown) {
  std::vector<TreeLink> links;
  links.reserve(grown.size());
  for (const GrownNode& node : grown) links.push_back({.parent = node.parent, .rank = node.rank});
  return TokenTree(links);
}

}  // namespace

double tree_iteration_cost(const TreeCost& cost, std::int64_t nodes, std::int64_t depth) {
  check_at_least("nodes", nodes, 1);
  check_at_least("depth", depth, 0);
  check_tree_cost(cost, nodes);
  return iteration_steps(cost, nodes, depth);
}

PricedTree best_priced_tree(const HeadAccuracies& accuracies, const TreeBudget& budget, const TreeCost& cost) {
  check_budget(accuracies, budget);
  check_tree_cost(cost, budget.nodes);
  PricedTree best{.tree = {}, .tokens = 1.0, .speedup = 1.0};
  // For each depth the greedy order has the optimum of every size as a prefix.
  for (std::int64_t depth = 1; depth <= budget.depth; ++depth) {
    const std::vector<GrownNode> grown = grow_greedily(accuracies, {.nodes = budget.nodes, .depth = depth});
    CompensatedSum tokens;
    tokens.add(1.0);
    std::size_t best_count = 0;
    std::int64_t reached = 0;
    for (std::size_t i = 0; i < grown.size(); ++i) {
      tokens.add(grown[i].probability);
      reached = std::max<std::int64_t>(reached, grown[i].depth);
      const auto nodes = static_cast<std::int64_t>(i) + 2;
      const double speedup = tokens.value() / iteration_steps(cost, nodes, reached);
      if (speedup > best.speedup || (speedup == best.speedup && nodes < best.tree.size())) {
        best.tokens = tokens.value();
        best.speedup = speedup;
        best_count = i + 1;
      }
    }
    if (best_count > 0) best.tree = tree_of_first(std::span(grown).first(best_count));
    if (reached < depth) break;  // a deeper tree would be this one
  }
  return best;
}

std::vector<double> linear_verification(std::int64_t nodes, double growth) {
  check_at_least("nodes", nodes, 1);
  check_nonnegative("growth", growth);
  std::vector<double> time(static_cast<std::size_t>(nodes));
  for (std::size_t i = 0; i < time.size(); ++i) time[i] = 1.0 + growth * static_cast<double>(i);
  return time;
}

}  // namespace foredraft::analytic
