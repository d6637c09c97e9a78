// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/numbers.hpp"
#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/tree/tree_answer.hpp"
#include "experiments/tree/tree_files.hpp"
#include "sim/estimates.hpp"
#include "sim/process/tree_simulator.hpp"

namespace foredraft::experiments {
namespace {

constexpr auto medusa_id = "survey-medusa-tree";
constexpr std::size_t printed_ranks = 5;
constexpr std::size_t medusa_ranks = 10;  // that Medusa's own search considers
constexpr std::uint64_t medusa_iterations = 200'000;

/// Accuracies of rank 1 to 5 from the printed top-k accuracies, and of rank 6 to 10 from a power of the rank through
/// those of rank 2 and 5.
std::vector<std::vector<double>> medusa_rows(const PublishedTable& published) {
  std::vector<std::vector<double>> rows;
  for (std::size_t head = 0; head < published.size(); ++head) {
    std::vector<double> row;
    double before = 0.0;
    for (std::size_t k = 1; k <= printed_ranks; ++k) {
      const double top = published.number(head, fmt::format("top{}", k)).value;
      row.push_back(top - before);
      before = top;
    }
    const double exponent = std::log(row[1] / row[4]) / std::log(5.0 / 2.0);
    for (std::size_t rank = printed_ranks + 1; rank <= medusa_ranks; ++rank) {
      row.push_back(row[4] * std::pow(5.0 / static_cast<double>(rank), exponent));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The tree that Medusa's code ships for these heads.
analytic::TokenTree shipped_tree() {
  const PublishedTable published = published_table("medusa_tree_7b_63");
  std::string lines;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const std::string& path = published.text(i, "path");
    lines += path.substr(1, path.size() - 2) + "\n";
  }
  return parse_tree(lines, "medusa_tree_7b_63.csv");
}

Estimate simulated_tree_tokens(const analytic::TokenTree& tree, const std::vector<std::vector<double>>& rows,
                               std::uint64_t point, const ExperimentSettings& settings) {
  std::vector<sim::Branch> branches;
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    branches.push_back({.parent = tree.nodes()[i].parent, .rank = tree.nodes()[i].rank});
  }
  const auto simulator = sim::make_tree_simulator({.tree = sim::DraftTree(branches),
                                                   .accuracies = rows,
                                                   .drafting = Drafting::block,
                                                   .iterations = medusa_iterations});
  return sim::tokens_per_iteration(
      sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads));
}

using PathSet = std::map<analytic::TreePath, bool>;
PathSet paths_of(const analytic::TokenTree& tree) {
  PathSet paths;
  for (std::int64_t i = 1; i < tree.size(); ++i) paths[tree.path(i)] = true;
  return paths;
}

/// Both trees in one, a row a node: which of them has it.
std::string union_data(const analytic::TokenTree& ours, const analytic::TokenTree& shipped,
                       const analytic::HeadAccuracies& accuracies) {
  const PathSet in_ours = paths_of(ours);
  const PathSet in_shipped = paths_of(shipped);
  PathSet all = in_ours;
  all.insert(in_shipped.begin(), in_shipped.end());
  std::vector<analytic::TreePath> paths;
  for (const auto& [path, present] : all) paths.push_back(path);
  const analytic::TokenTree both = analytic::tree_from_paths(paths);
  const std::vector<double> probability = analytic::node_probabilities(both, accuracies);
  DataText data({"node", "parent", "depth", "rank", "probability", "tree"});
  for (std::size_t i = 0; i < both.nodes().size(); ++i) {
    const analytic::TreeNode& node = both.nodes()[i];
    const analytic::TreePath path = both.path(static_cast<std::int64_t>(i));
    const bool ours_too = path.empty() || in_ours.contains(path);
    const bool shipped_too = path.empty() || in_shipped.contains(path);
    data.row().cell(static_cast<double>(i));
    data.cell(i == 0 ? std::optional<double>() : static_cast<double>(node.parent));
    data.cell(static_cast<double>(node.depth)).cell(static_cast<double>(node.rank)).cell(probability[i]);
    data.cell(ours_too && shipped_too ? "both" : (ours_too ? "greedy" : "shipped"));
  }
  return data.csv();
}

}  // namespace

ExperimentResult survey_medusa_tree(const ExperimentSettings& settings) {
  using enum Table::Align;
  const PublishedTable published = published_table("medusa_head_accuracies");
  const auto rows = medusa_rows(published);
  const analytic::HeadAccuracies accuracies(rows);
  const analytic::TokenTree shipped = shipped_tree();
  const analytic::TreeBudget budget{.nodes = shipped.size(), .depth = accuracies.heads()};
  const analytic::TokenTree greedy = analytic::greedy_tree(accuracies, budget);
  const PathSet in_greedy = paths_of(greedy);
  const PathSet in_shipped = paths_of(shipped);
  const auto shared = std::count_if(in_greedy.begin(), in_greedy.end(),
                                    [&](const auto& path) { return in_shipped.contains(path.first); });

  Table table{
      .caption =
          "Medusa's sparse tree [Cai2024]: trees of at most 64 nodes on the head accuracies of Vicuna-7B at the "
          "end of their training. Ranks 1 to 5 as published, 6 to 10 extended by a power of the rank.",
      .columns =
          {{"tree", left}, {"nodes", right}, {"depth", right}, {"tokens per iteration", right}, {"simulated", right}},
      .rows = {}};
  std::uint64_t point = 0;
  const auto add = [&](const std::string& name, const analytic::TokenTree& tree) {
    const Estimate run = simulated_tree_tokens(tree, rows, point++, settings);
    table.rows.push_back({name, fmt::format("{}", tree.size()), fmt::format("{}", tree.depth()),
                          fmt::format("{:.4f}", analytic::tokens_per_iteration(tree, accuracies)),
                          fmt::format("{:.4f} +- {:.4f}", run.mean, normal_quantile(0.95) * run.standard_error)});
  };
  add("greedy, on these accuracies", greedy);
  add("shipped with Medusa (mc_sim_7b_63)", shipped);
  add("best dense tree", analytic::dense_tree(analytic::best_dense_widths(accuracies, budget)));
  add("chain of first candidates", analytic::dense_tree(std::vector<std::int64_t>(rows.size(), 1)));

  ExperimentResult result;
  result.text = fmt::format(
      "sparse trees of 64 nodes for Vicuna-7B; {} of 63 drafted nodes are in both, the shipped tree was searched on "
      "other accuracies\n{}",
      shared, to_text(table));
  result.artifacts = table_artifacts(fmt::format("{}-tokens", medusa_id), table);
  result.artifacts.push_back({fmt::format("{}.csv", medusa_id), union_data(greedy, shipped, accuracies)});
  for (std::size_t head = 0; head < published.size(); ++head) {
    const std::string row = published.text(head, "model") + " " + published.text(head, "head");
    for (std::size_t k = 1; k <= printed_ranks; ++k) {
      const std::string column = fmt::format("top{}", k);
      result.rows.push_back(input_row(medusa_id, row, column, published.number(head, column)));
    }
  }
  return result;
}

}  // namespace foredraft::experiments
