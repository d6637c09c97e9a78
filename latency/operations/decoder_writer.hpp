// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/operations/layer_writer.hpp"

namespace foredraft::latency {

/// What one decoder pass left in the program's buffers.
struct DecoderOutput {
  BufferId hidden;  ///< behind the final norm
  BufferId logits;
};

/// Writes one pass over `token_ids`. `hidden`: a head's hidden states, rows x d_model; else no_buffer.
[[nodiscard]] DecoderOutput write_decoder_pass(ProgramBuilder& builder, const ModelShape& shape, const LayerRun& run,
                                               BufferId token_ids, BufferId hidden);

/// The hidden states that a head reads first: the target left them. no_buffer for other architectures.
[[nodiscard]] BufferId target_hidden_states(ProgramBuilder& builder, const ModelShape& shape, std::int64_t rows);

}  // namespace foredraft::latency
