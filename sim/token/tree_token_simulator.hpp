// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "foredraft/words.hpp"
#include "sim/draft_tree.hpp"
#include "sim/token/distribution/candidate_acceptance.hpp"
#include "sim/token/models/model_pair.hpp"
#include "sim/token/token_simulation.hpp"

/// Trees of real tokens, verified against real distributions.
namespace foredraft::sim {

/// The child of rank i is the drafter's i-th most probable token (lowest index on ties); the longest path that agrees
/// with the target's most probable tokens is accepted, and the next of these emitted behind it: the target's greedy
/// decoding for every drafter and tree. [Cai2024, Sec. 2.3.1; Miao2024]
struct GreedyTree {};

/// The children of a node are candidates drawn from the drafter's law and tried in order of rank by recursive rejection
/// (recursive_rejection.hpp); the first accepted one is followed. Behind the last rejection a token of the residual is
/// emitted, behind a node without children one of the target. The output has the target's law for every drafter and
/// tree. [Miao2024, Alg. 2; Chen2024]
struct SampledTree {
  CandidateDraws draws;
};

using TreeVerification = std::variant<GreedyTree, SampledTree>;

/// Which row of the tables holds at a node.
enum class TreeContexts {
  independent,  ///< a row drawn at random for every node
  last_token,   ///< the row of the node's own token: a text under a first-order chain; as many rows as tokens
};

struct TreeTokenSimulation {
  GivenDistributions tables;
  DraftTree tree;
  TreeVerification verification;
  TreeContexts contexts;
  Drafting drafting;
  std::uint64_t iterations;
};

/// Counts depths as make_tree_simulator() does. A node's candidates are drawn when it is reached: what hangs on
/// rejected nodes changes nothing. Unit: the iteration; with last_token each block is one text, and its unit 64
/// iterations. expected_acceptance() is NaN: a position may have several drafts. Throws DomainError.
[[nodiscard]] std::unique_ptr<TokenSimulator> make_tree_token_simulator(TreeTokenSimulation simulation);

}  // namespace foredraft::sim
