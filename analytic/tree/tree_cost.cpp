// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_cost.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/numerics/stable_forms.hpp"
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

/// Offers the best tree of every size within the budget to consider(tokens, nodes, depth) and builds the last one that
/// it takes. Returns the depth that is reached.
template <typename Consider>
std::int64_t consider_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget, const Consider& consider,
                               TokenTree& best) {
  // The greedy order has the optimum of every size as a prefix.
  const std::vector<GrownNode> grown = grow_greedily(accuracies, budget);
  CompensatedSum tokens;
  tokens.add(1.0);
  std::size_t taken = 0;
  std::int64_t reached = 0;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    tokens.add(grown[i].probability);
    reached = std::max<std::int64_t>(reached, grown[i].depth);
    if (consider(tokens.value(), static_cast<std::int64_t>(i) + 2, reached)) taken = i + 1;
  }
  if (taken > 0) best = tree_of_first(std::span(grown).first(taken));
  return reached;
}

/// The same for accuracies that rise with the rank. A tree that does not use its depth was offered at a smaller one.
template <typename Consider>
std::int64_t consider_program(const HeadAccuracies& accuracies, const TreeBudget& budget, const Consider& consider,
                              TokenTree& best) {
  const TreeProgram program(accuracies, budget);
  const std::vector<double>& tokens = program.tokens();
  std::size_t taken = 0;
  for (std::size_t nodes = 2; nodes < tokens.size() && tokens[nodes] > 0.0; ++nodes) {
    if (consider(tokens[nodes], static_cast<std::int64_t>(nodes), budget.depth)) taken = nodes;
  }
  if (taken > 0) best = program.tree(taken);
  return budget.depth;
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
  std::int64_t best_nodes = 1;
  const auto consider = [&](double tokens, std::int64_t nodes, std::int64_t depth) {
    const double speedup = tokens / iteration_steps(cost, nodes, depth);
    if (speedup < best.speedup || (speedup == best.speedup && nodes >= best_nodes)) return false;
    best.tokens = tokens;
    best.speedup = speedup;
    best_nodes = nodes;
    return true;
  };
  for (std::int64_t depth = 1; depth <= budget.depth; ++depth) {
    const TreeBudget bounded{.nodes = budget.nodes, .depth = depth};
    const std::int64_t reached = accuracies.falls() ? consider_greedily(accuracies, bounded, consider, best.tree)
                                                    : consider_program(accuracies, bounded, consider, best.tree);
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
