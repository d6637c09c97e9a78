// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "analytic/tree/tree_search.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr double no_tree = -std::numeric_limits<double>::infinity();

/// next[m + s] = max over s of have[m] + accuracy * below[s]: one more child with s nodes. The form of the innermost
/// loop lets the compiler take several m at once.
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

struct Pending {
  std::int32_t node;
  std::size_t depth;
  std::size_t nodes;
};

}  // namespace

TreeProgram::Level TreeProgram::childless(std::size_t nodes) {
  Level level{.value = {std::vector<double>(nodes + 1, no_tree)}, .best = {}};
  level.value[0][1] = 1.0;
  level.best = level.value[0];
  return level;
}

/// The table of a node whose children are candidates of this head and have the table `below`.
TreeProgram::Level TreeProgram::level_above(std::span<const double> head, const Level& below, std::size_t nodes) {
  Level level = childless(nodes);
  // Candidates of no chance behind the last that has one never pay.
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

TokenTree dynamic_program_tree(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  const TreeProgram program(accuracies, budget);
  // Fewer nodes than the budget only where the heads have no more candidates.
  const std::vector<double>& tokens = program.tokens();
  return program.tree(static_cast<std::size_t>(std::max_element(tokens.begin(), tokens.end()) - tokens.begin()));
}

}  // namespace foredraft::analytic
