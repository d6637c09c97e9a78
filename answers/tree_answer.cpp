// SPDX-License-Identifier: Apache-2.0
#include "answers/tree_answer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analytic/tree/dynamic_tree.hpp"
#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/intervals.hpp"
#include "core/json_values.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "sim/estimates.hpp"
#include "sim/process/dynamic_tree_simulator.hpp"
#include "sim/simulator.hpp"

namespace foredraft {
namespace {

using analytic::HeadAccuracies;

analytic::TreeCost tree_cost_of(const TreePrice& price) {
  return {.verification = price.verification, .c = price.c, .drafting = price.drafting};
}

/// `accuracies`: of the question, already checked.
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

/// The accuracies of only the first candidates, whose trees are chains.
HeadAccuracies first_candidates(const HeadAccuracies& accuracies) {
  std::vector<std::vector<double>> rows;
  for (std::int64_t depth = 1; depth <= accuracies.heads(); ++depth) rows.push_back({accuracies.head(depth).front()});
  return HeadAccuracies(std::move(rows));
}

/// Warnings about unexpected accuracies.
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

/// A dynamic tree with as many nodes as `chosen`, and with its depth if a depth costs time.
DynamicTree grow(const TreeQuestion& question, const HeadAccuracies& accuracies, const TokenTree& chosen) {
  const TreeGrowth& growth = *question.growth;
  const std::int64_t depth = question.price ? chosen.depth() : std::min(question.depth, accuracies.heads());
  const analytic::GrowthBudget budget{.nodes = chosen.size(), .depth = depth, .width = growth.width};
  analytic::DepthContexts contexts = analytic::contexts_around(accuracies, growth.spread, growth.temperature);
  contexts.resize(static_cast<std::size_t>(budget.depth));
  const auto simulator = sim::make_dynamic_tree_simulator(
      {.contexts = contexts,
       .nodes = budget.nodes,
       .width = budget.width,
       .drafting = question.price ? question.price->drafting : Drafting::autoregressive,
       .iterations = growth.iterations});
  const sim::Tally tally = sim::run(*simulator, {.seed = growth.seed, .point = 0}, 0);
  const analytic::TreeBudget size{.nodes = budget.nodes, .depth = budget.depth};
  DynamicTree dynamic{.depth = budget.depth,
                      .tokens = sim::tokens_per_iteration(tally),
                      .variance = sim::tokens_variance(tally),
                      .exact = analytic::dynamic_tree_tokens(contexts, budget),
                      .bound = analytic::dynamic_tree_bound(contexts, budget),
                      .static_tree = judge(question, accuracies, analytic::greedy_tree(accuracies, size, budget.width)),
                      .iteration_cost = {},
                      .speedup = {}};
  if (question.price) {
    const double cost = analytic::tree_iteration_cost(tree_cost_of(*question.price), budget.nodes, budget.depth);
    dynamic.iteration_cost = cost;
    dynamic.speedup =
        Estimate{.mean = dynamic.tokens.mean / cost, .standard_error = dynamic.tokens.standard_error / cost};
  }
  return dynamic;
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
                    .dynamic = {},
                    .pmf = {},
                    .probabilities = {},
                    .notes = tree_notes(question)};
  if (question.growth) answer.dynamic = grow(question, accuracies, answer.chosen.tree);
  answer.pmf = analytic::tokens_pmf(answer.chosen.tree, accuracies);
  answer.probabilities = analytic::node_probabilities(answer.chosen.tree, accuracies);
  return answer;
}

}  // namespace foredraft

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

double known_us(const latency::Latency& latency, const latency::Profile& profile) {
  if (latency.inside) return latency.time_us;
  throw DomainError(fmt::format(
      "{}: this batch, context and number of nodes lie outside the domain of its fit - ask for fewer nodes, "
      "or measure more",
      profile.device.name));
}

Json judged_json(const JudgedTree& judged) {
  return {{"nodes", judged.tree.size()},
          {"depth", judged.tree.depth()},
          {"leaves", judged.tree.leaves()},
          {"tokens_per_iteration", judged.tokens},
          {"tokens_variance", judged.variance},
          {"iteration_cost", value_or_null(judged.iteration_cost)},
          {"speedup", value_or_null(judged.speedup)}};
}

Json dynamic_json(const TreeGrowth& growth, const DynamicTree& dynamic) {
  return {{"width", growth.width},
          {"depth", dynamic.depth},
          {"spread", growth.spread},
          {"confidence_temperature", growth.temperature},
          {"iterations", growth.iterations},
          {"seed", growth.seed},
          {"tokens_per_iteration", estimate_json(dynamic.tokens)},
          {"tokens_variance", dynamic.variance},
          {"tokens_exact", value_or_null(dynamic.exact)},
          {"tokens_bound", dynamic.bound},
          {"iteration_cost", value_or_null(dynamic.iteration_cost)},
          {"speedup", dynamic.speedup ? estimate_json(*dynamic.speedup) : Json(nullptr)},
          {"static_tree", judged_json(dynamic.static_tree)}};
}

}  // namespace

TreePrice price_from_profile(const latency::Profile& profile, const ProfileQuestion& pair, std::int64_t nodes,
                             std::int64_t depth) {
  const std::int64_t batch = pair.batches.front();
  const std::int64_t context = pair.contexts.front();
  const latency::TimedPair models = timed_pair_of(pair, profile);
  if (profile.source == latency::Source::datasheet && !pair.ignore_memory) {
    const auto memory = latency::memory_limit(profile, models, pair.drafting, pair.memory_utilization);
    if (memory) memory->check(batch, nodes, context);
  }
  const latency::PairSurface surface(profile, models, pair.drafting);
  TreePrice price{.verification = {}, .c = 0.0, .drafting = Drafting::autoregressive};
  for (std::int64_t n = 1; n <= nodes; ++n) {
    double us = known_us(surface.target_pass(n, batch, context), profile);
    // The root is a token of the target: without further nodes the step is a decode step.
    const auto catch_up = n > 1 ? surface.catch_up(n - 1, batch, context) : std::nullopt;
    if (catch_up) us += known_us(*catch_up, profile);
    price.verification.push_back(us);
  }
  const bool block = pair.drafting == latency::Role::block_drafting;
  if (block) price.drafting = Drafting::block;
  const std::int64_t drafts = block ? std::max<std::int64_t>(1, depth) : 1;
  price.c = known_us(surface.drafting(drafts, batch, context), profile) / price.verification.front();
  const bool heads = pair.drafting == latency::Role::head_drafting;
  price.times = fmt::format(
      "{}, source {}: {} {} at batch {}, context {}; sampling and the engine's own time not in it", profile.device.name,
      to_string(profile.source), models.target, heads ? "with heads" : "and " + models.draft, batch, context);
  for (const std::string& note : format_notes(surface, profile.device.name)) price.times += "; " + note;
  return price;
}

Json to_json(const TreeAnswer& answer) {
  const TreeQuestion& question = answer.question;
  Json json{{"schema", "foredraft.tree/1"},
            {"convention", "bonus"},
            {"tree", question.given ? "given" : "best"},
            {"most_nodes", question.nodes},
            {"most_depth", question.depth}};
  const auto& price = question.price;
  json["drafter"] = price ? Json(to_string(price->drafting)) : Json(nullptr);
  json["c"] = price ? Json(price->c) : Json(nullptr);
  json["times"] = price ? word_or_null(price->times) : Json(nullptr);
  json.update(judged_json(answer.chosen));
  json["tokens_pmf"] = answer.pmf;
  json["paths"] = Json::array();
  for (std::int64_t i = 1; i < answer.chosen.tree.size(); ++i) json["paths"].push_back(answer.chosen.tree.path(i));
  json["probabilities"] = std::vector<double>(answer.probabilities.begin() + 1, answer.probabilities.end());
  json["best"] = answer.best ? judged_json(*answer.best) : Json(nullptr);
  json["dense"] = judged_json(answer.dense);
  json["dense"]["widths"] = answer.dense_widths;
  json["chain"] = judged_json(answer.chain);
  if (answer.dynamic) json["dynamic"] = dynamic_json(*question.growth, *answer.dynamic);
  if (!answer.notes.empty()) json["notes"] = answer.notes;
  return json;
}

}  // namespace foredraft::answers
