// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/tree.hpp"
#include "foredraft/words.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Trees of drafts in process fidelity. After an accepted node of depth d, including the root, the target's token is
/// candidate i (from 0) of the next head with probability accuracies[d][i], or none of them. If the tree has that
/// candidate, it is accepted. At a node without children the next token is the target's own.
struct TreeSimulation {
  std::vector<TreeNode> nodes;  ///< nodes of a TokenTree, in the same order
  /// One row per depth; at least the depth of the tree, each at most 1 in total.
  std::vector<std::vector<double>> accuracies;
  Drafting drafting;  ///< autoregressive: one forward pass of the drafter per depth; block: one in total
  std::uint64_t iterations;
};

/// Counts depths in place of drafts: gamma = depth of the tree, `accepted` = accepted depth. Nodes are not counted; the
/// size of the tree is the number drafted and verified. Unit: the iteration. Throws DomainError for accuracies out of
/// range and for fewer rows than the tree has depths.
[[nodiscard]] std::unique_ptr<Simulator> make_tree_simulator(TreeSimulation simulation);

}  // namespace foredraft::sim
