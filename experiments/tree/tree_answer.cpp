// SPDX-License-Identifier: Apache-2.0
#include "experiments/tree/tree_answer.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/tree/head_accuracies.hpp"
#include "analytic/tree/tree_cost.hpp"
#include "analytic/tree/tree_search.hpp"
#include "analytic/tree/tree_tokens.hpp"

namespace foredraft {
namespace {

using analytic::HeadAccuracies;

analytic::TreeCost tree_cost_of(const TreePrice& price) {
  return {.verification = price.verification, .c = price.c, .drafting = price.drafting};
}

/// `accuracies`: those of the question, checked.
JudgedTree judge(const TreeQuestion& question, const HeadAccuracies& accuracies, TokenTree tree) {
  JudgedTree judged{.tree = std::move(tree), .tokens = 1.0, .variance = 0.0, .iteration_cost = {}, .speedup = {}};
  judged.tokens = analytic::tokens_per_iteration(judged.tree, accuracies);
  judged.variance = analytic::tokens_variance(judged.tree, accuracies);
  if (question.price) {
    judged.iteration_cost =
        analytic::tree_iteration_cost(tree_cost_of(*question.price), judged.tree.size(), judged.tree.depth());
    judged.speedup = judged.tokens / *judged.iteration_cost;
  }
  return judged;
}

TokenTree find_tree(const TreeQuestion& question, const HeadAccuracies& accuracies) {
  const analytic::TreeBudget budget{.nodes = question.nodes, .depth = std::min(question.depth, accuracies.heads())};
  if (!question.price) return analytic::best_tree(accuracies, budget);
  return analytic::best_priced_tree(accuracies, budget, tree_cost_of(*question.price)).tree;
}

/// The first candidates alone: trees of these are chains.
HeadAccuracies first_candidates(const HeadAccuracies& accuracies) {
  std::vector<std::vector<double>> rows;
  for (std::int64_t depth = 1; depth <= accuracies.heads(); ++depth) rows.push_back({accuracies.head(depth).front()});
  return HeadAccuracies(std::move(rows));
}

/// Where the accuracies are not what one expects.
std::vector<std::string> tree_notes(const TreeQuestion& question) {
  std::vector<std::string> notes;
  for (std::size_t head = 0; head < question.accuracies.size(); ++head) {
    const std::vector<double>& row = question.accuracies[head];
    const auto rise = std::adjacent_find(row.begin(), row.end(), [](double a, double b) { return b > a; });
    if (rise == row.end()) continue;
    notes.push_back(
        fmt::format("accuracies rise with the rank (head {}, rank {}: {} after {}): a node has the first "
                    "ranks of its head as children; of top-k accuracies give the differences",
                    head + 1, rise - row.begin() + 2, *(rise + 1), *rise));
    break;
  }
  if (!question.given) return notes;
  for (const TreeNode& node : question.given->nodes()) {
    const auto depth = static_cast<std::size_t>(node.depth);
    if (depth == 0 || depth > question.accuracies.size()) continue;
    const std::size_t ranks = question.accuracies[depth - 1].size();
    if (static_cast<std::size_t>(node.rank) < ranks) continue;
    notes.push_back(
        fmt::format("the tree uses rank {} at depth {}, where {} are given: accuracies that are not given "
                    "count as 0",
                    node.rank + 1, depth, ranks));
    break;
  }
  return notes;
}

}  // namespace

TreeAnswer best_tree(const TreeQuestion& question) {
  const HeadAccuracies accuracies(question.accuracies);
  const auto judged = [&](TokenTree tree) { return judge(question, accuracies, std::move(tree)); };
  const std::vector<std::int64_t> widths =
      analytic::best_dense_widths(accuracies, {.nodes = question.nodes, .depth = question.depth});
  JudgedTree best = judged(find_tree(question, accuracies));
  TreeAnswer answer{.question = question,
                    .chosen = question.given ? judged(*question.given) : best,
                    .best = question.given ? std::optional(best) : std::nullopt,
                    .dense = judged(analytic::dense_tree(widths)),
                    .dense_widths = widths,
                    .chain = judged(find_tree(question, first_candidates(accuracies))),
                    .pmf = {},
                    .probabilities = {},
                    .notes = tree_notes(question)};
  answer.pmf = analytic::tokens_pmf(answer.chosen.tree, accuracies);
  answer.probabilities = analytic::node_probabilities(answer.chosen.tree, accuracies);
  return answer;
}

}  // namespace foredraft
