// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/decoder_writer.hpp"

namespace foredraft::latency {

BufferId target_hidden_states(ProgramBuilder& builder, const ModelShape& shape, std::int64_t rows) {
  if (shape.architecture != Architecture::head) return no_buffer;
  return builder.cache("hidden states", rows * shape.d_model);
}

DecoderOutput write_decoder_pass(ProgramBuilder& builder, const ModelShape& shape, const LayerRun& run,
                                 BufferId token_ids, BufferId hidden) {
  LayerWriter writer(builder, shape, "", run);
  const BufferId stream = writer.working_space("stream", shape.d_model);
  if (hidden == no_buffer) {
    writer.embed(token_ids, stream);
  } else {
    const BufferId embedded = writer.working_space("embedded", shape.d_model);
    writer.embed(token_ids, embedded);
    writer.project("input from embedding", embedded, stream, shape.d_model, shape.d_model, shape.bias);
    writer.project("input from hidden state", hidden, stream, shape.d_model, shape.d_model, false, true);
  }
  const BufferId normed = writer.write_layers(shape.layers);
  return {normed, writer.write_logits(normed)};
}

}  // namespace foredraft::latency
