// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/dynamic_tree.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

/// DraftContext::confidences: these accuracies at another temperature.
std::vector<double> at_temperature(const std::vector<double>& accuracies, double temperature) {
  if (temperature == 1.0) return accuracies;
  double none = 1.0;
  for (const double accuracy : accuracies) none -= accuracy;
  const double largest = std::max(accuracies.front(), none);
  const auto weight = [&](double share) { return share > 0.0 ? std::pow(share / largest, 1.0 / temperature) : 0.0; };
  double total = weight(none);
  for (const double accuracy : accuracies) total += weight(accuracy);
  std::vector<double> confidences;
  confidences.reserve(accuracies.size());
  for (const double accuracy : accuracies) confidences.push_back(weight(accuracy) / total);
  return confidences;
}

/// (1 - spread) a + spread (1/j, ..., 1/j, 0, ...), with probability j (a_j - a_{j+1}), otherwise j = 0.
std::vector<DraftContext> contexts_of(std::span<const double> row, double spread, double temperature) {
  const std::vector<double> mean(row.begin(), row.end());
  if (spread == 0.0)
    return {{.probability = 1.0, .accuracies = mean, .confidences = at_temperature(mean, temperature)}};
  std::vector<DraftContext> contexts;
  double none = 1.0;
  for (std::size_t j = row.size() + 1; j-- > 0;) {
    const double next = j < row.size() ? row[j] : 0.0;
    const double probability = j == 0 ? none : static_cast<double>(j) * (row[j - 1] - next);
    none -= probability;
    // Allows for the round-off of the sum.
    if (probability <= (j == 0 ? 1e-10 : 0.0)) continue;
    DraftContext context{.probability = probability, .accuracies = mean, .confidences = {}};
    for (std::size_t i = 0; i < row.size(); ++i) {
      context.accuracies[i] = (1.0 - spread) * row[i] + (i < j ? spread / static_cast<double>(j) : 0.0);
    }
    context.confidences = at_temperature(context.accuracies, temperature);
    contexts.push_back(std::move(context));
  }
  return contexts;
}

void check_growth(const DepthContexts& contexts, const GrowthBudget& budget) {
  check_range("nodes", budget.nodes, 1, 1'000'000);
  check_range("depth", budget.depth, 0, static_cast<std::int64_t>(contexts.size()));
  check_range("width", budget.width, 1, 1024);
}

struct ValuedNode {
  double value;     ///< product of confidences
  double accuracy;  ///< probability of acceptance
};

/// Keeps the `count` nodes with the largest values; among equals, the earlier ones.
void keep_largest(std::vector<ValuedNode>& nodes, std::int64_t count) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const ValuedNode& a, const ValuedNode& b) { return a.value > b.value; });
  if (std::cmp_less(count, nodes.size())) nodes.resize(static_cast<std::size_t>(count));
}

/// Goes through all combinations of contexts, depth by depth.
class GrowthEnumeration {
 public:
  GrowthEnumeration(const DepthContexts& contexts, const GrowthBudget& budget) : contexts_(contexts), budget_(budget) {}

  [[nodiscard]] double tokens() {
    from_depth(1, {{.value = 1.0, .accuracy = 1.0}}, {}, 1.0);
    return tokens_.value();
  }

 private:
  void from_depth(std::int64_t depth, const std::vector<ValuedNode>& expanded, std::vector<ValuedNode> drafted,
                  double probability) {
    if (depth <= budget_.depth && !expanded.empty()) {
      children_of(depth, expanded, 0, {}, drafted, probability);
      return;
    }
    keep_largest(drafted, budget_.nodes - 1);
    tokens_.add(probability);
    for (const ValuedNode& node : drafted) tokens_.add(probability * node.accuracy);
  }

  void children_of(std::int64_t depth, const std::vector<ValuedNode>& expanded, std::size_t next,
                   std::vector<ValuedNode> children, const std::vector<ValuedNode>& drafted, double probability) {
    if (next == expanded.size()) {
      std::vector<ValuedNode> all = drafted;
      all.insert(all.end(), children.begin(), children.end());
      keep_largest(children, budget_.width);
      from_depth(depth + 1, children, std::move(all), probability);
      return;
    }
    const std::size_t before = children.size();
    for (const DraftContext& context : contexts_[static_cast<std::size_t>(depth - 1)]) {
      children.resize(before);
      for (std::size_t i = 0; i < context.confidences.size() && std::cmp_less(i, budget_.width); ++i) {
        if (context.confidences[i] == 0.0) continue;
        children.push_back({.value = expanded[next].value * context.confidences[i],
                            .accuracy = expanded[next].accuracy * context.accuracies[i]});
      }
      children_of(depth, expanded, next + 1, children, drafted, probability * context.probability);
    }
  }

  const DepthContexts& contexts_;
  const GrowthBudget& budget_;
  CompensatedSum tokens_;
};

/// True if there are at most `maximum` combinations of contexts.
bool enumerable(const DepthContexts& contexts, const GrowthBudget& budget, double maximum) {
  double combinations = 1.0;
  std::int64_t expanded = 1;
  for (std::int64_t depth = 1; depth <= budget.depth && combinations <= maximum; ++depth) {
    const auto& here = contexts[static_cast<std::size_t>(depth - 1)];
    combinations *= std::pow(static_cast<double>(here.size()), static_cast<double>(expanded));
    std::size_t ranks = 0;
    for (const DraftContext& context : here) ranks = std::max(ranks, context.confidences.size());
    expanded = std::min(budget.width, expanded * std::min(budget.width, static_cast<std::int64_t>(ranks)));
  }
  return combinations <= maximum;
}

}  // namespace

DepthContexts contexts_around(const HeadAccuracies& accuracies, double spread, double temperature) {
  check_probability("spread", spread);
  if (!(temperature >= 0.01 && temperature <= 100.0)) {
    throw DomainError(fmt::format("invalid temperature={} (must lie in [0.01, 100])", temperature));
  }
  if (!accuracies.falls()) {
    throw DomainError("invalid accuracies (must not rise with the rank for a tree that grows while drafting)");
  }
  DepthContexts contexts;
  for (std::int64_t depth = 1; depth <= accuracies.heads(); ++depth) {
    contexts.push_back(contexts_of(accuracies.head(depth), spread, temperature));
  }
  return contexts;
}

std::optional<double> dynamic_tree_tokens(const DepthContexts& contexts, const GrowthBudget& budget) {
  check_growth(contexts, budget);
  if (!enumerable(contexts, budget, 0x1p16)) return std::nullopt;
  return GrowthEnumeration(contexts, budget).tokens();
}

double dynamic_tree_bound(const DepthContexts& contexts, const GrowthBudget& budget) {
  check_growth(contexts, budget);
  // [k]: expected nodes of accuracy exp(-k step). A factor between two cells is split between both, which preserves its
  // mean. The sum of the largest values is convex in each accuracy, so spreading never decreases it.
  constexpr std::size_t cells = 4096;
  constexpr double step = 1.0 / 128.0;
  const auto value_at = [](std::size_t cell) { return std::exp(-step * static_cast<double>(cell)); };
  std::vector<double> level(cells, 0.0);
  std::vector<double> all(cells, 0.0);
  level[0] = 1.0;
  for (std::int64_t depth = 1; depth <= budget.depth; ++depth) {
    std::vector<double> factors(cells, 0.0);  // of a child
    for (const DraftContext& context : contexts[static_cast<std::size_t>(depth - 1)]) {
      for (std::size_t i = 0; i < context.accuracies.size() && std::cmp_less(i, budget.width); ++i) {
        const double accuracy = context.accuracies[i];
        if (!(accuracy > 0.0)) continue;
        const double position = std::max(0.0, -std::log(accuracy) / step);
        const auto cell = static_cast<std::size_t>(std::min(position, static_cast<double>(cells - 1)));
        const double lower = cell + 1 < cells ? value_at(cell + 1) : 0.0;
        const double share = std::min(1.0, (accuracy - lower) / (value_at(cell) - lower));
        factors[cell] += context.probability * share;
        if (cell + 1 < cells) factors[cell + 1] += context.probability * (1.0 - share);
      }
    }
    std::vector<double> children(cells, 0.0);
    for (std::size_t f = 0; f < cells; ++f) {
      if (factors[f] == 0.0) continue;
      for (std::size_t k = 0; k + f < cells; ++k) children[k + f] += level[k] * factors[f];
    }
    level = std::move(children);
    for (std::size_t k = 0; k < cells; ++k) all[k] += level[k];
  }
  double left = static_cast<double>(budget.nodes - 1);
  CompensatedSum tokens;
  tokens.add(1.0);
  for (std::size_t k = 0; k < cells && left > 0.0; ++k) {
    tokens.add(std::min(left, all[k]) * value_at(k));
    left -= all[k];
  }
  return tokens.value();
}

}  // namespace foredraft::analytic
