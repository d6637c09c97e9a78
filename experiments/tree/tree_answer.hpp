// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "foredraft/tree.hpp"
#include "latency/surfaces/surface_times.hpp"

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

// ---- What trees cost on a device, from its profile.

/// Where and with which models.
struct PricedPair {
  latency::TimedPair models;
  latency::Role drafting;  ///< autoregressive: a pass of the drafter a depth; heads: one a depth; block: one pass
  std::int64_t batch;
  std::int64_t context;
};

/// Verification of n nodes: the target's pass over n tokens of each sequence, for n = 1 to `nodes`. A depth: what one
/// draft costs; all of a block of `depth`. Passes of an autoregressive drafter count as passes over one token, however
/// wide the tree: where they are bound by memory the width is free. Throws DomainError where the profile cannot answer,
/// also for times outside of the domain of its fit, and for what does not
/// fit into memory.
[[nodiscard]] TreePrice price_from_profile(const latency::Profile& profile, const PricedPair& pair, std::int64_t nodes,
                                           std::int64_t depth);

}  // namespace foredraft::experiments
