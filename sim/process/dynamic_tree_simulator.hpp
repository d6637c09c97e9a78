// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/tree.hpp"
#include "foredraft/words.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Trees that grow while drafting, in process fidelity [Li2024eagle2]: every expanded node meets a context, which gives
/// its children's confidences and, apart from these, the target's token. See TreeGrowth.
struct DynamicTreeSimulation {
  std::vector<std::vector<DraftContext>> contexts;  ///< [d - 1]: of a node whose children are of depth d
  std::int64_t nodes;                               ///< that the target verifies, including the root; >= 1
  std::int64_t width;                               ///< expanded nodes of a depth, and candidates of each; >= 1
  Drafting drafting;  ///< autoregressive: one forward pass of the drafter per depth; block: one in total
  std::uint64_t iterations;
};

/// Counts depths as the simulation of a static tree does: gamma = size of `contexts`, `accepted` = accepted depth.
/// Throws DomainError for probabilities out of range.
[[nodiscard]] std::unique_ptr<Simulator> make_dynamic_tree_simulator(DynamicTreeSimulation simulation);

}  // namespace foredraft::sim
