// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "foredraft/tree.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// Trees as JSON, and what they cost on a device.
namespace foredraft::answers {

/// Schema foredraft.tree/1.
[[nodiscard]] nlohmann::ordered_json to_json(const TreeAnswer& answer);

// ---- Cost of trees on a device, from its profile.

/// Profile and models.
struct PricedPair {
  latency::TimedPair models;
  latency::Role drafting;  ///< autoregressive: one forward pass of the drafter per depth; heads: one per depth; block:
                           ///< one in total
  std::int64_t batch;
  std::int64_t context;
};

/// Times of trees. Verification of n nodes: the target's pass over n tokens of each sequence, for n = 1 to `nodes`, and
/// from 2 on the drafter's catch-up pass over them where the profile's engine has one. A depth costs one draft, as
/// timed inside of the loop where the profile holds that; a block of `depth` costs all of it. Passes of an
/// autoregressive drafter count as passes over one token for any width of the tree: if they are memory-bound the width
/// is free. Throws DomainError if the profile cannot answer, also for times outside of the domain of its fit, and for
/// what does not fit into memory.
[[nodiscard]] TreePrice price_from_profile(const latency::Profile& profile, const PricedPair& pair, std::int64_t nodes,
                                           std::int64_t depth);

}  // namespace foredraft::answers
