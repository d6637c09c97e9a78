// SPDX-License-Identifier: Apache-2.0
#include "sim/process/tree_simulator.hpp"

#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

/// The candidate that a uniform selects, or nullopt if it is beyond all of them.
std::optional<std::int64_t> selected_candidate(const std::vector<double>& accuracies, double uniform) {
  double passed = 0.0;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    passed += accuracies[i];
    if (uniform < passed) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

class TreeSimulator final : public Simulator {
 public:
  explicit TreeSimulator(TreeSimulation simulation)
      : simulation_(std::move(simulation)),
        shape_{.gamma = simulation_.tree.depth(), .convention = Convention::bonus, .drafting = simulation_.drafting},
        plan_(plan_iterations(simulation_.iterations, shape_.gamma)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    RandomStream random(key.seed, {.purpose = Purpose::bernoulli, .point = key.point, .block = block});
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape_.gamma) + 1, 0);
    const std::uint64_t iterations = plan_.in_block(block);
    for (std::uint64_t i = 0; i < iterations; ++i) ++accepted_counts[accepted_depth(random)];
    return tally_independent(shape_, accepted_counts);
  }

 private:
  [[nodiscard]] std::size_t accepted_depth(RandomStream& random) const {
    std::size_t depth = 0;
    std::int32_t node = 0;
    while (!simulation_.tree.children(node).empty()) {
      const auto candidate = selected_candidate(simulation_.accuracies[depth], random.uniform());
      const auto child = candidate ? simulation_.tree.child(node, *candidate) : std::nullopt;
      if (!child) break;
      node = *child;
      ++depth;
    }
    return depth;
  }

  TreeSimulation simulation_;
  IterationShape shape_;
  BlockPlan plan_;
};

}  // namespace

std::unique_ptr<Simulator> make_tree_simulator(TreeSimulation simulation) {
  check_at_least("rows of accuracies", static_cast<std::int64_t>(simulation.accuracies.size()),
                 simulation.tree.depth());
  for (std::size_t d = 0; d < simulation.accuracies.size(); ++d) {
    const std::vector<double>& row = simulation.accuracies[d];
    check_probabilities(fmt::format("accuracies[{}]", d), row);
    constexpr double round_off = 1e-10;
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    if (total > 1.0 + round_off) {
      throw DomainError(fmt::format("invalid sum of accuracies[{}]={} (must be at most 1)", d, total));
    }
  }
  return std::make_unique<TreeSimulator>(std::move(simulation));
}

}  // namespace foredraft::sim
