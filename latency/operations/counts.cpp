// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/counts.hpp"

#include <algorithm>
#include <numeric>

namespace foredraft::latency {
namespace {

class AccessList {
 public:
  void read(BufferId buffer, std::int64_t elements) { add({buffer, elements, elements, 0, false}); }
  void write(BufferId buffer, std::int64_t elements) { add({buffer, elements, 0, elements, false}); }
  void change(BufferId buffer, std::int64_t elements) { add({buffer, elements, elements, elements, false}); }
  void add(const Access& access) {
    if (access.buffer != no_buffer) list_.push_back(access);
  }
  [[nodiscard]] std::vector<Access> take() && { return std::move(list_); }

 private:
  std::vector<Access> list_;
};

void list_accesses(const Embed& embed, AccessList& list) {
  const std::int64_t values = embed.rows * embed.width;
  list.add({embed.tokens, embed.rows, embed.rows, 0, true});
  list.add({embed.table, embed.vocabulary * embed.width, values, 0, false});
  const std::int64_t positions = embed.tokens_per_sequence * embed.width;
  list.add({embed.positions, embed.first_position * embed.width + positions, positions, 0, false});
  list.write(embed.out, values);
}

void list_accesses(const AddNormalise& norm, AccessList& list) {
  const std::int64_t values = norm.rows * norm.width;
  if (norm.delta == no_buffer) {
    list.read(norm.stream, values);
  } else {
    list.change(norm.stream, values);
    list.read(norm.delta, values);
  }
  list.read(norm.gain, norm.width);
  list.read(norm.bias, norm.width);
  list.write(norm.out, values);
}

void list_accesses(const Project& project, AccessList& list) {
  const std::int64_t values = project.rows * project.outputs;
  list.read(project.in, project.rows * project.inputs);
  list.read(project.weight, project.outputs * project.inputs);
  list.read(project.bias, project.outputs);
  if (project.accumulate) {
    list.change(project.out, values);
  } else {
    list.write(project.out, values);
  }
}

void list_accesses(const StoreKeysValues& store, AccessList& list) {
  const std::int64_t rows = store.batch * store.tokens;
  const std::int64_t queries = rows * store.heads * store.head_dim;
  const std::int64_t entries = rows * store.kv_heads * store.head_dim;
  const std::int64_t capacity = store.batch * store.capacity * store.kv_heads * store.head_dim;
  // Without rotation the queries stay in place.
  list.add({store.packed, queries + 2 * entries, 2 * entries + (store.rotary ? queries : 0), store.rotary ? queries : 0,
            false});
  list.add({store.keys, capacity, 0, entries, false});
  list.add({store.values, capacity, 0, entries, false});
}

void list_accesses(const Attend& attend, AccessList& list) {
  const std::int64_t rows = attend.batch * attend.tokens;
  const std::int64_t values = rows * attend.heads * attend.head_dim;
  const std::int64_t last_query = (rows - 1) * attend.query_stride + attend.heads * attend.head_dim;
  const std::int64_t entries = attend.batch * attend.length * attend.kv_heads * attend.head_dim;
  list.add({attend.queries, last_query, values, 0, false});
  list.add({attend.keys, cache_elements(attend), entries, 0, false});
  list.add({attend.values, cache_elements(attend), entries, 0, false});
  list.write(attend.out, values);
}

void list_accesses(const Activate& activate, AccessList& list) {
  const std::int64_t values = activate.rows * activate.width;
  list.read(activate.in, activate.gated ? 2 * values : values);
  list.write(activate.out, values);
}

void list_accesses(const PickToken& pick, AccessList& list) {
  list.read(pick.logits, pick.rows * pick.vocabulary);
  list.add({pick.out, pick.rows, 0, pick.rows, true});
}

}  // namespace

std::vector<Access> accesses(const Operation& operation) {
  AccessList list;
  std::visit([&list](const auto& one) { list_accesses(one, list); }, operation);
  return std::move(list).take();
}

std::int64_t cache_elements(const Attend& attend) {
  return attend.batch * attend.capacity * attend.kv_heads * attend.head_dim;
}

std::int64_t attended_pairs(const Attend& attend) {
  const std::int64_t hidden = attend.causal ? attend.tokens * (attend.tokens - 1) / 2 : 0;
  return attend.batch * attend.heads * (attend.tokens * attend.length - hidden);
}

namespace {

constexpr std::int64_t token_bytes = 4;

std::int64_t flop_of(const Embed& embed) { return embed.positions == no_buffer ? 0 : embed.rows * embed.width; }

std::int64_t flop_of(const AddNormalise& norm) {
  const std::int64_t one =
      (norm.norm == Norm::rms ? 4 : 7) + (norm.delta == no_buffer ? 0 : 1) + (norm.bias == no_buffer ? 0 : 1);
  return one * norm.rows * norm.width;
}

std::int64_t flop_of(const Project& project) {
  const std::int64_t bias = project.bias == no_buffer ? 0 : 1;
  return project.rows * project.outputs * (2 * project.inputs + bias);
}

std::int64_t flop_of(const StoreKeysValues& store) {
  return store.rotary ? 3 * store.batch * store.tokens * (store.heads + store.kv_heads) * store.head_dim : 0;
}

/// A score and its share of the sum, each a multiply-add per element of a head.
std::int64_t flop_of(const Attend& attend) { return 4 * attended_pairs(attend) * attend.head_dim; }

std::int64_t flop_of(const Activate& activate) { return (activate.gated ? 2 : 1) * activate.rows * activate.width; }

std::int64_t flop_of(const PickToken&) { return 0; }

// Parameters are counted in doubles: exact integers below 2^53, and sums of untrusted shapes do not overflow.

double times(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

double norm_parameters(const ModelShape& shape) { return times(shape.norm == Norm::layer ? 2 : 1, shape.d_model); }

double projection_parameters(std::int64_t outputs, std::int64_t inputs, bool bias) {
  return times(outputs, inputs) + (bias ? static_cast<double>(outputs) : 0.0);
}

std::int64_t query_width(const ModelShape& shape) { return shape.heads * shape.head_dim; }
std::int64_t cache_width(const ModelShape& shape) { return 2 * shape.kv_heads * shape.head_dim; }

/// Parameters of queries, keys and values of width head_dim, with the gate and the norms of such a layer, and the
/// output.
double attention_parameters(const ModelShape& shape, std::int64_t kv_heads, std::int64_t head_dim, bool values) {
  const std::int64_t queries = (shape.attention_gate ? 2 : 1) * shape.heads * head_dim;
  const std::int64_t inputs = (shape.head.wide_attention ? 2 : 1) * shape.d_model;
  return projection_parameters(queries + (values ? 2 : 1) * kv_heads * head_dim, inputs, shape.attention_bias) +
         projection_parameters(shape.d_model, shape.heads * head_dim, shape.bias) +
         (shape.query_key_norm ? times(2, head_dim) : 0.0);
}

/// Parameters of latent attention: down to the ranks, their norms, up to the heads, and the output. [DeepSeek2024, Sec.
/// 2.1]
double latent_parameters(const ModelShape& shape) {
  const LatentAttention& latent = shape.latent;
  const std::int64_t queries = shape.heads * (latent.nope_dim + latent.rope_dim);
  const bool low_rank = latent.query_rank > 0;
  return (low_rank ? projection_parameters(latent.query_rank, shape.d_model, shape.attention_bias) +
                         static_cast<double>(latent.query_rank)
                   : 0.0) +
         times(queries, low_rank ? latent.query_rank : shape.d_model) +
         projection_parameters(latent.kv_rank + latent.rope_dim, shape.d_model, shape.attention_bias) +
         static_cast<double>(latent.kv_rank) +
         times(shape.heads * (latent.nope_dim + latent.value_dim), latent.kv_rank) +
         projection_parameters(shape.d_model, shape.heads * latent.value_dim, shape.bias);
}

/// The softmax attention of all layers.
double all_attention_parameters(const ModelShape& shape) {
  const std::int64_t full = attention_layers(shape) - shape.window.layers;
  if (shape.latent.kv_rank > 0) return static_cast<double>(attention_layers(shape)) * latent_parameters(shape);
  return static_cast<double>(full) *
             attention_parameters(shape, shape.kv_heads, shape.head_dim, !shape.values_are_keys) +
         static_cast<double>(shape.window.layers) *
             attention_parameters(shape, window_kv_heads(shape), window_head_dim(shape), true);
}

double feed_forward_parameters(const ModelShape& shape, std::int64_t d_ff) {
  const std::int64_t inner = (shape.gated ? 2 : 1) * d_ff;
  return projection_parameters(inner, shape.d_model, shape.bias) +
         projection_parameters(shape.d_model, d_ff, shape.bias);
}

/// The feed-forward blocks of all layers, `routed` experts of each mixture.
double all_feed_forward_parameters(const ModelShape& shape, std::int64_t routed) {
  const Experts& experts = shape.experts;
  const std::int64_t dense = experts.count > 0 ? experts.dense_layers : feed_forward_layers(shape);
  double mixture = 0.0;
  if (experts.count > 0) {
    mixture = projection_parameters(experts.count, shape.d_model, shape.bias) +
              static_cast<double>(routed) * feed_forward_parameters(shape, experts.d_ff);
    if (experts.shared_d_ff > 0) mixture += feed_forward_parameters(shape, experts.shared_d_ff);
  }
  return static_cast<double>(dense) * feed_forward_parameters(shape, shape.d_ff) +
         static_cast<double>(feed_forward_layers(shape) - dense) * mixture;
}

/// Weights of cross-attention that every step reads: norm, query and output.
double cross_step_parameters(const ModelShape& shape) {
  if (shape.architecture != Architecture::encoder_decoder) return 0.0;
  return norm_parameters(shape) + projection_parameters(query_width(shape), shape.d_model, shape.attention_bias) +
         projection_parameters(shape.d_model, query_width(shape), shape.bias);
}

/// A head's input: the embedding concatenated with the hidden states [Li2024], or only hidden states, which EAGLE-3
/// fuses to one and normalizes beside the embedding.
double head_input_parameters(const ModelShape& shape) {
  if (shape.architecture != Architecture::head) return 0.0;
  const std::int64_t width = shape.head.hidden_width > 0 ? shape.head.hidden_width : shape.d_model;
  const std::int64_t states = shape.head.hidden_states * width;
  if (!shape.head.wide_attention) return projection_parameters(shape.d_model, shape.d_model + states, shape.bias);
  const double fused = states == shape.d_model ? 0.0 : projection_parameters(shape.d_model, states, shape.bias);
  return fused + norm_parameters(shape);
}

/// Layers of the decoder as a step reads them, `routed` experts of each mixture, the final norm and a head's input
/// projections.
double step_parameters(const ModelShape& shape, std::int64_t routed) {
  const auto layers = static_cast<double>(shape.layers);
  return head_input_parameters(shape) + all_attention_parameters(shape) + all_feed_forward_parameters(shape, routed) +
         times(shape.linear.layers, shape.linear.layer_parameters) + layers * cross_step_parameters(shape) +
         (layers * static_cast<double>(shape.norms_per_layer) + 1.0) * norm_parameters(shape);
}

double encoder_parameters(const ModelShape& shape) {
  if (shape.architecture != Architecture::encoder_decoder) return 0.0;
  const double layer = 2.0 * norm_parameters(shape) +
                       attention_parameters(shape, shape.kv_heads, shape.head_dim, true) +
                       feed_forward_parameters(shape, shape.d_ff);
  const double cross_caches = static_cast<double>(shape.layers) *
                              projection_parameters(cache_width(shape), shape.d_model, shape.attention_bias);
  return static_cast<double>(shape.encoder_layers) * layer + norm_parameters(shape) + cross_caches;
}

/// Number of tokens with logits.
std::int64_t logits(const ModelShape& shape) {
  return shape.head.draft_vocabulary > 0 ? shape.head.draft_vocabulary : shape.vocabulary;
}

/// Embedding and vocabulary projection. A head uses the target's, or its own projection.
double table_parameters(const ModelShape& shape) {
  if (shape.architecture == Architecture::head) {
    return shape.head.own_vocabulary ? times(logits(shape), shape.d_model) : 0.0;
  }
  return (shape.tied ? 1.0 : 2.0) * times(shape.vocabulary, shape.d_model);
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  read_bytes += other.read_bytes;
  written_bytes += other.written_bytes;
  flop += other.flop;
  return *this;
}

Work work_of(const Operation& operation, DataType type) {
  Work work;
  for (const Access& access : accesses(operation)) {
    const auto bytes = static_cast<double>(access.token_ids ? token_bytes : bytes_of(type));
    work.read_bytes += bytes * static_cast<double>(access.read);
    work.written_bytes += bytes * static_cast<double>(access.written);
  }
  work.flop = static_cast<double>(std::visit([](const auto& one) { return flop_of(one); }, operation));
  return work;
}

Work work_of(const Program& program, DataType type) {
  Work work;
  for (const Operation& operation : program.operations) work += work_of(operation, type);
  return work;
}

double memory_bytes(const Program& program, DataType type) {
  double bytes = 0.0;
  for (const Buffer& buffer : program.buffers) {
    const std::int64_t one = buffer.kind == BufferKind::tokens ? token_bytes : bytes_of(type);
    bytes += static_cast<double>(one) * static_cast<double>(buffer.elements);
  }
  return bytes;
}

double streamed_bytes(const Program& program, DataType type) {
  std::vector<std::int64_t> elements(program.buffers.size(), 0);
  for (const Operation& operation : program.operations) {
    for (const Access& access : accesses(operation)) {
      const auto place = static_cast<std::size_t>(access.buffer);
      const BufferKind kind = program.buffers[place].kind;
      if (kind != BufferKind::weight && kind != BufferKind::cache) continue;
      elements[place] = std::max({elements[place], access.read, access.written});
    }
  }
  return static_cast<double>(bytes_of(type) * std::accumulate(elements.begin(), elements.end(), std::int64_t{0}));
}

double parameters(const ModelShape& shape) {
  return step_parameters(shape, shape.experts.count) + encoder_parameters(shape) + table_parameters(shape) +
         times(shape.learned_positions, shape.d_model) + static_cast<double>(shape.further_parameters);
}

double active_parameters(const ModelShape& shape) {
  return parameters(shape) - all_feed_forward_parameters(shape, shape.experts.count) +
         all_feed_forward_parameters(shape, shape.experts.per_token);
}

double step_weight_bytes(const ModelShape& shape, DataType type) {
  return static_cast<double>(bytes_of(type)) *
         (step_parameters(shape, shape.experts.per_token) + times(logits(shape), shape.d_model));
}

}  // namespace foredraft::latency
