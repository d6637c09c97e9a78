// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "experiments/tree/tree_answer.hpp"
#include "latency/surfaces/surface_times.hpp"

/// What trees cost on a device, from its profile.
namespace foredraft::experiments {

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
