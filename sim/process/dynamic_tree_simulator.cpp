// SPDX-License-Identifier: Apache-2.0
#include "sim/process/dynamic_tree_simulator.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

namespace {

struct DraftedNode {
  std::size_t parent;
  std::size_t rank;
  double value;                           // product of confidences
  const DraftContext* context = nullptr;  // of an expanded node
  bool verified = false;
};

/// Index of the entry that a uniform selects; the size if it selects none.
template <class Entries, class Share>
std::size_t selected_entry(const Entries& entries, const Share& share, double uniform) {
  double passed = 0.0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    passed += std::invoke(share, entries[i]);
    if (uniform < passed) return i;
  }
  return entries.size();
}

/// Drafts and verifies a tree in each iteration.
class DraftedTree {
 public:
  DraftedTree(const DynamicTreeSimulation& simulation, const RunKey& key, std::uint64_t block)
      : simulation_(simulation),
        meetings_(key.seed, {.purpose = Purpose::context, .point = key.point, .block = block}),
        outcomes_(key.seed, {.purpose = Purpose::bernoulli, .point = key.point, .block = block}) {}

  void draft() {
    nodes_.assign(1, {.parent = 0, .rank = 0, .value = 1.0, .verified = true});
    std::size_t level = 0;  // where the deepest depth begins
    for (const std::vector<DraftContext>& contexts : simulation_.contexts) {
      take_largest(level, simulation_.width);
      level = nodes_.size();
      for (const std::size_t parent : taken_) expand(parent, contexts);
    }
    take_largest(1, simulation_.nodes - 1);
    for (const std::size_t node : taken_) nodes_[node].verified = true;
  }

  /// Follows the target's tokens to the deepest verified node; returns its depth.
  std::size_t accepted_depth() {
    std::size_t depth = 0;
    for (std::size_t node = 0; nodes_[node].context != nullptr; ++depth) {
      const std::size_t rank = selected_entry(nodes_[node].context->accuracies, std::identity{}, outcomes_.uniform());
      const auto next = std::find_if(
          nodes_.begin() + static_cast<std::ptrdiff_t>(node) + 1, nodes_.end(),
          [&](const DraftedNode& child) { return child.parent == node && child.rank == rank && child.verified; });
      if (next == nodes_.end()) return depth;
      node = static_cast<std::size_t>(next - nodes_.begin());
    }
    return depth;
  }

 private:
  /// taken_: the `count` nodes of the largest values from `first` on, earlier ones first among equals.
  void take_largest(std::size_t first, std::int64_t count) {
    taken_.resize(nodes_.size() - first);
    std::iota(taken_.begin(), taken_.end(), first);
    const auto before = [&](std::size_t a, std::size_t b) {
      return nodes_[a].value != nodes_[b].value ? nodes_[a].value > nodes_[b].value : a < b;
    };
    const auto kept = std::min(taken_.size(), static_cast<std::size_t>(count));
    std::partial_sort(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(kept), taken_.end(), before);
    taken_.resize(kept);
  }

  void expand(std::size_t parent, const std::vector<DraftContext>& contexts) {
    const std::size_t met = selected_entry(contexts, &DraftContext::probability, meetings_.uniform());
    const DraftContext& context = contexts[std::min(met, contexts.size() - 1)];  // round-off of the sum
    nodes_[parent].context = &context;
    const double value = nodes_[parent].value;
    for (std::size_t i = 0; i < context.confidences.size() && std::cmp_less(i, simulation_.width); ++i) {
      if (context.confidences[i] == 0.0) continue;
      nodes_.push_back({.parent = parent, .rank = i, .value = value * context.confidences[i]});
    }
  }

  const DynamicTreeSimulation& simulation_;
  RandomStream meetings_;
  RandomStream outcomes_;
  std::vector<DraftedNode> nodes_;  // by depth
  std::vector<std::size_t> taken_;
};

void check_context(const std::string& name, const DraftContext& context) {
  check_probability(name + ".probability", context.probability);
  check_probabilities(name + ".accuracies", context.accuracies);
  check_probabilities(name + ".confidences", context.confidences);
  const double total = std::accumulate(context.accuracies.begin(), context.accuracies.end(), 0.0);
  constexpr double round_off = 1e-10;
  if (total > 1.0 + round_off) {
    throw DomainError(fmt::format("invalid sum of {}.accuracies={} (must be at most 1)", name, total));
  }
}

void check_contexts(const std::vector<std::vector<DraftContext>>& contexts) {
  for (std::size_t d = 0; d < contexts.size(); ++d) {
    double total = 0.0;
    for (std::size_t i = 0; i < contexts[d].size(); ++i) {
      check_context(fmt::format("contexts[{}][{}]", d, i), contexts[d][i]);
      total += contexts[d][i].probability;
    }
    constexpr double round_off = 1e-9;
    if (!(std::abs(total - 1.0) <= round_off)) {
      throw DomainError(fmt::format("invalid sum of probabilities of contexts[{}]={} (must be 1)", d, total));
    }
  }
}

}  // namespace

std::unique_ptr<Simulator> make_dynamic_tree_simulator(DynamicTreeSimulation simulation) {
  check_at_least("nodes", simulation.nodes, 1);
  check_range("width", simulation.width, 1, 1024);
  check_contexts(simulation.contexts);
  const auto depth = static_cast<std::int64_t>(simulation.contexts.size());
  std::int64_t drafted = 1;  // maximum drafted nodes of an iteration
  for (const std::vector<DraftContext>& contexts : simulation.contexts) {
    std::size_t candidates = 0;
    for (const DraftContext& context : contexts) candidates = std::max(candidates, context.confidences.size());
    drafted += simulation.width * std::min(simulation.width, static_cast<std::int64_t>(candidates));
  }
  check_range("candidates of an iteration", drafted, 1, std::int64_t{1} << 22U);
  const IterationShape shape{depth, Convention::bonus, simulation.drafting};
  const BlockPlan plan = plan_iterations(simulation.iterations, drafted);
  return make_block_simulator(plan, [simulation = std::move(simulation), shape, drafted](
                                        const RunKey& key, std::uint64_t block, std::uint64_t iterations) {
    DraftedTree tree(simulation, key, block);
    StopMeter stop(key.stop);
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape.gamma) + 1, 0);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      stop.spend(drafted);
      tree.draft();
      ++accepted_counts[tree.accepted_depth()];
    }
    return tally_independent(shape, accepted_counts);
  });
}

}  // namespace foredraft::sim
