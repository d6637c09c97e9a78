// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/tree/tree_search.hpp"
#include "answers/tree_answer.hpp"
#include "app/answer_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/device_price.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/digest.hpp"
#include "core/progress.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "inputs/tree_files.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t max_tree_nodes = 16'384;
constexpr std::int64_t max_tree_depth = 1'024;
constexpr std::int64_t max_tree_expansion = 1'024;
constexpr double any_cost = std::numeric_limits<double>::max();

/// The options, before any file is read.
struct TreeOptions {
  std::int64_t nodes;
  std::optional<std::int64_t> depth;
  std::optional<double> c, growth;
  std::string drafter;
  std::optional<answers::ProfileQuestion> price;
  std::optional<TreeGrowth> expansion;
};

/// With --expand, the question is about a dynamic tree.
std::optional<TreeGrowth> read_growth(CommandLine& line) {
  const auto width = line.integer("expand", 1, max_tree_expansion);
  if (!line.has("expand")) {
    for (const std::string_view name : {"spread", "confidence-temperature", "iterations", "seed"}) {
      line.reject_any({name}, "given without --expand", "it describes a tree that grows while drafting",
                      "e.g. --expand 10");
    }
    return std::nullopt;
  }
  line.require("spread", "how much the accuracies of contexts differ", "0: not at all, 1: as much as they can");
  TreeGrowth growth{.width = width.value_or(1)};
  growth.spread = line.real("spread", 0.0, 1.0).value_or(0.0);
  growth.temperature = line.real("confidence-temperature", 0.01, 100.0).value_or(growth.temperature);
  constexpr std::int64_t most_iterations = 1'000'000'000;
  growth.iterations = static_cast<std::uint64_t>(
      line.integer("iterations", 1, most_iterations).value_or(static_cast<std::int64_t>(growth.iterations)));
  growth.seed =
      static_cast<std::uint64_t>(line.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  return growth;
}

TreeOptions read_options(CommandLine& line) {
  line.require("accuracies", "one row a head: marginal accuracy of rank 1, 2, ...", "e.g. --accuracies heads.csv");
  if (!line.has("paths")) line.require("nodes", "how many the target verifies, the root included", "e.g. --nodes 64");
  if (line.has("every-depth") && !line.has("depth")) {
    line.require("depth", "with --every-depth nothing else limits the depth", "e.g. --depth 10");
  }
  if (line.has("cost-file")) {
    line.reject_any({"verify-growth"}, "mutually exclusive with --cost-file", "the time of verification is stated once",
                    "keep one");
  }
  if (line.has("json")) {
    line.reject_any({"dot"}, "mutually exclusive with --json", "standard output holds one document", "keep one");
  }
  const std::string drafter = read_drafter_word(line, {"autoregressive", "block", "heads"}).value_or("autoregressive");
  return {.nodes = line.integer("nodes", 1, max_tree_nodes).value_or(1),
          .depth = line.integer("depth", 0, max_tree_depth),
          .c = line.real("c", 0.0, any_cost),
          .growth = line.real("verify-growth", 0.0, any_cost),
          .drafter = drafter,
          .price = read_asked_price(line, drafter),
          .expansion = read_growth(line)};
}

std::vector<std::vector<double>> read_accuracies(CommandLine& line, const TreeOptions& options,
                                                 std::vector<FileDigest>& files) {
  const std::string path = line.text("accuracies").value();
  auto rows = inputs::parse_accuracies(read_input(path, files), path);
  if (line.has("every-depth")) {
    if (rows.size() != 1) {
      line.reject("every-depth", fmt::format("{} has {} rows", path, rows.size()), "one row must hold at every depth");
      line.done();
    }
    rows.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, *options.depth)), rows.front());
  }
  const auto heads = static_cast<std::int64_t>(rows.size());
  if (heads > max_tree_depth) throw InputError(fmt::format("{}: more than {} heads", path, max_tree_depth));
  if (options.depth.value_or(0) > heads) {
    line.reject("depth", fmt::format("invalid depth={}", *options.depth), fmt::format("{} has {} heads", path, heads),
                "give more rows, or --every-depth where one row holds at every depth");
    line.done();
  }
  return rows;
}

std::optional<TreePrice> read_price(CommandLine& line, const TreeOptions& options, std::int64_t nodes,
                                    std::int64_t depth, std::vector<FileDigest>& files) {
  if (options.price) return read_device_price(line, *options.price, nodes, depth, files);
  const auto file = line.text("cost-file");
  if (!options.c && !options.growth && !file) return std::nullopt;
  TreePrice price{.verification = file ? inputs::parse_verification_times(read_input(*file, files), *file)
                                       : analytic::linear_verification(nodes, options.growth.value_or(0.0)),
                  .c = options.c.value_or(0.0),
                  .drafting = parse_drafting(options.drafter).value()};
  if (static_cast<std::int64_t>(price.verification.size()) < nodes) {
    line.reject("cost-file", fmt::format("{} ends at {} nodes", *file, price.verification.size()),
                fmt::format("{} nodes are asked for, and beyond its last row nothing is known", nodes),
                "measure larger trees, or ask for fewer nodes");
    line.done();
  }
  return price;
}

/// Adds the digests of the files that it reads to `files`.
TreeQuestion read_tree_question(CommandLine& line, std::vector<FileDigest>& files) {
  const TreeOptions options = read_options(line);
  line.done();
  std::vector<std::vector<double>> accuracies = read_accuracies(line, options, files);
  std::optional<TokenTree> given;
  if (const auto path = line.text("paths")) given = inputs::parse_tree(read_input(*path, files), *path);
  const std::int64_t nodes = std::max(options.nodes, given ? given->size() : 1);
  if (nodes > max_tree_nodes) throw InputError(fmt::format("--paths: more than {} nodes", max_tree_nodes));
  const std::int64_t depth = options.depth.value_or(static_cast<std::int64_t>(accuracies.size()));
  auto price = read_price(line, options, nodes, depth, files);
  return {.accuracies = std::move(accuracies),
          .nodes = nodes,
          .depth = depth,
          .given = std::move(given),
          .price = std::move(price),
          .growth = options.expansion};
}

int run_tree(CommandLine& line) {
  std::vector<FileDigest> files;
  const TreeQuestion question = read_tree_question(line, files);
  const TreeAnswer answer = in_phase("searching the tree", [&] { return best_tree(question); });
  const std::string json = experiments::document_text(answers::to_json(answer));
  const std::string dot = to_dot(answer);
  return print_answer(line,
                      line.has("json")  ? json
                      : line.has("dot") ? dot
                                        : to_text(answer),
                      {.kind = {.schema = "foredraft.tree_result/1"}, .inputs = files, .write = [&](auto& out) {
                         out.write("tree.json", json);
                         out.write("tree.csv", to_csv(answer.chosen.tree, answer.probabilities));
                         out.write("tree.dot", dot);
                       }});
}

}  // namespace

Command tree_command() {
  return {
      {.name = "tree",
       .arguments = "--accuracies FILE --nodes N [--depth D] [options]",
       .summary =
           "Finds the token tree of the most expected tokens, or of the largest speedup, from accuracies by rank.",
       .options = {{"json", "", "one JSON document, schema foredraft.tree/1"},
                   {"dot", "", "print the tree for Graphviz, e.g. | dot -Tsvg"},
                   {"out", "DIR", "also write tree.json, tree.csv, tree.dot and tree.{pdf,svg,png}"}},
       .min_positional = 0,
       .max_positional = 0,
       .examples = {"foredraft tree --accuracies experiments/configs/medusa_heads.csv --nodes 64",
                    "foredraft tree --accuracies experiments/configs/medusa_heads.csv --nodes 128 --c 0.01 "
                    "--drafter block --verify-growth 0.005 --out results/tree",
                    "foredraft tree --accuracies experiments/configs/medusa_heads.csv --nodes 64 --profile h200 "
                    "--target vicuna-33b --drafter heads --batch 4"},
       .groups =
           {{"which tree",
             {{"accuracies", "FILE",
               "a row per head: marginal accuracy of rank 1, 2, ..., separated by blanks or commas"},
              {"nodes", "N", "maximum nodes, including the root (the target's own token)"},
              {"depth", "D", "maximum depth of a path in drafted tokens (default: the number of heads)"},
              {"every-depth", "", "use the file's one row at every depth: a draft model instead of heads"},
              {"paths", "FILE", "evaluate this tree: a path of child ranks per line, or Medusa's list [[0], [0, 1]]"}}},
            {"cost of forward passes; with it the tree of the largest speedup is sought",
             {{"c", "C", "time of a draft step over that of a target decode step"},
              {"drafter", "D",
               "autoregressive (default): drafting costs depth * c; block: c; heads, with a profile: one "
               "head per depth"},
              {"verify-growth", "G", "decode steps that each node after the first adds (default 0)"},
              {"cost-file", "FILE", "or: rows nodes,time with the verification time, in any unit, from 1 node on"}}},
            {"also a tree of that size which grows while drafting (EAGLE-2)",
             {{"expand", "K", "expand the K nodes of the largest value at each depth, with K candidates each"},
              {"spread", "S", "variation between contexts, from 0 (none) to 1 (the maximum)"},
              {"confidence-temperature", "T", "below 1: overconfident, 1 (default): calibrated"},
              {"iterations", "N", "iterations to simulate (default 100000)"},
              {"seed", "N", "random seed (default 1)"}}},
            device_price_options(),
            deployment_options()}},
      run_tree};
}

}  // namespace foredraft::app
