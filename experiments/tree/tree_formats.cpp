// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/text/data_text.hpp"
#include "experiments/tree/tree_answer.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json paths_json(const TokenTree& tree) {
  Json paths = Json::array();
  for (std::int64_t i = 1; i < tree.size(); ++i) paths.push_back(tree.path(i));
  return paths;
}

Json judged_json(const JudgedTree& judged) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"nodes", judged.tree.size()},        {"depth", judged.tree.depth()},
          {"leaves", judged.tree.leaves()},     {"tokens_per_iteration", judged.tokens},
          {"tokens_variance", judged.variance}, {"iteration_cost", or_null(judged.iteration_cost)},
          {"speedup", or_null(judged.speedup)}};
}

}  // namespace

Json to_json(const TreeAnswer& answer) {
  const TreeQuestion& question = answer.question;
  Json json{{"schema", "foredraft.tree/1"},
            {"convention", "bonus"},
            {"tree", question.given ? "given" : "best"},
            {"most_nodes", question.nodes},
            {"most_depth", question.depth}};
  json["drafter"] = question.price ? Json(to_string(question.price->drafting)) : Json(nullptr);
  json["c"] = question.price ? Json(question.price->c) : Json(nullptr);
  json["times"] = question.price && !question.price->times.empty() ? Json(question.price->times) : Json(nullptr);
  json.update(judged_json(answer.chosen));
  json["tokens_pmf"] = answer.pmf;
  json["paths"] = paths_json(answer.chosen.tree);
  json["probabilities"] = std::vector<double>(answer.probabilities.begin() + 1, answer.probabilities.end());
  json["best"] = answer.best ? judged_json(*answer.best) : Json(nullptr);
  json["dense"] = judged_json(answer.dense);
  json["dense"]["widths"] = answer.dense_widths;
  json["chain"] = judged_json(answer.chain);
  if (!answer.notes.empty()) json["notes"] = answer.notes;
  return json;
}

std::string path_list(const TokenTree& tree) {
  std::string text;
  for (std::int64_t i = 1; i < tree.size(); ++i) {
    text += fmt::format("{}[{}]", i > 1 ? ", " : "", fmt::join(tree.path(i), ", "));
  }
  return "[" + text + "]";
}

std::string to_dot(const TreeAnswer& answer) {
  constexpr double widest = 4.0;
  std::string text =
      "digraph tree {\n"
      "  node [shape=circle, fontname=\"sans-serif\", fontsize=10, margin=0.03];\n"
      "  edge [arrowhead=none];\n"
      "  n0 [label=\"target\"];\n";
  const auto& nodes = answer.chosen.tree.nodes();
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const double probability = answer.probabilities[i];
    text += fmt::format("  n{} [label=\"{}\\n{:.1f} %\"];\n", i, nodes[i].rank, 100.0 * probability);
    text += fmt::format("  n{} -> n{} [penwidth={:.2f}];\n", nodes[i].parent, i, widest * probability + 0.3);
  }
  return text + "}\n";
}

std::string to_csv(const TokenTree& tree, const std::vector<double>& probabilities) {
  DataText data({"node", "parent", "depth", "rank", "path", "probability"});
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    data.row().cell(static_cast<double>(i));
    data.cell(i == 0 ? std::optional<double>() : static_cast<double>(node.parent));
    data.cell(static_cast<double>(node.depth)).cell(static_cast<double>(node.rank));
    data.cell(fmt::format("{}", fmt::join(tree.path(static_cast<std::int64_t>(i)), " "))).cell(probabilities[i]);
  }
  return data.csv();
}

}  // namespace foredraft::experiments
