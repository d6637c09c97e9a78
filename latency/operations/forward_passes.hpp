// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "latency/models/model_shape.hpp"
#include "latency/operations/program.hpp"
#include "latency/profile/cell.hpp"

/// The forward passes whose times the cost models need. All throw DomainError for an impossible shape or request:
/// counts below their minimum, positions beyond a learned table or a sliding window, a source without an encoder, and
/// for a shape that cannot be run (why_not_runnable).
namespace foredraft::latency {

/// Size of one forward pass. All counts are per sequence of the batch.
struct ForwardPassRequest {
  std::int64_t tokens = 1;  ///< new tokens: 1 in a decode step, gamma + 1 in verification; 1 for drafting (see gamma)
  std::int64_t batch = 1;
  std::int64_t context = 512;      ///< tokens already in the cache
  std::int64_t source_length = 0;  ///< encoder_decoder: positions of the encoder's output; 0: the shape's default
};

/// One forward pass of the (decoder's) layers over `tokens` new tokens, with logits for each of them. A head (EAGLE)
/// reads the token's embedding and a hidden state of the target, both projected to d_model, and uses the target's
/// vocabulary projection. [Li2024]
[[nodiscard]] Program decoder_pass(const ModelShape& shape, const ForwardPassRequest& request);

/// gamma sequential decoder passes over the same weights with a growing context. Each chooses the token that the next
/// one reads. After the first pass a head reads its own hidden state.
[[nodiscard]] Program autoregressive_drafting(const ModelShape& shape, const ForwardPassRequest& request,
                                              std::int64_t gamma);

/// One pass that drafts gamma tokens. Queries see each other, and each position chooses its token. [Xia2023]
[[nodiscard]] Program block_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma);

/// gamma heads on the last hidden state of a target. Each is a residual block d_model x d_model and a vocabulary
/// projection. The residual sum is an AddNormalise; Medusa has no norm there, but it adds neither bytes nor launches.
/// [Cai2024, Sec. 2.1.1]
[[nodiscard]] Program head_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma);

/// The encoder over source_length positions, and the cross-attention keys and values of every decoder layer. The input
/// is embedded from token ids; for Whisper these rows replace the output of the convolutions.
[[nodiscard]] Program encoder_pass(const ModelShape& shape, const ForwardPassRequest& request);

/// The pass of a cell for a model of this shape.
[[nodiscard]] Program program_of(const ModelShape& shape, const Cell& cell);

}  // namespace foredraft::latency
