// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/tree_shape.hpp"
#include "gpu_bench/verify/verification.hpp"

namespace foredraft::gpu_bench {

/// The verification of drafted trees, all of one shape. Row i of a request is the target's behind the path to node i.
/// A node whose token lies outside the vocabulary is never reached, and nothing behind it: so trees are padded.
///
/// What is emitted, VerificationOutput: the tokens of the walked path and the one behind it, [batch, depth + 1]. A row
/// without any finite logit ends the path with token 0. `faults` are those of the rows of the walked path.
template <class Storage>
struct TreeVerificationInput {
  const Storage* target_logits;        ///< [batch, nodes + 1, vocabulary]
  const std::int32_t* node_tokens;     ///< [batch, nodes + 1]; the root's is never read
  const std::int32_t* first_children;  ///< [nodes + 1], see TreeShape
  const std::int32_t* next_siblings;   ///< [nodes + 1]
  unsigned batch, nodes, depth, vocabulary;
  DrawStream draws;
};

}  // namespace foredraft::gpu_bench
