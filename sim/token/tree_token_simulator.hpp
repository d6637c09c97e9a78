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

/// Trees of drafted tokens, verified against explicit distributions.
namespace foredraft::sim {

/// The child of rank i is the drafter's i-th most probable token (lowest index on ties). The longest path that agrees
/// with the target's most probable tokens is accepted, and the next of these emitted after it: the target's greedy
/// decoding for every drafter and tree. [Cai2024, Sec. 2.3.1; Miao2024]
struct GreedyTree {};

/// The children of a node are candidates drawn from the drafter's distribution and tried in order of rank by recursive
/// rejection (recursive_rejection.hpp); the first accepted one is followed. After the last rejection a token of the
/// residual is emitted, after a node without children one of the target. The output has the target's distribution for
/// every drafter and tree. [Miao2024, Alg. 2; Chen2024]
struct SampledTree {
  CandidateDraws draws;
};

using TreeVerification = std::variant<GreedyTree, SampledTree>;

/// The row of the tables at a node.
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

/// Counts depths as make_tree_simulator() does. A node's candidates are drawn when it is reached; nodes below rejected
/// ones do not matter. Unit: the iteration; with last_token each block is one text, and its unit is 64 iterations.
/// expected_acceptance() is NaN: a position may have several drafts. Throws DomainError.
[[nodiscard]] std::unique_ptr<TokenSimulator> make_tree_token_simulator(TreeTokenSimulation simulation);

}  // namespace foredraft::sim
