// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/tree_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

TreeShape::TreeShape(std::span<const std::int32_t> parents)
    : parents_(parents.begin(), parents.end()),
      first_children_(parents.size() + 1, no_node),
      next_siblings_(parents.size() + 1, no_node) {
  check_range("nodes", nodes(), 0, max_nodes);
  std::vector<std::int64_t> depths(parents.size() + 1, 0);
  for (std::size_t node = 1; node <= parents.size(); ++node) {
    const std::int32_t parent = parents[node - 1];
    check_range(fmt::format("parent of node {}", node), parent, 0, static_cast<std::int64_t>(node) - 1);
    depths[node] = depths[static_cast<std::size_t>(parent)] + 1;
  }
  depth_ = *std::max_element(depths.begin(), depths.end());
  for (std::size_t node = parents.size(); node > 0; --node) {  // backwards, so that the lowest ends up first
    const auto parent = static_cast<std::size_t>(parents[node - 1]);
    next_siblings_[node] = first_children_[parent];
    first_children_[parent] = static_cast<std::int32_t>(node);
  }
}

TreeShape binary_tree(std::int64_t nodes) {
  std::vector<std::int32_t> parents;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(nodes); ++i) parents.push_back(i / 2);
  return TreeShape(parents);
}

}  // namespace foredraft::gpu_bench
