// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/forward_passes.hpp"

#include <fmt/format.h>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

/// Larger than any device's memory allows; products of three counts fit into 64 bits.
constexpr std::int64_t largest_count = 1'000'000;

/// Throws DomainError for counts that are invalid for the shape. `last_position`: number of tokens of context and pass.
void check_request(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t last_position) {
  check_shape(shape);
  check_range("tokens", request.tokens, 1, largest_count);
  check_range("batch", request.batch, 1, largest_count);
  check_range("context", request.context, 0, largest_count);
  check_range("source_length", request.source_length, 0, largest_count);
  if (request.source_length > 0 && shape.architecture != Architecture::encoder_decoder) {
    throw DomainError(
        fmt::format("invalid source_length={} (must be 0: {} has no encoder)", request.source_length, shape.name));
  }
  if (const auto reason = why_not_runnable(shape)) {
    throw DomainError(
        fmt::format("{}: passes of it cannot be run ({}) - predict them from a data sheet", shape.name, *reason));
  }
  if (shape.window.layers > 0 && last_position > shape.window.tokens) {
    throw DomainError(
        fmt::format("invalid context={} (must leave room for the pass: {} positions are needed, windows of {} see "
                    "{}; longer contexts are not run)",
                    request.context, last_position, shape.name, shape.window.tokens));
  }
  if (shape.positions == Positions::learned && last_position > shape.learned_positions) {
    throw DomainError(
        fmt::format("invalid context={} (must leave room for the pass: {} positions are needed, {} has {})",
                    request.context, last_position, shape.name, shape.learned_positions));
  }
}

void check_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma) {
  check_range("gamma", gamma, 1, largest_count);
  check_range("tokens", request.tokens, 1, 1);
  check_request(shape, request, request.context + gamma);
}

/// Positions of the encoder's output; 0 without an encoder.
std::int64_t source_length(const ModelShape& shape, const ForwardPassRequest& request) {
  return request.source_length > 0 ? request.source_length : shape.source_length;
}

/// Standard deviation of biases; small, as in trained models.
constexpr double bias_scale = 0.1;
constexpr double gain_scale = 1.0;

/// Scale of a random matrix that preserves the variance.
double projection_scale(std::int64_t inputs) { return 1.0 / std::sqrt(static_cast<double>(inputs)); }

std::string layer_name(std::int64_t layer) { return fmt::format("layer {}", layer); }

/// The tokens that a stack of layers processes. Counts are per sequence.
struct LayerRun {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t context;   ///< entries of the caches before this run
  std::int64_t capacity;  ///< capacity of the caches
  bool causal;
  std::int64_t source_length;  ///< of the cross-attention; 0: none
};

/// Writes transformer layers into a program: norms before the blocks, the residual sum fused into the next norm,
/// queries, keys and values in one projection, gate and input of a gated feed-forward block in another. All layers
/// share one workspace: "stream" is the residual stream, "delta" is added to it by the next norm, "normed" is the
/// norm's result.
class LayerWriter {
 public:
  /// `prefix` of the names of weights and caches: "" or "encoder ".
  LayerWriter(ProgramBuilder& builder, const ModelShape& shape, std::string prefix, LayerRun run)
      : builder_(&builder), shape_(&shape), prefix_(std::move(prefix)), run_(run) {}

  /// A workspace of rows x width.
  BufferId working_space(const std::string& name, std::int64_t width) {
    return builder_->activation(name, rows() * width);
  }

  /// Embeds token ids into `out`, adding positions if the model learns or computes them.
  void embed(BufferId token_ids, BufferId out) {
    const bool learned = shape_->positions == Positions::learned;
    BufferId positions = no_buffer;
    if (learned || shape_->positions == Positions::sinusoidal) {
      // Computed positions are also stored in a table. A learned table has the size used in training.
      const std::int64_t table = learned && prefix_.empty() ? shape_->learned_positions : run_.capacity;
      positions = builder_->weight(prefix_ + "positions", table * shape_->d_model, projection_scale(shape_->d_model));
    }
    builder_->add(Embed{token_ids, embedding(), positions, out, rows(), shape_->d_model, shape_->vocabulary,
                        run_.tokens, run_.context});
  }

  /// out (+)= in * weight^T, weight named `name`.
  void project(const std::string& name, BufferId in, BufferId out, std::int64_t outputs, std::int64_t inputs, bool bias,
               bool accumulate = false) {
    const BufferId weight = builder_->weight(prefix_ + name, outputs * inputs, projection_scale(inputs));
    const BufferId added = bias ? builder_->weight(prefix_ + name + " bias", outputs, bias_scale) : no_buffer;
    builder_->add(Project{in, weight, added, out, rows(), outputs, inputs, accumulate});
  }

  /// Norm of the stream, after adding `delta` if given; returns "normed".
  BufferId normalise(const std::string& name, BufferId delta) {
    const std::int64_t width = shape_->d_model;
    const BufferId out = working_space("normed", width);
    const BufferId gain = builder_->weight(prefix_ + name + " gain", width, gain_scale);
    const BufferId bias =
        shape_->norm == Norm::layer ? builder_->weight(prefix_ + name + " bias", width, bias_scale) : no_buffer;
    builder_->add(AddNormalise{working_space("stream", width), delta, gain, bias, out, rows(), width, shape_->norm});
    return out;
  }

  /// All layers and the final norm; returns "normed".
  BufferId write_layers(std::int64_t layers) {
    BufferId delta = no_buffer;
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string layer = layer_name(i);
      delta = write_self_attention(layer, delta);
      if (run_.source_length > 0) delta = write_cross_attention(layer, delta);
      delta = write_feed_forward(layer, delta);
    }
    return normalise("final norm", delta);
  }

  /// Keys and values of the cross-attention of every decoder layer, from the encoder's output.
  void write_cross_caches(std::int64_t layers, BufferId memory) {
    const std::int64_t entry = shape_->kv_heads * shape_->head_dim;
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string layer = layer_name(i);
      const BufferId keys = builder_->cache(layer + " cross keys", rows() * entry);
      const BufferId values = builder_->cache(layer + " cross values", rows() * entry);
      project(layer + " cross key", memory, keys, entry, shape_->d_model, shape_->attention_bias);
      project(layer + " cross value", memory, values, entry, shape_->d_model, shape_->attention_bias);
    }
  }

  /// Vocabulary projection of `in`; returns "logits".
  BufferId write_logits(BufferId in) {
    const BufferId out = working_space("logits", shape_->vocabulary);
    if (shape_->tied) {
      builder_->add(Project{in, embedding(), no_buffer, out, rows(), shape_->vocabulary, shape_->d_model, false});
    } else {
      project("vocabulary", in, out, shape_->vocabulary, shape_->d_model, false);
    }
    return out;
  }

 private:
  BufferId write_self_attention(const std::string& layer, BufferId delta) {
    const BufferId normed = normalise(layer + " attention norm", delta);
    const std::int64_t entry = shape_->kv_heads * shape_->head_dim;
    const std::int64_t packed_width = shape_->heads * shape_->head_dim + 2 * entry;
    const BufferId packed = working_space("packed", packed_width);
    project(layer + " query key value", normed, packed, packed_width, shape_->d_model, shape_->attention_bias);
    if (shape_->query_key_norm) {
      const auto gain = [&](const char* name) {
        return builder_->weight(prefix_ + layer + name, shape_->head_dim, gain_scale);
      };
      builder_->add(NormaliseHeads{packed, gain(" query norm gain"), gain(" key norm gain"), rows(), shape_->heads,
                                   shape_->kv_heads, shape_->head_dim});
    }

    const std::int64_t cached = run_.batch * run_.capacity * entry;
    // An encoder has no cache; its keys and values are workspace that the layers share.
    const bool kept = prefix_.empty();
    const BufferId keys = kept ? builder_->cache(layer + " keys", cached) : builder_->activation("keys", cached);
    const BufferId values = kept ? builder_->cache(layer + " values", cached) : builder_->activation("values", cached);
    builder_->add(StoreKeysValues{packed, keys, values, run_.batch, run_.tokens, run_.context, run_.capacity,
                                  shape_->heads, shape_->kv_heads, shape_->head_dim,
                                  shape_->positions == Positions::rotary});
    attend(packed, keys, values, packed_width, run_.context + run_.tokens, run_.capacity, run_.causal);

    const BufferId out = working_space("delta", shape_->d_model);
    project(layer + " attention output", working_space("attended", shape_->heads * shape_->head_dim), out,
            shape_->d_model, shape_->heads * shape_->head_dim, shape_->bias);
    return out;
  }

  BufferId write_cross_attention(const std::string& layer, BufferId delta) {
    const BufferId normed = normalise(layer + " cross norm", delta);
    const std::int64_t width = shape_->heads * shape_->head_dim;
    const BufferId queries = working_space("queries", width);
    project(layer + " cross query", normed, queries, width, shape_->d_model, shape_->attention_bias);

    const std::int64_t cached = run_.batch * run_.source_length * shape_->kv_heads * shape_->head_dim;
    attend(queries, builder_->cache(layer + " cross keys", cached), builder_->cache(layer + " cross values", cached),
           width, run_.source_length, run_.source_length, false);

    const BufferId out = working_space("delta", shape_->d_model);
    project(layer + " cross output", working_space("attended", width), out, shape_->d_model, width, shape_->bias);
    return out;
  }

  BufferId write_feed_forward(const std::string& layer, BufferId delta) {
    const BufferId normed = normalise(layer + " feed-forward norm", delta);
    const std::int64_t inner = shape_->gated ? 2 * shape_->d_ff : shape_->d_ff;
    const BufferId in = working_space("inner", inner);
    const BufferId activated = working_space("activated", shape_->d_ff);
    const BufferId out = working_space("delta", shape_->d_model);
    project(layer + (shape_->gated ? " gate up" : " up"), normed, in, inner, shape_->d_model, shape_->bias);
    builder_->add(Activate{in, activated, rows(), shape_->d_ff, shape_->activation, shape_->gated});
    project(layer + " down", activated, out, shape_->d_model, shape_->d_ff, shape_->bias);
    return out;
  }

  void attend(BufferId queries, BufferId keys, BufferId values, std::int64_t query_stride, std::int64_t length,
              std::int64_t capacity, bool causal) {
    const BufferId out = working_space("attended", shape_->heads * shape_->head_dim);
    builder_->add(Attend{queries, keys, values, out, run_.batch, run_.tokens, length, capacity, shape_->heads,
                         shape_->kv_heads, shape_->head_dim, query_stride, causal});
  }

  BufferId embedding() {
    return builder_->weight("embedding", shape_->vocabulary * shape_->d_model, projection_scale(shape_->d_model));
  }

  [[nodiscard]] std::int64_t rows() const { return run_.batch * run_.tokens; }

  ProgramBuilder* builder_;
  const ModelShape* shape_;
  std::string prefix_;
  LayerRun run_;
};

/// The target's hidden states, which a head reads in its first pass; no_buffer for other architectures.
BufferId target_hidden_states(ProgramBuilder& builder, const ModelShape& shape, std::int64_t rows) {
  if (shape.architecture != Architecture::head) return no_buffer;
  return builder.cache("hidden states", rows * shape.d_model);
}

/// Buffers that one decoder pass leaves in the program.
struct DecoderOutput {
  BufferId hidden;  ///< after the final norm
  BufferId logits;
};

/// Writes one pass over `token_ids`. `hidden`: a head's hidden states, rows x d_model; else no_buffer.
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

}  // namespace

Program decoder_pass(const ModelShape& shape, const ForwardPassRequest& request) {
  const std::int64_t length = request.context + request.tokens;
  check_request(shape, request, length);
  ProgramBuilder builder;
  const LayerRun run{request.batch, request.tokens, request.context, length, true, source_length(shape, request)};
  const std::int64_t rows = request.batch * request.tokens;
  const BufferId token_ids = builder.tokens("tokens", rows, shape.vocabulary);
  const BufferId hidden = target_hidden_states(builder, shape, rows);
  return builder.finish(write_decoder_pass(builder, shape, run, token_ids, hidden).logits);
}

Program encoder_pass(const ModelShape& shape, const ForwardPassRequest& request) {
  // The decoder's context is irrelevant here.
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

Program autoregressive_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma) {
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

Program block_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma) {
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

Program head_drafting(const ModelShape& shape, const ForwardPassRequest& request, std::int64_t gamma) {
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
    // The sum changes its stream, so every head starts from a copy of the hidden states.
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

Program program_of(const ModelShape& shape, const Cell& cell) {
  const ForwardPassRequest pass{
      .tokens = cell.tokens, .batch = cell.batch, .context = cell.context, .source_length = cell.source_length};
  ForwardPassRequest start = pass;  // drafting begins with one token
  start.tokens = 1;
  switch (cell.role) {
    case Role::decoder_pass:
      return decoder_pass(shape, pass);
    case Role::autoregressive_drafting:
      return autoregressive_drafting(shape, start, cell.tokens);
    case Role::block_drafting:
      return block_drafting(shape, start, cell.tokens);
    case Role::head_drafting:
      return head_drafting(shape, start, cell.tokens);
    case Role::encoder_pass:
      return encoder_pass(shape, start);
  }
  throw DomainError(fmt::format("no pass for {}", to_text(cell)));
}

}  // namespace foredraft::latency
