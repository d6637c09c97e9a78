// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_tokens.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/numerics/compensated_sum.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

/// P(X > d) for d = 0..depth.
std::vector<double> reached_depths(const TokenTree& tree, const HeadAccuracies& accuracies) {
  const std::vector<double> probability = node_probabilities(tree, accuracies);
  std::vector<CompensatedSum> sums(static_cast<std::size_t>(tree.depth()) + 1);
  for (std::size_t i = 0; i < probability.size(); ++i) {
    sums[static_cast<std::size_t>(tree.nodes()[i].depth)].add(probability[i]);
  }
  std::vector<double> reached;
  reached.reserve(sums.size());
  // Round-off may lift a depth above the one before it by a unit in the last place.
  for (const CompensatedSum& sum : sums) {
    reached.push_back(std::min(sum.value(), reached.empty() ? 1.0 : reached.back()));
  }
  return reached;
}

}  // namespace

std::vector<double> node_probabilities(const TokenTree& tree, const HeadAccuracies& accuracies) {
  std::vector<double> probability{1.0};
  probability.reserve(tree.nodes().size());
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    if (node.depth > accuracies.heads()) {
      throw DomainError(fmt::format("invalid path=\"{}\" (must have an accuracy: there are {} heads)",
                                    to_string(tree.path(static_cast<std::int64_t>(i))), accuracies.heads()));
    }
    probability.push_back(probability[static_cast<std::size_t>(node.parent)] * accuracies.at(node.depth, node.rank));
  }
  return probability;
}

double tokens_per_iteration(const TokenTree& tree, const HeadAccuracies& accuracies) {
  CompensatedSum tokens;
  for (const double probability : node_probabilities(tree, accuracies)) tokens.add(probability);
  return tokens.value();
}

std::vector<double> tokens_pmf(const TokenTree& tree, const HeadAccuracies& accuracies) {
  std::vector<double> pmf = reached_depths(tree, accuracies);
  for (std::size_t d = 0; d + 1 < pmf.size(); ++d) pmf[d] -= pmf[d + 1];
  return pmf;
}

double tokens_variance(const TokenTree& tree, const HeadAccuracies& accuracies) {
  const double mean = tokens_per_iteration(tree, accuracies);
  const std::vector<double> pmf = tokens_pmf(tree, accuracies);
  CompensatedSum variance;
  for (std::size_t i = 0; i < pmf.size(); ++i) {
    const double deviation = static_cast<double>(i + 1) - mean;
    variance.add(pmf[i] * deviation * deviation);
  }
  return variance.value();
}

}  // namespace foredraft::analytic
