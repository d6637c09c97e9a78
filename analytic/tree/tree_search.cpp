// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <queue>
#include <stdexcept>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// True if `a` leaves the queue after `b`.
struct LeavesLater {
  bool operator()(const GrownNode& a, const GrownNode& b) const {
    if (a.probability != b.probability) return a.probability < b.probability;
    if (a.depth != b.depth) return a.depth > b.depth;
    return a.parent != b.parent ? a.parent > b.parent : a.rank > b.rank;
  }
};

void check_budget(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  constexpr std::int64_t max_nodes = 1'000'000;
  check_range("nodes", budget.nodes, 1, max_nodes);
  check_range("depth", budget.depth, 0, accuracies.heads());
}

TokenTree tree_of(std::span<const GrownNode> grown) {
  std::vector<TreeLink> links;
  links.reserve(grown.size());
  for (const GrownNode& node : grown) links.push_back({.parent = node.parent, .rank = node.rank});
  return TokenTree(links);
}

}  // namespace

std::vector<GrownNode> grow_greedily(const HeadAccuracies& accuracies, const TreeBudget& budget, std::int64_t width) {
  check_budget(accuracies, budget);
  check_at_least("width", width, 1);
  if (!accuracies.falls()) {
    throw DomainError("invalid accuracies (must not rise with the rank for the greedy tree - use the dynamic program)");
  }
  std::vector<GrownNode> grown;
  std::vector<std::int64_t> expanded(static_cast<std::size_t>(budget.depth) + 1, 0);  // nodes of a depth with children
  std::priority_queue<GrownNode, std::vector<GrownNode>, LeavesLater> frontier;
  // A node of probability 0 would only cost time; its children and later siblings have probability 0 too.
  const auto offer = [&](std::int32_t parent, std::int32_t rank, std::int32_t depth, double parent_probability) {
    if (depth > budget.depth || rank >= width || static_cast<std::size_t>(rank) >= accuracies.head(depth).size())
      return;
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
    if (expanded[static_cast<std::size_t>(next.depth)]++ >= width) continue;
    offer(static_cast<std::int32_t>(grown.size()), 0, next.depth + 1, next.probability);
  }
  return grown;
}

TokenTree greedy_tree(const HeadAccuracies& accuracies, const TreeBudget& budget, std::int64_t width) {
  return tree_of(grow_greedily(accuracies, budget, width));
}

TokenTree best_tree(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  return accuracies.falls() ? greedy_tree(accuracies, budget) : dynamic_program_tree(accuracies, budget);
}

namespace {

constexpr double no_tree = -std::numeric_limits<double>::infinity();

/// next[m + s] = max over s of have[m] + accuracy * below[s]: adds a child with a subtree of s nodes; vectorized over
/// m.
void add_child(const std::vector<double>& have, double accuracy, const std::vector<double>& below,
               std::vector<double>& next) {
  const std::size_t size = have.size();
  for (std::size_t s = 1; s < size && below[s] != no_tree; ++s) {
    const double gain = accuracy * below[s];
    const double* from = have.data();
    double* to = next.data() + s;
    const std::size_t count = size - s;
    for (std::size_t m = 0; m < count; ++m) {
      const double tokens = from[m] + gain;
      to[m] = tokens > to[m] ? tokens : to[m];
    }
  }
}

class TreeProgram {
 public:
  TreeProgram(const HeadAccuracies& accuracies, const TreeBudget& budget);

  /// [m]: maximum expected tokens of a tree of m nodes; -infinity if there is none.
  [[nodiscard]] const std::vector<double>& tokens() const { return levels_.front().best; }
  /// A tree of tokens()[nodes].
  [[nodiscard]] TokenTree tree(std::size_t nodes) const;

 private:
  /// Subtrees at one depth: value[j][m] is the maximum expected tokens, including the node itself, of a subtree of m
  /// nodes whose root has exactly j children; best[m] the maximum over j.
  struct Level {
    std::vector<std::vector<double>> value;
    std::vector<double> best;
  };
  static Level childless(std::size_t nodes);
  static Level level_above(std::span<const double> head, const Level& below, std::size_t nodes);
  static std::size_t nodes_of_child(const Level& level, const Level& below, double accuracy, std::size_t j,
                                    std::size_t m);

  HeadAccuracies accuracies_;
  std::vector<Level> levels_;  ///< of depth 0, 1, ...
};

TreeProgram::Level TreeProgram::childless(std::size_t nodes) {
  Level level{.value = {std::vector<double>(nodes + 1, no_tree)}, .best = {}};
  level.value[0][1] = 1.0;
  level.best = level.value[0];
  return level;
}

/// The table of a node whose children are candidates of this head and have the table `below`.
TreeProgram::Level TreeProgram::level_above(std::span<const double> head, const Level& below, std::size_t nodes) {
  Level level = childless(nodes);
  // Candidates of probability 0 after the last positive one never pay.
  std::size_t useful = head.size();
  while (useful > 0 && !(head[useful - 1] > 0.0)) --useful;
  for (std::size_t j = 1; j <= std::min(useful, nodes - 1); ++j) {
    level.value.emplace_back(nodes + 1, no_tree);
    add_child(level.value[j - 1], head[j - 1], below.best, level.value[j]);
    for (std::size_t m = 0; m <= nodes; ++m) level.best[m] = std::max(level.best[m], level.value[j][m]);
  }
  return level;
}

/// Nodes of the subtree of child `j` (from 1) of a node with j children and m nodes in its optimum. The sum is formed
/// as in add_child(), so one of the splits gives the same double.
std::size_t TreeProgram::nodes_of_child(const Level& level, const Level& below, double accuracy, std::size_t j,
                                        std::size_t m) {
  for (std::size_t s = 1; s < m; ++s) {
    if (below.best[s] == no_tree) break;
    if (level.value[j - 1][m - s] + accuracy * below.best[s] == level.value[j][m]) return s;
  }
  throw std::logic_error("tree program: an optimum without its parts");
}

TreeProgram::TreeProgram(const HeadAccuracies& accuracies, const TreeBudget& budget) : accuracies_(accuracies) {
  check_budget(accuracies, budget);
  const auto nodes = static_cast<std::size_t>(budget.nodes);
  const auto depths = static_cast<std::size_t>(budget.depth);
  std::int64_t ranks = 1;
  for (std::int64_t d = 1; d <= budget.depth; ++d) ranks += static_cast<std::int64_t>(accuracies.head(d).size() + 1);
  check_range("depth * ranks * nodes", ranks * budget.nodes, 1, std::int64_t{1} << 28U);
  check_range("depth * ranks * nodes^2", ranks * budget.nodes * budget.nodes, 1, std::int64_t{1} << 38U);
  levels_.resize(depths + 1);
  levels_[depths] = childless(nodes);
  for (std::size_t d = depths; d-- > 0;) {
    levels_[d] = level_above(accuracies_.head(static_cast<std::int64_t>(d) + 1), levels_[d + 1], nodes);
  }
}

TokenTree TreeProgram::tree(std::size_t nodes) const {
  struct Pending {
    std::int32_t node;
    std::size_t depth;
    std::size_t nodes;
  };
  std::vector<TreeLink> links;
  std::vector<Pending> pending{{.node = 0, .depth = 0, .nodes = nodes}};
  for (std::size_t next = 0; next < pending.size(); ++next) {
    auto [node, depth, size] = pending[next];
    const Level& level = levels_[depth];
    std::size_t j = 0;
    while (level.value[j][size] != level.best[size]) ++j;
    for (; j > 0; --j) {
      const double accuracy = accuracies_.head(static_cast<std::int64_t>(depth) + 1)[j - 1];
      const std::size_t child = nodes_of_child(level, levels_[depth + 1], accuracy, j, size);
      links.push_back({.parent = node, .rank = static_cast<std::int32_t>(j - 1)});
      pending.push_back({.node = static_cast<std::int32_t>(links.size()), .depth = depth + 1, .nodes = child});
      size -= child;
    }
  }
  return TokenTree(links);
}

}  // namespace

TokenTree dynamic_program_tree(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  const TreeProgram program(accuracies, budget);
  // Fewer nodes than the budget only if all others have probability 0.
  const std::vector<double>& tokens = program.tokens();
  return program.tree(static_cast<std::size_t>(std::max_element(tokens.begin(), tokens.end()) - tokens.begin()));
}

std::int64_t dense_nodes(std::span<const std::int64_t> widths) {
  constexpr std::int64_t max_nodes = 1'000'000;
  std::int64_t level = 1;
  std::int64_t nodes = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    check_range(fmt::format("widths[{}]", i), widths[i], 1, max_nodes);
    level *= widths[i];
    nodes += level;
    check_range("nodes", nodes, 1, max_nodes);
  }
  return nodes;
}

TokenTree dense_tree(std::span<const std::int64_t> widths) {
  std::vector<TreeLink> links;
  links.reserve(static_cast<std::size_t>(dense_nodes(widths)) - 1);
  std::int32_t first = 0;
  std::int32_t last = 1;
  for (const std::int64_t width : widths) {
    for (std::int32_t parent = first; parent < last; ++parent) {
      for (std::int32_t rank = 0; rank < width; ++rank) links.push_back({.parent = parent, .rank = rank});
    }
    first = last;
    last = static_cast<std::int32_t>(links.size()) + 1;
  }
  return TokenTree(links);
}

std::vector<std::int64_t> best_dense_widths(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  check_budget(accuracies, budget);
  const auto maximum = static_cast<std::size_t>(budget.nodes - 1);  // below the root
  // For a node of one depth with at most b descendants: the maximum expected tokens, and the number of children that
  // reaches it. Below each of w children there is room for floor(b / w) - 1 nodes.
  std::vector<double> below(maximum + 1, 0.0);
  std::vector<std::vector<std::int32_t>> children(static_cast<std::size_t>(budget.depth),
                                                  std::vector<std::int32_t>(maximum + 1, 0));
  for (std::int64_t depth = budget.depth; depth >= 1; --depth) {
    std::vector<double> here(maximum + 1, 0.0);
    std::vector<std::int32_t>& chosen = children[static_cast<std::size_t>(depth) - 1];
    for (std::size_t width = 1; width <= std::min(accuracies.head(depth).size(), maximum); ++width) {
      const double top = accuracies.top(depth, static_cast<std::int64_t>(width));
      for (std::size_t b = width; b <= maximum; ++b) {
        const double tokens = top * (1.0 + below[b / width - 1]);
        if (tokens > here[b]) {
          here[b] = tokens;
          chosen[b] = static_cast<std::int32_t>(width);
        }
      }
    }
    below = std::move(here);
  }
  std::vector<std::int64_t> widths;
  std::size_t left = maximum;
  for (const std::vector<std::int32_t>& chosen : children) {
    if (chosen[left] == 0) break;
    widths.push_back(chosen[left]);
    left = left / static_cast<std::size_t>(widths.back()) - 1;
  }
  return widths;
}

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

/// Passes the best tree of every size to consider(tokens, nodes, depth) and builds the last one that it accepts.
/// Returns the depth of the largest tree.
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
  if (taken > 0) best = tree_of(std::span(grown).first(taken));
  return reached;
}

/// The same for accuracies that increase with rank; returns the depth of the budget. A tree that does not use the full
/// depth was considered before.
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
    if (reached < depth) break;  // a deeper tree would be the same
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
