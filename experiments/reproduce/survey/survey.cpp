// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "answers/tree_answer.hpp"
#include "core/numbers.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "inputs/devices.hpp"
#include "inputs/tree_files.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "sim/estimates.hpp"
#include "sim/process/tree_simulator.hpp"

namespace foredraft::experiments {
namespace {

/// Stages of IBM's multi-stage MLP drafter.
constexpr std::int64_t drafting_heads = 3;

/// Speedups of sentences, which the papers plot, are simulated; speedups of T5-small are expected values.
void claims(TableAccount& account, const ExperimentSettings& settings) {
  account.define_text(
      "sentences", [note = run_experiment("emnlp-figure6", settings).rows.back().note](const Cells&) { return note; });
  const PublishedTable& expected = published_table("leviathan_table4");
  std::vector<double> speedups;
  for (std::size_t row = 0; row < expected.size(); ++row) {
    if (expected.text(row, "approx_model") != "T5-small") continue;
    speedups.push_back(
        iid_speedup(expected.value(row, "alpha"), expected.count(row, "gamma"), expected.value(row, "c")));
  }
  account.define("t5_least", *std::min_element(speedups.begin(), speedups.end()));
  account.define("t5_greatest", *std::max_element(speedups.begin(), speedups.end()));
}

constexpr std::int64_t drawn_candidates = 4;  ///< candidates of a sequence that one pass verifies
constexpr std::int64_t short_prompt = 64;     ///< if not printed
constexpr std::int64_t told_batch = 16;

/// How verified tokens read the KV cache of their sequence.
struct CacheReading {
  const char* name;
  bool by_every_token;
};
constexpr std::array readings{CacheReading{"cache read once a sequence", false},
                              CacheReading{"cache read by every verified token", true}};

/// True if weights and KV caches of all sequences, with 2 bytes per number, fit.
bool fits_memory(const latency::Profile& device, const latency::ModelShape& shape, std::int64_t batch,
                 std::int64_t context) {
  constexpr double number_bytes = 2.0;
  const double cached = 2.0 * static_cast<double>(shape.layers * shape.kv_heads * shape.head_dim * batch * context);
  return number_bytes * (latency::parameters(shape) + cached) <= device.device.memory_bytes.value.value();
}

/// A server with one way of reading the KV cache.
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

/// Rows of survey_numbers with a latency with and without heads, and the conditions that we assume.
struct PrintedGain {
  std::size_t row;
  std::int64_t candidates;
  std::int64_t context;
};
constexpr std::array printed_gains{PrintedGain{2, 4, short_prompt}, PrintedGain{3, 2, 2048}};

void add_printed_gain(FigureAccount& figure, const PrintedGain& printed, const HeadServer& server) {
  const PublishedTable& table = published_table("survey_numbers");
  const std::string& condition = table.text(printed.row, "condition");
  const std::string gain =
      figure.declared().said("printed_gain", table.text(printed.row, "baseline"), table.text(printed.row, "value"),
                             table.value(printed.row, "baseline") / table.value(printed.row, "value"));
  figure.say(fmt::format(" {}: {};", condition, gain));
  for (const CacheReading& reading : readings) {
    const double speedup = server.speedup(reading, printed.candidates, 1, printed.context);
    figure.say(fmt::format(" {:.2f}x with {}{}", speedup, reading.name, &reading == &readings.back() ? "\n" : ","));
    figure.score(fmt::format("{}, {}", condition, reading.name), "speedup at batch 1", speedup, gain);
  }
}

void survey_batch_context(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const std::string target = "llama-2-7b";
  const latency::Profile device = inputs::read_profile("a100-80gb").profile;
  const latency::ModelShape& shape = latency::find_model(latency::model_registry(), target);
  const latency::PairSurface pair(device, latency::model_registry(), target, target, latency::Role::head_drafting);
  const HeadServer server{pair, figure.value("tokens_per_step")};
  figure.say_caption();
  for (const PrintedGain& printed : printed_gains) add_printed_gain(figure, printed, server);
  for (const CacheReading& reading : readings) {
    for (const std::int64_t context : {short_prompt, std::int64_t{512}, std::int64_t{2048}, std::int64_t{4096}}) {
      const std::string curve = fmt::format("{}, context {}", reading.name, context);
      figure.say(fmt::format(" {}:", curve));
      for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64, 128}) {
        if (!fits_memory(device, shape, batch, context)) continue;
        const double speedup = server.speedup(reading, drawn_candidates, batch, context);
        figure.row(reading.name, context, batch, speedup);
        if (batch != 1 && batch != told_batch) continue;
        figure.say(fmt::format(" {:.2f}x at batch {}", speedup, batch));
        figure.score(curve, fmt::format("speedup at batch {}", batch), speedup, figure.declared().text("by_sheet"));
      }
      figure.say("\n");
    }
  }
}

constexpr std::size_t printed_ranks = 5;
constexpr std::size_t medusa_ranks = 10;  // considered by Medusa's own search

/// Accuracies of ranks 1 to 5 from the printed top-k accuracies; ranks 6 to 10 from a power law through ranks 2 and 5.
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

/// The tree for these heads in Medusa's code.
analytic::TokenTree shipped_tree() {
  const PublishedTable& published = published_table("medusa_tree_7b_63");
  std::string lines;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const std::string& path = published.text(i, "path");
    lines += path.substr(1, path.size() - 2) + "\n";
  }
  return inputs::parse_tree(lines, "medusa_tree_7b_63.csv");
}

Estimate simulated_tree_tokens(const analytic::TokenTree& tree, const std::vector<std::vector<double>>& rows,
                               std::uint64_t point, const ExperimentSettings& settings) {
  const auto simulator = sim::make_tree_simulator(
      {.nodes = tree.nodes(), .accuracies = rows, .drafting = Drafting::block, .iterations = 200'000});
  return sim::tokens_per_iteration(
      sim::run(*simulator, {.seed = settings.seed, .point = point, .stop = settings.stop}, settings.threads));
}

std::vector<analytic::TreePath> paths_of(const analytic::TokenTree& tree) {
  std::vector<analytic::TreePath> paths;
  for (std::int64_t i = 1; i < tree.size(); ++i) paths.push_back(tree.path(i));
  return paths;
}

/// The data has one row per node of either tree and states which trees have it.
void survey_medusa_tree(FigureAccount& figure, const ExperimentSettings& settings) {
  const PublishedTable& published = published_table("medusa_head_accuracies");
  const auto rows = medusa_rows(published);
  const analytic::HeadAccuracies accuracies(rows);
  const analytic::TokenTree shipped = shipped_tree();
  const analytic::TreeBudget budget{.nodes = shipped.size(), .depth = accuracies.heads()};
  const analytic::TokenTree greedy = analytic::greedy_tree(accuracies, budget);
  FigureAccount tokens(figure.declared().part("tokens"));
  std::uint64_t point = 0;
  const auto add_tree = [&](const std::string& name, const analytic::TokenTree& tree) {
    const Estimate run = simulated_tree_tokens(tree, rows, point++, settings);
    tokens.shown({name, fmt::format("{}", tree.size()), fmt::format("{}", tree.depth()),
                  fmt::format("{:.4f}", analytic::tokens_per_iteration(tree, accuracies)),
                  fmt::format("{:.4f} +- {:.4f}", run.mean, normal_quantile(0.95) * run.standard_error)});
  };
  add_tree("greedy, on these accuracies", greedy);
  add_tree("shipped with Medusa (mc_sim_7b_63)", shipped);
  add_tree("best dense tree", analytic::dense_tree(analytic::best_dense_widths(accuracies, budget)));
  add_tree("chain of first candidates", analytic::dense_tree(std::vector<std::int64_t>(rows.size(), 1)));

  std::map<analytic::TreePath, std::string_view> owners;
  for (const analytic::TreePath& path : paths_of(greedy)) owners[path] = "greedy";
  std::size_t shared = 0;
  for (const analytic::TreePath& path : paths_of(shipped)) {
    const bool is_shared = owners.contains(path);
    owners[path] = is_shared ? "both" : "shipped";
    if (is_shared) ++shared;
  }
  std::vector<analytic::TreePath> paths;
  for (const auto& [path, owner] : owners) paths.push_back(path);
  const analytic::TokenTree both = analytic::tree_from_paths(paths);
  const std::vector<double> probability = analytic::node_probabilities(both, accuracies);
  figure.row(0, "", both.nodes()[0].depth, both.nodes()[0].rank, probability[0], "both");
  for (std::size_t i = 1; i < both.nodes().size(); ++i) {
    const analytic::TreeNode& node = both.nodes()[i];
    figure.row(i, node.parent, node.depth, node.rank, probability[i],
               owners.at(both.path(static_cast<std::int64_t>(i))));
  }
  figure.say_declared("heading", shared);
  tokens.say_table();
  figure.append(tokens.finish());
  for (std::size_t head = 0; head < published.size(); ++head) {
    const std::string row = published.text(head, "model") + " " + published.text(head, "head");
    for (std::size_t k = 1; k <= printed_ranks; ++k) {
      const std::string column = fmt::format("top{}", k);
      figure.score_input(row, column, published.number(head, column));
    }
  }
}

}  // namespace

ExperimentCodes surveys() {
  return {
      {"claims", claims}, {"survey-batch-context", survey_batch_context}, {"survey-medusa-tree", survey_medusa_tree}};
}

}  // namespace foredraft::experiments
