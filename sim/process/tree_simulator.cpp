// SPDX-License-Identifier: Apache-2.0
#include "sim/process/tree_simulator.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/check.hpp"
#include "core/numbers.hpp"
#include "core/random_stream.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

namespace {

/// The candidate that a uniform selects, or nullopt if it selects none.
std::optional<std::int64_t> selected_candidate(const std::vector<double>& accuracies, double uniform) {
  double passed = 0.0;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    passed += accuracies[i];
    if (uniform < passed) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

std::size_t accepted_depth(const TreeSimulation& simulation, RandomStream& random) {
  const std::vector<TreeNode>& nodes = simulation.nodes;
  std::size_t depth = 0;
  for (std::int32_t parent = 0;; ++depth) {
    const auto children = std::ranges::equal_range(nodes, parent, {}, &TreeNode::parent);
    if (children.empty()) return depth;
    const auto candidate = selected_candidate(simulation.accuracies[depth], random.uniform());
    const auto child =
        std::ranges::find_if(children, [&](const TreeNode& node) { return candidate == std::int64_t{node.rank}; });
    if (child == children.end()) return depth;
    parent = static_cast<std::int32_t>(&*child - nodes.data());
  }
}

}  // namespace

std::unique_ptr<Simulator> make_tree_simulator(TreeSimulation simulation) {
  const std::int64_t depth = simulation.nodes.back().depth;
  check_at_least("rows of accuracies", static_cast<std::int64_t>(simulation.accuracies.size()), depth);
  for (std::size_t d = 0; d < simulation.accuracies.size(); ++d) {
    const std::vector<double>& row = simulation.accuracies[d];
    check_probabilities(fmt::format("accuracies[{}]", d), row);
    constexpr double round_off = 1e-10;
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    if (total > 1.0 + round_off) {
      throw DomainError(
          fmt::format("invalid sum of accuracies[{}]={} (must be at most 1)", d, short_number_text(total)));
    }
  }
  const IterationShape shape{depth, Convention::bonus, simulation.drafting};
  const BlockPlan plan = plan_iterations(simulation.iterations, shape.gamma);
  return make_block_simulator(plan, [simulation = std::move(simulation), shape](const RunKey& key, std::uint64_t block,
                                                                                std::uint64_t iterations) {
    RandomStream random(key.seed, {.purpose = Purpose::bernoulli, .point = key.point, .block = block});
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape.gamma) + 1, 0);
    for (std::uint64_t i = 0; i < iterations; ++i) ++accepted_counts[accepted_depth(simulation, random)];
    return tally_independent(shape, accepted_counts);
  });
}

}  // namespace foredraft::sim
