// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/counts.hpp"

#include <algorithm>
#include <numeric>

#include "latency/operations/operation_accesses.hpp"

namespace foredraft::latency {
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

std::int64_t norm_parameters(const ModelShape& shape) { return (shape.norm == Norm::layer ? 2 : 1) * shape.d_model; }

std::int64_t projection_parameters(std::int64_t outputs, std::int64_t inputs, bool bias) {
  return outputs * inputs + (bias ? outputs : 0);
}

std::int64_t query_width(const ModelShape& shape) { return shape.heads * shape.head_dim; }
std::int64_t cache_width(const ModelShape& shape) { return 2 * shape.kv_heads * shape.head_dim; }

/// Self-attention and feed-forward block with their norms: a decoder-only layer, an encoder's layer.
std::int64_t plain_layer_parameters(const ModelShape& shape) {
  const std::int64_t inner = (shape.gated ? 2 : 1) * shape.d_ff;
  return 2 * norm_parameters(shape) +
         projection_parameters(query_width(shape) + cache_width(shape), shape.d_model, shape.attention_bias) +
         projection_parameters(shape.d_model, query_width(shape), shape.bias) +
         projection_parameters(inner, shape.d_model, shape.bias) +
         projection_parameters(shape.d_model, shape.d_ff, shape.bias);
}

/// What every step reads of cross-attention: norm, query and output.
std::int64_t cross_step_parameters(const ModelShape& shape) {
  if (shape.architecture != Architecture::encoder_decoder) return 0;
  return norm_parameters(shape) + projection_parameters(query_width(shape), shape.d_model, shape.attention_bias) +
         projection_parameters(shape.d_model, query_width(shape), shape.bias);
}

/// Layers of the decoder as a step reads them, the norm behind them and a head's input projections.
std::int64_t step_parameters(const ModelShape& shape) {
  const std::int64_t input = shape.architecture == Architecture::head
                                 ? projection_parameters(shape.d_model, 2 * shape.d_model, shape.bias)
                                 : 0;
  return input + shape.layers * (plain_layer_parameters(shape) + cross_step_parameters(shape)) + norm_parameters(shape);
}

std::int64_t encoder_parameters(const ModelShape& shape) {
  if (shape.architecture != Architecture::encoder_decoder) return 0;
  const std::int64_t cross_caches =
      shape.layers * projection_parameters(cache_width(shape), shape.d_model, shape.attention_bias);
  return shape.encoder_layers * plain_layer_parameters(shape) + norm_parameters(shape) + cross_caches;
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
  const std::int64_t own = step_parameters(shape) + encoder_parameters(shape) +
                           shape.learned_positions * shape.d_model + shape.further_parameters;
  // A head has the target's embedding and vocabulary.
  const std::int64_t tables = shape.architecture == Architecture::head ? 0 : (shape.tied ? 1 : 2);
  return static_cast<double>(own + tables * shape.vocabulary * shape.d_model);
}

double step_weight_bytes(const ModelShape& shape, DataType type) {
  return static_cast<double>(bytes_of(type) * (step_parameters(shape) + shape.vocabulary * shape.d_model));
}

}  // namespace foredraft::latency
