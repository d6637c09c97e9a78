// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "analytic/tokens/acceptance.hpp"
#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/numbers.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "experiments/tree/tree_answer.hpp"
#include "experiments/tree/tree_files.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "sim/estimates.hpp"
#include "sim/process/tree_simulator.hpp"

namespace foredraft::experiments {
namespace {

/// Of IBM's multi-stage MLP drafter.
constexpr std::int64_t drafting_heads = 3;

/// The i.i.d. acceptance of three heads that explains their tokens per step.
Computed head_acceptance(const PrintedNumber& tokens) {
  const RoundedValue alpha = propagate_rounding({rounded(tokens)}, [](std::span<const double> in) {
    return analytic::alpha_from_acceptance_length(in[0], drafting_heads, Convention::bonus);
  });
  return Computed(tokens.value, {drafting_heads, alpha, drafting_heads + 1});
}

void survey(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.compute("baseline", [&](std::size_t row) { return head_acceptance(table.number(row, "baseline")); });
  account.compute("value", [&](std::size_t row) {
    const std::string& quantity = table.text(row, "quantity");
    if (quantity == "tokens per step") return head_acceptance(table.number(row, "value"));
    if (quantity == "throughput") return Computed::of_words({1000.0 / table.value(row, "value")});
    return Computed::of_words({table.text(row, "baseline"),
                               evaluate([](const Cells& at) { return at("baseline") / at("value"); }, table, row)});
  });
}

constexpr std::int64_t drawn_candidates = 4;  ///< continuations of a sequence that one pass verifies
constexpr std::int64_t short_prompt = 64;     ///< where none is printed
constexpr std::array<std::int64_t, 8> survey_batches{1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 4> survey_contexts{short_prompt, 512, 2048, 4096};
constexpr std::int64_t told_batch = 16;

/// How verified tokens read the cache of their sequence.
struct CacheReading {
  const char* name;
  bool by_every_token;
};
constexpr std::array readings{CacheReading{"cache read once a sequence", false},
                              CacheReading{"cache read by every verified token", true}};

/// Weights and cached keys and values of all sequences, 2 bytes a number.
bool fits_memory(const latency::Profile& device, const latency::ModelShape& shape, std::int64_t batch,
                 std::int64_t context) {
  constexpr double number_bytes = 2.0;
  const double cached = 2.0 * static_cast<double>(shape.layers * shape.kv_heads * shape.head_dim * batch * context);
  return number_bytes * (latency::parameters(shape) + cached) <= device.device.memory_bytes.value.value();
}

/// One server, with the cache read in one of the ways.
struct HeadServer {
  const latency::PairSurface& pair;
  double tokens_per_step;

  [[nodiscard]] double speedup(const CacheReading& reading, std::int64_t candidates, std::int64_t batch,
                               std::int64_t context) const {
    const std::int64_t verified = candidates * (drafting_heads + 1);
    const double plain_us = pair.target_pass(1, batch, context).time_us;
    const double verify_us = reading.by_every_token ? pair.target_pass(1, batch * verified, context).time_us
                                                    : pair.target_pass(verified, batch, context).time_us;
    return tokens_per_step * plain_us / (pair.drafting(drafting_heads, batch, context).time_us + verify_us);
  }
};

ScorecardRow speedup_row(std::string row, std::string column, double speedup, std::string note) {
  return {.experiment = "survey-batch-context",
          .row = std::move(row),
          .column = std::move(column),
          .ours = speedup,
          .note = std::move(note)};
}

/// Rows of survey_numbers that print a latency with and without heads, and what we take of their conditions.
struct PrintedGain {
  std::size_t row;
  std::int64_t candidates;
  std::int64_t context;
};
constexpr std::array printed_gains{PrintedGain{2, 4, short_prompt}, PrintedGain{3, 2, 2048}};

void add_printed_gain(const PrintedGain& printed, const Declaration& declared, const HeadServer& server,
                      ExperimentResult& result) {
  const PublishedTable& table = published_table("survey_numbers");
  const std::string gain =
      declared.text("printed_gain", {table.text(printed.row, "baseline"), table.text(printed.row, "value"),
                                     table.value(printed.row, "baseline") / table.value(printed.row, "value")});
  result.text += fmt::format(" {}: {};", table.text(printed.row, "condition"), gain);
  for (const CacheReading& reading : readings) {
    const double speedup = server.speedup(reading, printed.candidates, 1, printed.context);
    result.text += fmt::format(" {:.2f}x with {}{}", speedup, reading.name, &reading == &readings.back() ? "\n" : ",");
    result.rows.push_back(speedup_row(fmt::format("{}, {}", table.text(printed.row, "condition"), reading.name),
                                      "speedup at batch 1", speedup, gain));
  }
}

void add_curve(const CacheReading& reading, std::int64_t context, const Declaration& declared, const HeadServer& server,
               const std::vector<std::int64_t>& batches, DataText& data, ExperimentResult& result) {
  result.text += fmt::format(" {}, context {}:", reading.name, context);
  for (const std::int64_t batch : batches) {
    const double speedup = server.speedup(reading, drawn_candidates, batch, context);
    data.row().cell(reading.name).cell(static_cast<double>(context)).cell(static_cast<double>(batch)).cell(speedup);
    if (batch != 1 && batch != told_batch) continue;
    result.text += fmt::format(" {:.2f}x at batch {}", speedup, batch);
    result.rows.push_back(speedup_row(fmt::format("{}, context {}", reading.name, context),
                                      fmt::format("speedup at batch {}", batch), speedup, declared.text("by_sheet")));
  }
  result.text += "\n";
}

ExperimentResult survey_batch_context(const Declaration& declared, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = published_table("survey_numbers");
  constexpr std::size_t tokens_row = 4;
  const std::string target = "llama-2-7b";
  const latency::Profile device = read_profile("a100-80gb").profile;
  const latency::ModelShape& shape = latency::find_model(latency::model_registry(), target);
  const latency::PairSurface pair(device, latency::model_registry(), target, target, latency::Role::head_drafting);
  const HeadServer server{pair, table.value(tokens_row, "value")};
  ExperimentResult result{.text = declared.text("caption", {drafting_heads, table.text(tokens_row, "value")})};
  for (const PrintedGain& printed : printed_gains) add_printed_gain(printed, declared, server, result);
  DataText data = declared.data();
  for (const CacheReading& reading : readings) {
    for (const std::int64_t context : survey_contexts) {
      std::vector<std::int64_t> fitting;
      std::copy_if(survey_batches.begin(), survey_batches.end(), std::back_inserter(fitting),
                   [&](std::int64_t batch) { return fits_memory(device, shape, batch, context); });
      add_curve(reading, context, declared, server, fitting, data, result);
    }
  }
  result.artifacts = {{declared.id() + ".csv", data.csv()}};
  return result;
}

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
      const double top = published.value(head, fmt::format("top{}", k));
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
  const PublishedTable& published = published_table("medusa_tree_7b_63");
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

using PathSet = std::set<analytic::TreePath>;
PathSet paths_of(const analytic::TokenTree& tree) {
  PathSet paths;
  for (std::int64_t i = 1; i < tree.size(); ++i) paths.insert(tree.path(i));
  return paths;
}

/// Both trees in one, a row a node: which of them has it.
void add_union(DataText& data, const analytic::TokenTree& ours, const analytic::TokenTree& shipped,
               const analytic::HeadAccuracies& accuracies) {
  const PathSet in_ours = paths_of(ours);
  const PathSet in_shipped = paths_of(shipped);
  PathSet all = in_ours;
  all.insert(in_shipped.begin(), in_shipped.end());
  const analytic::TokenTree both = analytic::tree_from_paths(std::vector<analytic::TreePath>(all.begin(), all.end()));
  const std::vector<double> probability = analytic::node_probabilities(both, accuracies);
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
}

ExperimentResult survey_medusa_tree(const Declaration& declared, const ExperimentSettings& settings) {
  const PublishedTable& published = published_table("medusa_head_accuracies");
  const auto rows = medusa_rows(published);
  const analytic::HeadAccuracies accuracies(rows);
  const analytic::TokenTree shipped = shipped_tree();
  const analytic::TreeBudget budget{.nodes = shipped.size(), .depth = accuracies.heads()};
  const analytic::TokenTree greedy = analytic::greedy_tree(accuracies, budget);
  const PathSet in_greedy = paths_of(greedy);
  const PathSet in_shipped = paths_of(shipped);
  const auto shared =
      std::count_if(in_greedy.begin(), in_greedy.end(), [&](const auto& path) { return in_shipped.contains(path); });
  Table table = declared.part("tokens").table();
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

  ExperimentResult result{.text = declared.text("heading", {shared}) + to_text(table)};
  result.add_table(declared.part("tokens").id(), table);
  DataText data = declared.data();
  add_union(data, greedy, shipped, accuracies);
  result.artifacts.push_back({declared.id() + ".csv", data.csv()});
  for (std::size_t head = 0; head < published.size(); ++head) {
    const std::string row = published.text(head, "model") + " " + published.text(head, "head");
    for (std::size_t k = 1; k <= printed_ranks; ++k) {
      const std::string column = fmt::format("top{}", k);
      result.rows.push_back(input_row(declared.id(), row, column, published.number(head, column)));
    }
  }
  return result;
}

}  // namespace

TableCodes survey_tables() { return {{"survey", survey}}; }

FigureCodes survey_figures() {
  return {{"survey-batch-context", survey_batch_context}, {"survey-medusa-tree", survey_medusa_tree}};
}

}  // namespace foredraft::experiments
