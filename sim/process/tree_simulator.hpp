// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/words.hpp"
#include "sim/draft_tree.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// Trees of drafts, only which of them are accepted. Behind an accepted node of depth d, the root included, the target
/// goes on with candidate i of the next head with probability accuracies[d][i], i from 0, or with none of them; where
/// the tree has that candidate, it is accepted. At a node without children the next token is the target's alone.
struct TreeSimulation {
  DraftTree tree;
  std::vector<std::vector<double>> accuracies;  ///< a row a depth; at least tree.depth() rows, each at most 1 in total
  Drafting drafting;                            ///< autoregressive: a pass of the drafter a depth; block: one
  std::uint64_t iterations;
};

/// Counts depths as the other simulators count drafts: gamma = tree.depth(), `accepted` = accepted depth, one to
/// gamma + 1 tokens. Not the nodes: how many were drafted and verified is the size of the tree. Unit: the iteration.
/// Throws DomainError on an argument outside its domain.
[[nodiscard]] std::unique_ptr<Simulator> make_tree_simulator(TreeSimulation simulation);

}  // namespace foredraft::sim
