// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/check.hpp"
#include "latency/operations/decoder_writer.hpp"
#include "latency/operations/pass_request.hpp"
#include "latency/operations/passes.hpp"

namespace foredraft::latency {

Program autoregressive_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma) {
  check_drafting(shape, request, gamma);
  ProgramBuilder builder;
  BufferId token_ids = builder.tokens("tokens", request.batch, shape.vocabulary);
  BufferId hidden = target_hidden_states(builder, shape, request.batch);
  for (std::int64_t draft = 0; draft < gamma; ++draft) {
    const LayerRun run{request.batch,           1,    request.context + draft,
                       request.context + gamma, true, source_length(shape, request)};
    const DecoderOutput output = write_decoder_pass(builder, shape, run, token_ids, hidden);
    token_ids = builder.tokens(fmt::format("draft {}", draft), request.batch, shape.vocabulary);
    builder.add(PickToken{output.logits, token_ids, request.batch, shape.vocabulary});
    if (shape.architecture == Architecture::head) hidden = output.hidden;
  }
  return builder.finish(token_ids);
}

Program block_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma) {
  check_drafting(shape, request, gamma);
  ProgramBuilder builder;
  const std::int64_t length = request.context + gamma;
  const LayerRun run{request.batch, gamma, request.context, length, false, source_length(shape, request)};
  const std::int64_t rows = request.batch * gamma;
  const BufferId token_ids = builder.tokens("tokens", rows, shape.vocabulary);
  const BufferId hidden = target_hidden_states(builder, shape, rows);
  const DecoderOutput output = write_decoder_pass(builder, shape, run, token_ids, hidden);
  const BufferId drafts = builder.tokens("drafts", rows, shape.vocabulary);
  builder.add(PickToken{output.logits, drafts, rows, shape.vocabulary});
  return builder.finish(drafts);
}

Program head_drafting(const ModelShape& shape, const PassRequest& request, std::int64_t gamma) {
  // Medusa's heads have no cache and no positions.
  check_shape(shape);
  check_at_least("gamma", gamma, 1);
  check_request(shape, request, 0);
  ProgramBuilder builder;
  const LayerRun run{request.batch, 1, 0, 1, true, 0};
  LayerWriter writer(builder, shape, "", run);
  const BufferId hidden = builder.cache("hidden states", request.batch * shape.d_model);
  const BufferId sequences = builder.tokens("sequences", request.batch, request.batch);
  const BufferId stream = writer.working_space("stream", shape.d_model);
  const BufferId inner = writer.working_space("inner", shape.d_model);
  const BufferId delta = writer.working_space("delta", shape.d_model);
  const BufferId logits = writer.working_space("logits", shape.vocabulary);
  BufferId drafts = no_buffer;
  for (std::int64_t head = 0; head < gamma; ++head) {
    const std::string name = fmt::format("head {}", head);
    // The sum changes its stream, and every head starts from the same hidden states.
    builder.add(Embed{sequences, hidden, no_buffer, stream, request.batch, shape.d_model, request.batch, 1, 0});
    writer.project(name + " block", stream, inner, shape.d_model, shape.d_model, true);
    builder.add(Activate{inner, delta, request.batch, shape.d_model, Activation::silu, false});
    const BufferId normed = writer.normalise(name + " norm", delta);
    writer.project(name + " vocabulary", normed, logits, shape.vocabulary, shape.d_model, false);
    drafts = builder.tokens(fmt::format("draft {}", head), request.batch, shape.vocabulary);
    builder.add(PickToken{logits, drafts, request.batch, shape.vocabulary});
  }
  return builder.finish(drafts);
}

}  // namespace foredraft::latency
