// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analytic/tree/head_accuracies.hpp"
#include "analytic/tree/token_tree.hpp"
#include "foredraft/words.hpp"

/// What `foredraft tree` is asked, and what it has to say.
namespace foredraft::experiments {

/// Time of an iteration; without one the tree of the most tokens is the best.
struct TreePrice {
  std::vector<double> verification;  ///< [n - 1]: target pass over n positions; at least as many as nodes
  double c;                          ///< draft/target time of one step
  Drafting drafting;
  std::string times = {};  ///< whose they are, for people; empty: as stated
};

struct TreeQuestion {
  analytic::HeadAccuracies accuracies;
  std::int64_t nodes;                        ///< most nodes, the root included
  std::int64_t depth;                        ///< most drafted tokens of one path
  std::optional<analytic::TokenTree> given;  ///< a tree to judge; nothing: find the best
  std::optional<TreePrice> price;
};

/// One tree and what it does.
struct JudgedTree {
  analytic::TokenTree tree;
  double tokens;                         ///< per iteration
  double variance;                       ///< of them
  std::optional<double> iteration_cost;  ///< in steps of plain decoding
  std::optional<double> speedup;
};

struct TreeAnswer {
  TreeQuestion question;
  JudgedTree chosen;               ///< the given tree, or the best one
  std::optional<JudgedTree> best;  ///< beside a given tree: the best within its nodes and the depth
  JudgedTree dense;                ///< the tree of equal widths and most tokens within the nodes and the depth
  std::vector<std::int64_t> dense_widths;
  JudgedTree chain;                   ///< the best chain of first candidates within them
  std::vector<double> pmf;            ///< P(X = k) of the chosen tree at index k - 1
  std::vector<double> probabilities;  ///< that each of its nodes is accepted
};

[[nodiscard]] TreeAnswer answer_tree(TreeQuestion question);

/// The answer first, then trees side by side, then the tree itself.
[[nodiscard]] std::string to_text(const TreeAnswer& answer);

/// Schema foredraft.tree/1.
[[nodiscard]] nlohmann::ordered_json to_json(const TreeAnswer& answer);

/// Graphviz: a node for each token, labelled with its rank and the probability that it is accepted.
[[nodiscard]] std::string to_dot(const TreeAnswer& answer);

/// A row a node: node, parent, depth, rank, path, probability. What the figure is drawn from.
[[nodiscard]] std::string to_csv(const analytic::TokenTree& tree, const std::vector<double>& probabilities);

/// [[0], [0, 0], [1]]: Medusa's list, one that Python and JSON read.
[[nodiscard]] std::string path_list(const analytic::TokenTree& tree);

}  // namespace foredraft::experiments
