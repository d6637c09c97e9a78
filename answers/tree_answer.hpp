// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "answers/profile_prediction.hpp"
#include "foredraft/tree.hpp"
#include "latency/profile/profile.hpp"

/// Trees as JSON, and their cost on a device.
namespace foredraft::answers {

/// Schema foredraft.tree/1.
[[nodiscard]] nlohmann::ordered_json to_json(const TreeAnswer& answer);

// ---- Cost of trees on a device, from its profile.

/// The price of trees for the models of a question, at its first batch size and context length.
///
/// Verification of n nodes, for n = 1 to `nodes`: the target's forward pass over n tokens of each sequence. From n = 2
/// on it includes the drafter's catch-up pass over them, if the profile's engine has one. A depth costs one forward
/// pass of an autoregressive drafter, or one head; a block drafter proposes all of `depth` in one pass. Passes of an
/// autoregressive drafter count as passes over one token at any width of the tree: while they are memory bound, width
/// costs nothing.
///
/// Throws DomainError if the profile cannot answer, for times outside the domain of its fit, and, with a data sheet,
/// for trees that do not fit into memory.
[[nodiscard]] TreePrice price_from_profile(const latency::Profile& profile, const ProfileQuestion& pair,
                                           std::int64_t nodes, std::int64_t depth);

}  // namespace foredraft::answers
