// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "analytic/tree/tree_search.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
std::int64_t dense_nodes(std::span<const std::int64_t> widths) {
  constexpr std::int64_t most_nodes = 1'000'000;
  std::int64_t level = 1;
  std::int64_t nodes = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    check_range(fmt::format("widths[{}]", i), widths[i], 1, most_nodes);
    level *= widths[i];
    nodes += level;
    check_range("nodes", nodes, 1, most_nodes);
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

double dense_tokens(const HeadAccuracies& accuracies, std::span<const std::int64_t> widths) {
  check_range("depth", static_cast<std::int64_t>(widths.size()), 0, accuracies.heads());
  double tokens = 0.0;
  for (std::size_t i = widths.size(); i-- > 0;) {
    const auto depth = static_cast<std::int64_t>(i) + 1;
    check_range(fmt::format("widths[{}]", i), widths[i], 1, static_cast<std::int64_t>(accuracies.head(depth).size()));
    tokens = accuracies.top(depth, widths[i]) * (1.0 + tokens);
  }
  return 1.0 + tokens;
}

std::vector<std::int64_t> best_dense_widths(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  check_budget(accuracies, budget);
  const auto most = static_cast<std::size_t>(budget.nodes - 1);  // below the root
  // Below a node of one depth, with at most b nodes for its descendants: the tokens to expect there, and the children
  // that yield them. Below each of w children there is then room for floor(b / w) - 1 nodes.
  std::vector<double> below(most + 1, 0.0);
  std::vector<std::vector<std::int32_t>> children(static_cast<std::size_t>(budget.depth),
                                                  std::vector<std::int32_t>(most + 1, 0));
  for (std::int64_t depth = budget.depth; depth >= 1; --depth) {
    std::vector<double> here(most + 1, 0.0);
    std::vector<std::int32_t>& chosen = children[static_cast<std::size_t>(depth) - 1];
    for (std::size_t width = 1; width <= std::min(accuracies.head(depth).size(), most); ++width) {
      const double top = accuracies.top(depth, static_cast<std::int64_t>(width));
      for (std::size_t b = width; b <= most; ++b) {
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
  std::size_t left = most;
  for (const std::vector<std::int32_t>& chosen : children) {
    if (chosen[left] == 0) break;
    widths.push_back(chosen[left]);
    left = left / static_cast<std::size_t>(widths.back()) - 1;
  }
  return widths;
}

}  // namespace foredraft::analytic
