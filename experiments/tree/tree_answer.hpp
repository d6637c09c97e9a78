// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "foredraft/tree.hpp"

/// What `foredraft tree` says of an answer.
namespace foredraft::experiments {

/// The answer first, then trees side by side, then the tree itself.
[[nodiscard]] std::string to_text(const TreeAnswer& answer);

/// Schema foredraft.tree/1.
[[nodiscard]] nlohmann::ordered_json to_json(const TreeAnswer& answer);

/// Graphviz: a node for each token, labelled with its rank and the probability that it is accepted.
[[nodiscard]] std::string to_dot(const TreeAnswer& answer);

/// A row a node: node, parent, depth, rank, path, probability. What the figure is drawn from.
[[nodiscard]] std::string to_csv(const TokenTree& tree, const std::vector<double>& probabilities);

/// [[0], [0, 0], [1]]: Medusa's list, one that Python and JSON read.
[[nodiscard]] std::string path_list(const TokenTree& tree);

}  // namespace foredraft::experiments
