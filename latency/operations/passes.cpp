// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/passes.hpp"

#include "foredraft/errors.hpp"
#include "latency/operations/decoder_writer.hpp"
#include "latency/operations/pass_request.hpp"

namespace foredraft::latency {

Program decoder_pass(const ModelShape& shape, const PassRequest& request) {
  const std::int64_t length = request.context + request.tokens;
  check_request(shape, request, length);
  ProgramBuilder builder;
  const LayerRun run{request.batch, request.tokens, request.context, length, true, source_length(shape, request)};
  const std::int64_t rows = request.batch * request.tokens;
  const BufferId token_ids = builder.tokens("tokens", rows, shape.vocabulary);
  const BufferId hidden = target_hidden_states(builder, shape, rows);
  return builder.finish(write_decoder_pass(builder, shape, run, token_ids, hidden).logits);
}

Program encoder_pass(const ModelShape& shape, const PassRequest& request) {
  // The decoder's context has no say here.
  check_request(shape, request, 0);
  if (shape.architecture != Architecture::encoder_decoder) {
    throw DomainError("encoder_pass: " + shape.name + " has no encoder");
  }
  ProgramBuilder builder;
  const std::int64_t length = source_length(shape, request);
  const LayerRun run{request.batch, length, 0, length, false, 0};
  LayerWriter writer(builder, shape, "encoder ", run);
  writer.embed(builder.tokens("source tokens", request.batch * length, shape.vocabulary),
               writer.working_space("stream", shape.d_model));
  const BufferId memory = writer.write_layers(shape.encoder_layers);
  LayerWriter(builder, shape, "", run).write_cross_caches(shape.layers, memory);
  return builder.finish(memory);
}

}  // namespace foredraft::latency
