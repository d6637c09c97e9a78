// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/tree.hpp"
#include "foredraft/words.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Trees that grow while drafting, in process fidelity [Li2024eagle2]: every expanded node has a random context, which
/// determines its children's confidences and the distribution of the target's token. See TreeGrowth.
struct DynamicTreeSimulation {
  std::vector<std::vector<DraftContext>> contexts;  ///< [d - 1]: contexts of nodes with children of depth d
  std::int64_t nodes;                               ///< verified by the target, including the root; >= 1
  std::int64_t width;                               ///< expanded nodes per depth, and candidates of each; 1 to 1024
  Drafting drafting;  ///< autoregressive: one forward pass of the drafter per depth; block: one in total
  std::uint64_t iterations;
};

/// Counts depths as the simulation of a static tree does: gamma = size of `contexts`, `accepted` = accepted depth.
/// Throws DomainError for nodes, width and probabilities out of range, and for more than 2^22 candidates of an
/// iteration.
[[nodiscard]] std::unique_ptr<Simulator> make_dynamic_tree_simulator(DynamicTreeSimulation simulation);

}  // namespace foredraft::sim
