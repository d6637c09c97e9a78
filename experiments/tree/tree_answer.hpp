// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "foredraft/tree.hpp"
#include "latency/surfaces/surface_times.hpp"

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

}  // namespace foredraft::experiments
