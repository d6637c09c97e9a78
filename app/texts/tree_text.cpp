// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "app/texts/texts.hpp"
#include "core/csv.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

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

/// A row of the table, for a static or a dynamic tree.
struct TreeRow {
  std::int64_t nodes, depth;
  double tokens, variance;
  std::optional<double> iteration_cost, speedup;
};

std::string tree_row(const std::string& label, const TreeRow& tree) {
  std::string row = fmt::format("{:<{}}{:>6}{:>7}{:>9.4f}{:>10.4f}", label, tree_label_width, tree.nodes, tree.depth,
                                tree.tokens, std::sqrt(tree.variance));
  if (tree.speedup) {
    row += fmt::format("{:>11}{:>9}x", decimal_text(*tree.iteration_cost, 4), decimal_text(*tree.speedup, 4));
  }
  return row + "\n";
}

std::string tree_row(const std::string& label, const JudgedTree& judged) {
  return tree_row(label, TreeRow{.nodes = judged.tree.size(),
                                 .depth = judged.tree.depth(),
                                 .tokens = judged.tokens,
                                 .variance = judged.variance,
                                 .iteration_cost = judged.iteration_cost,
                                 .speedup = judged.speedup});
}

std::string dynamic_rows(const TreeAnswer& answer) {
  const DynamicTree& dynamic = *answer.dynamic;
  const TreeRow row{.nodes = answer.chosen.tree.size(),
                    .depth = dynamic.depth,
                    .tokens = dynamic.tokens.mean,
                    .variance = dynamic.variance,
                    .iteration_cost = dynamic.iteration_cost,
                    .speedup = dynamic.speedup ? std::optional(dynamic.speedup->mean) : std::nullopt};
  const std::int64_t width = answer.question.growth->width;
  return tree_row(fmt::format("dynamic (EAGLE-2), {} wide", width), row) +
         tree_row(fmt::format("static, {} wide", width), dynamic.static_tree);
}

std::string dynamic_line(const TreeAnswer& answer) {
  const DynamicTree& dynamic = *answer.dynamic;
  const TreeGrowth& growth = *answer.question.growth;
  const Interval interval = normal_interval(dynamic.tokens);
  const double gain = 100.0 * (dynamic.tokens.mean / dynamic.static_tree.tokens - 1.0);
  std::string line = fmt::format(
      "dynamic   {:.4f} to {:.4f} tokens (95 % interval of {} iterations), {} % {} than the static tree of the same "
      "width; no choice of so many nodes on average yields more than {:.4f}",
      interval.low, interval.high, growth.iterations, decimal_text(std::abs(gain), 1), gain < 0.0 ? "fewer" : "more",
      dynamic.bound);
  if (dynamic.exact) line += fmt::format("; exactly {:.4f}", *dynamic.exact);
  return line + "\n";
}

/// " (4 x 3 x 1)", up to a limit.
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
  text += tree_row("chain of first candidates", answer.chain);
  return answer.dynamic ? text + dynamic_rows(answer) : text;
}

std::string distribution_line(const TreeAnswer& answer) {
  std::vector<std::string> shares;
  for (const double p : answer.pmf) shares.push_back(fmt::format("{}: {:.1f} %", shares.size() + 1, 100.0 * p));
  return fmt::format("tokens    {}\n", fmt::join(shares, ", "));
}

}  // namespace

std::string to_text(const TreeAnswer& answer) {
  const TreeQuestion& question = answer.question;
  std::string text = tree_headline(answer) + "\n\n" + tree_table(answer) + "\n" + distribution_line(answer);
  if (answer.dynamic) text += dynamic_line(answer);
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
  if (answer.dynamic) {
    text += fmt::format(
        "assumes   of a tree that grows: each node has its own context, of spread {}, whose mean accuracies are those "
        "given; {}\n",
        question.growth->spread,
        question.growth->temperature == 1.0
            ? "confidences are accuracies"
            : fmt::format("confidences have temperature {}", question.growth->temperature));
  }
  return answer_lines(text, 10);
}

std::string path_list(const TokenTree& tree) {
  std::vector<std::string> paths;
  for (std::int64_t i = 1; i < tree.size(); ++i) paths.push_back(fmt::format("[{}]", fmt::join(tree.path(i), ", ")));
  return fmt::format("[{}]", fmt::join(paths, ", "));
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

}  // namespace foredraft::app
