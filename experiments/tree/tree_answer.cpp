// SPDX-License-Identifier: Apache-2.0
#include "experiments/tree/tree_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <span>

#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/numbers.hpp"
#include "experiments/text/table.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/pair_surface.hpp"

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

/// Where the accuracies are unexpected.
std::vector<std::string> tree_notes(const TreeQuestion& question) {
  std::vector<std::string> notes;
  for (std::size_t head = 0; head < question.accuracies.size(); ++head) {
    const std::vector<double>& row = question.accuracies[head];
    const auto rise = std::ranges::adjacent_find(row, std::less{});
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

namespace foredraft::experiments {
namespace {

double known_us(const latency::Latency& latency, const latency::Profile& profile) {
  if (latency.inside) return latency.time_us;
  throw DomainError(fmt::format(
      "{}: this batch, context and number of nodes lie outside the domain of its fit - ask for fewer nodes, "
      "or measure more",
      profile.device.name));
}

constexpr std::size_t tree_label_width = 31;

std::string tree_headline(const TreeAnswer& answer) {
  const JudgedTree& chosen = answer.chosen;
  const std::string shape = chosen.tree.size() == 1 ? "without drafts"
                                                    : fmt::format("with {} tree of {} nodes, {} deep",
                                                                  answer.question.given ? "this" : "the best",
                                                                  chosen.tree.size(), chosen.tree.depth());
  if (!chosen.speedup) return fmt::format("{:.4f} tokens per iteration {}.", chosen.tokens, shape);
  if (chosen.tree.size() == 1) return fmt::format("speedup {:.2f}x: speculation does not pay.", *chosen.speedup);
  return fmt::format("speedup {:.2f}x: an iteration yields {:.2f} tokens {}, and costs {} target steps.",
                     *chosen.speedup, chosen.tokens, shape, decimal_text(*chosen.iteration_cost, 2));
}

std::string tree_row(const std::string& label, const JudgedTree& judged) {
  std::string row = fmt::format("{:<{}}{:>6}{:>7}{:>9.4f}{:>10.4f}", label, tree_label_width, judged.tree.size(),
                                judged.tree.depth(), judged.tokens, std::sqrt(judged.variance));
  if (judged.speedup)
    row += fmt::format("{:>11}{:>9}x", decimal_text(*judged.iteration_cost, 4), decimal_text(*judged.speedup, 4));
  return row + "\n";
}

/// " (4 x 3 x 1)", the first few of many.
std::string widths_text(const std::vector<std::int64_t>& widths) {
  constexpr std::size_t maximum = 4;
  if (widths.empty()) return "";
  const std::span<const std::int64_t> shown = std::span(widths).first(std::min(maximum, widths.size()));
  return fmt::format(" ({}{})", fmt::join(shown, " x "), widths.size() > maximum ? " ..." : "");
}

std::string tree_table(const TreeAnswer& answer) {
  std::string text =
      fmt::format("{:<{}}{:>6}{:>7}{:>9}{:>10}", "", tree_label_width, "nodes", "depth", "tokens", "deviation");
  if (answer.question.price) text += fmt::format("{:>11}{:>10}", "cost", "speedup");
  text += "\n" + tree_row(answer.question.given ? "this tree" : "best tree", answer.chosen);
  if (answer.best) text += tree_row("best tree", *answer.best);
  text +=
      tree_row((answer.question.price ? "dense, most tokens" : "best dense tree") + widths_text(answer.dense_widths),
               answer.dense);
  return text + tree_row("chain of first candidates", answer.chain);
}

std::string distribution_line(const TreeAnswer& answer) {
  std::vector<std::string> shares;
  for (const double p : answer.pmf) shares.push_back(fmt::format("{}: {:.1f} %", shares.size() + 1, 100.0 * p));
  return fmt::format("tokens    {}\n", fmt::join(shares, ", "));
}

}  // namespace

TreePrice price_from_profile(const latency::Profile& profile, const PricedPair& pair, std::int64_t nodes,
                             std::int64_t depth) {
  const latency::TimedPair& models = pair.models;
  if (models.memory_utilization) {
    const auto memory = latency::memory_limit(profile, models, pair.drafting, *models.memory_utilization);
    if (memory) memory->check(pair.batch, nodes, pair.context);
  }
  const latency::PairSurface surface(profile, models, pair.drafting);
  TreePrice price{.verification = {}, .c = 0.0, .drafting = Drafting::autoregressive};
  for (std::int64_t n = 1; n <= nodes; ++n) {
    price.verification.push_back(known_us(surface.target_pass(n, pair.batch, pair.context), profile));
  }
  const bool block = pair.drafting == latency::Role::block_drafting;
  if (block) price.drafting = Drafting::block;
  const std::int64_t drafts = block ? std::max<std::int64_t>(1, depth) : 1;
  price.c = known_us(surface.drafting(drafts, pair.batch, pair.context), profile) / price.verification.front();
  const bool heads = pair.drafting == latency::Role::head_drafting;
  price.times = fmt::format(
      "{}, source {}: {} {} at batch {}, context {}; sampling and the engine's own time not in it", profile.device.name,
      to_string(profile.source), models.target, heads ? "with heads" : "and " + models.draft, pair.batch, pair.context);
  return price;
}

std::string to_text(const TreeAnswer& answer) {
  const TreeQuestion& question = answer.question;
  std::string text = tree_headline(answer) + "\n\n" + tree_table(answer) + "\n" + distribution_line(answer);
  if (!question.given && !question.price && answer.chosen.tree.size() < question.nodes) {
    text += fmt::format("note      no more than {} of {} nodes have a chance to be accepted\n",
                        answer.chosen.tree.size(), question.nodes);
  }
  for (const std::string& note : answer.notes) text += fmt::format("note      {}\n", note);
  text += fmt::format("paths     {}\n", path_list(answer.chosen.tree));
  if (question.price && !question.price->times.empty()) text += fmt::format("times     {}\n", question.price->times);
  text +=
      "assumes   a candidate's accuracy depends on its depth and rank only; the root, the target's own token, counts "
      "as "
      "a node\n";
  return answer_lines(text, 10);
}

}  // namespace foredraft::experiments
