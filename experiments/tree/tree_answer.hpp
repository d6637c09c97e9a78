// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/tree.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// Output of `foredraft tree`.
namespace foredraft::experiments {

/// The answer first, then a comparison of trees, then the tree itself.
[[nodiscard]] std::string to_text(const TreeAnswer& answer);

/// Schema foredraft.tree/1.
[[nodiscard]] nlohmann::ordered_json to_json(const TreeAnswer& answer);

/// Graphviz: a node for each token, labeled with its rank and its acceptance probability.
[[nodiscard]] std::string to_dot(const TreeAnswer& answer);

/// One row per node: node, parent, depth, rank, path, probability. The data of the figure.
[[nodiscard]] std::string to_csv(const TokenTree& tree, const std::vector<double>& probabilities);

/// [[0], [0, 0], [1]]: Medusa's list, readable by Python and JSON.
[[nodiscard]] std::string path_list(const TokenTree& tree);

// ---- Cost of trees on a device, from its profile.

/// Profile and models.
struct PricedPair {
  latency::TimedPair models;
  latency::Role drafting;  ///< autoregressive: one forward pass of the drafter per depth; heads: one per depth; block:
                           ///< one in total
  std::int64_t batch;
  std::int64_t context;
};

/// Times of trees. Verification of n nodes: the target's pass over n tokens of each sequence, for n = 1 to `nodes`. A
/// depth costs one draft; a block of `depth` costs all of it. Passes of an autoregressive drafter count as passes over
/// one token for any width of the tree: if they are memory-bound the width is free. Throws DomainError if the profile
/// cannot answer, also for times outside of the domain of its fit, and for what does not fit into memory.
[[nodiscard]] TreePrice price_from_profile(const latency::Profile& profile, const PricedPair& pair, std::int64_t nodes,
                                           std::int64_t depth);

// ---- The files that `foredraft tree` reads. All of them skip blank lines and text after #. Each function throws
// InputError `file:line: ...` with every problem at once.

/// One row per head: the marginal accuracies of rank 1, 2, ..., separated by commas or blanks.
[[nodiscard]] std::vector<std::vector<double>> parse_accuracies(std::string_view text, const std::string& file);

/// The drafted nodes of a tree: one path of child ranks from 0 per line ("0,1"), or Medusa's list [[0], [0, 1], ...],
/// optionally with a name (name = [...]). The tree must be connected.
[[nodiscard]] TokenTree parse_tree(std::string_view text, const std::string& file);

/// Rows `nodes,time`: the target's time for this many positions, in any unit; the first row is for 1 position, rows
/// ascend. Returns the time for every number of positions up to the last row's, linear between rows.
[[nodiscard]] std::vector<double> parse_verification_times(std::string_view text, const std::string& file);

}  // namespace foredraft::experiments
