// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/attention_writer.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace foredraft::latency {
namespace {

/// Flop per state element and token of the gated delta rule: decay, product with the key, outer-product update, product
/// with the query. Mamba-2 has 5.
constexpr double state_flop = 7.0;

/// Number of positions that `tokens` queries after `context` entries see, summed over the queries. Window 0: no window.
double seen_positions(const StepPoint& point, std::int64_t window) {
  const double tokens = as_double(point.tokens);
  const double first = as_double(point.context) + 1.0;  // the first query sees itself
  const double all = tokens * first + 0.5 * tokens * (tokens - 1.0);
  if (window == 0) return all;
  // Queries that see more than the window would see `excess`, `excess` - 1, ... fewer positions.
  const double excess = first + tokens - 1.0 - as_double(window);
  const double cut = std::clamp(excess, 0.0, tokens);
  return all - (cut * excess - 0.5 * cut * (cut - 1.0));
}

}  // namespace

AttentionWriter::AttentionWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point)
    : OperatorWriter(shape, deployment, point),
      shape_(shape),
      point_(point),
      devices_(as_double(deployment.tensor_parallel)),
      d_model_(as_double(shape.d_model)),
      attention_layers_(as_double(attention_layers(shape))),
      cross_layers_(shape.architecture == Architecture::encoder_decoder ? as_double(shape.layers) : 0.0),
      cache_bytes_(bits_of(deployment.kv_cache) / 8.0),
      heads_(as_double(shape.heads) / devices_) {}

double AttentionWriter::kv_heads(std::int64_t heads) const { return std::ceil(as_double(heads) / devices_); }

void AttentionWriter::write_context_attention() {
  const auto write = [this](double layers, const AttentionHeads& heads) {
    const double cached = shape_.latent.kv_rank > 0
                              ? as_double(shape_.latent.kv_rank + shape_.latent.rope_dim)
                              : kv_heads(heads.kv_heads) * as_double(heads.key_dim + heads.value_dim);
    product(
        {ModelPart::attention, "keys and values of hidden states", layers, d_model_, cached, shape_.attention_bias});
    if (layers > 0.0) operators_.back().shared = true;
    other("store keys and values of hidden states", layers, rows_ * cached * (value_bytes_ + cache_bytes_),
          3.0 * rows_ * cached);
  };
  over(point_.verified, [&] {
    write(attention_layers_ - as_double(shape_.window.layers), attention_heads(shape_));
    write(as_double(shape_.window.layers), window_heads(shape_));
  });
}

void AttentionWriter::write_attention(bool windowed) {
  const AttentionHeads shapes = windowed ? window_heads(shape_) : attention_heads(shape_);
  const double windowed_layers = as_double(shape_.window.layers);
  const double layers = windowed ? windowed_layers : attention_layers_ - windowed_layers;
  const double heads = as_double(shapes.heads) / devices_;
  const double key_dim = as_double(shapes.key_dim), value_dim = as_double(shapes.value_dim);
  const double queries = heads * key_dim, attended = heads * value_dim;
  const double keys = kv_heads(shapes.kv_heads) * key_dim, values = kv_heads(shapes.kv_heads) * value_dim;
  const bool projects_values = (windowed || !shape_.values_are_keys) && !shape_.single_cache;
  const double projected = keys + (projects_values ? values : 0.0);
  const double cached = keys + (shape_.single_cache ? 0.0 : values);
  // Only the first layer of a head is wide.
  const double wide =
      shape_.head.wide_attention && layers > 0.0 && (!windowed || windowed_layers == attention_layers_) ? 1.0 : 0.0;
  const double gate = shape_.attention_gate ? attended : 0.0;
  if (shape_.query_rank > 0) {
    const double rank = as_double(shape_.query_rank);
    product({ModelPart::attention, "query and key down", layers, d_model_, rank + projected, shape_.attention_bias});
    norm("query norm", layers, rank, false);
    product({ModelPart::attention, "query up", layers, rank, queries + gate});
  } else {
    const double outputs = queries + gate + projected;
    product({ModelPart::attention, "qkv", wide, 2.0 * d_model_, outputs, shape_.attention_bias});
    product({ModelPart::attention, "qkv", layers - wide, d_model_, outputs, shape_.attention_bias});
  }
  if (shape_.query_key_norm) {
    const Weights weights = plain_weights(2.0 * key_dim);
    const double normed = rows_ * (queries + keys);
    add({{"query and key norm", OperatorKind::other, unquantized_, layers, weights.bytes + 2.0 * normed * value_bytes_,
          4.0 * normed},
         weights,
         weights});
  }
  const bool rotary = shape_.positions == Positions::rotary;
  other("store keys and values", layers,
        rows_ * (projected * value_bytes_ + cached * cache_bytes_ + (rotary ? 2.0 * queries * value_bytes_ : 0.0)),
        rotary ? 3.0 * rows_ * (queries + keys) : 0.0);
  const Attending attending{heads, key_dim, value_dim, cached};
  if (windowed) {
    write_attend("attention in window", layers, shape_.window.tokens, attending);
  } else {
    write_attends(layers, attending);
  }
  if (shape_.attention_gate) {
    other("attention gate", layers, 3.0 * rows_ * attended * value_bytes_, 2.0 * rows_ * attended);
  }
  write_attention_output(layers, heads, value_dim);
}

void AttentionWriter::write_attention_output(double layers, double heads, double value_dim) {
  if (shape_.output_groups == 0) {
    product({ModelPart::attention, "attention output", layers, heads * value_dim, d_model_, shape_.bias});
    return;
  }
  const double groups = as_double(shape_.output_groups) / devices_, rank = as_double(shape_.output_rank);
  product_by_head("attention output by groups", layers, groups, heads / groups * value_dim, rank);
  product({ModelPart::attention, "attention output", layers, groups * rank, d_model_, shape_.bias});
}

void AttentionWriter::write_attends(double layers, const Attending& attending) {
  double whole = layers;
  for (const SparseAttention& sparse : shape_.sparse) whole -= as_double(sparse.layers);
  write_attend("attention", whole, 0, attending);
  for (const SparseAttention& sparse : shape_.sparse) write_sparse_attend(sparse, attending);
}

void AttentionWriter::write_sparse_attend(const SparseAttention& sparse, const Attending& attending) {
  const double layers = as_double(sparse.layers), tokens = as_double(point_.tokens);
  const double length = as_double(point_.context) + tokens;
  const double entries = std::ceil(length / as_double(sparse.tokens_per_entry));
  const double chosen = sparse.selected_entries > 0 ? std::min(entries, as_double(sparse.selected_entries)) : entries;
  if (sparse.layer_parameters > 0) {
    product_with(ModelPart::attention, "indexer and compression", layers, as_double(sparse.layer_parameters),
                 2.0 * rows_ * d_model_, d_model_);
  }
  if (sparse.index_heads > 0) {
    const double width = as_double(sparse.index_dim);
    other("store index keys", layers, rows_ / as_double(sparse.tokens_per_entry) * index_key_bytes(sparse.index_dim),
          0.0);
    unweighted(OperatorKind::attention, "index scores", layers,
               rows_ * as_double(sparse.index_heads) * width * value_bytes_ +
                   as_double(point_.batch) * entries * index_key_bytes(sparse.index_dim),
               2.0 * rows_ * entries * as_double(sparse.index_heads) * width);
  }
  const double local = std::min(length, as_double(sparse.local_tokens));
  const double read = std::min(entries, tokens * chosen) + (local > 0.0 ? std::min(length, local + tokens - 1.0) : 0.0);
  write_attend_to("sparse attention", layers, read, tokens * (chosen + local), attending);
}

void AttentionWriter::write_attend(std::string_view name, double layers, std::int64_t window,
                                   const Attending& attending) {
  const double tokens = as_double(point_.tokens);
  const double length = as_double(point_.context) + tokens;
  // The union of the windows of all queries.
  const double read = window == 0 ? length : std::min(length, as_double(window) + tokens - 1.0);
  // In a block each query also sees later tokens.
  const double seen = seen_positions(point_, window) + (causal_ ? 0.0 : 0.5 * tokens * (tokens - 1.0));
  write_attend_to(name, layers, read, seen, attending);
}

void AttentionWriter::write_attend_to(std::string_view name, double layers, double read, double seen,
                                      const Attending& attending) {
  const double width = attending.key_dim + attending.value_dim;
  const double entry_bytes = as_double(point_.batch) * attending.cached * cache_bytes_;
  add({{.name = name,
        .kind = OperatorKind::attention,
        .compute = unquantized_,
        .count = layers,
        .bytes = rows_ * attending.heads * width * value_bytes_ + read * entry_bytes,
        .flop = 2.0 * as_double(point_.batch) * seen * attending.heads * width,
        .reread_bytes = std::max(0.0, seen - read) * entry_bytes},
       {},
       {}});
}

void AttentionWriter::write_cross_attention() {
  const double source = as_double(shape_.source_length), width = as_double(shape_.head_dim);
  const double keys = kv_heads(shape_.kv_heads) * width;
  product({ModelPart::attention, "cross query", cross_layers_, d_model_, heads_ * width, shape_.attention_bias});
  write_attend_to("cross attention", cross_layers_, source, as_double(point_.tokens) * source,
                  {heads_, width, width, 2.0 * keys});
  product({ModelPart::attention, "cross output", cross_layers_, heads_ * width, d_model_, shape_.bias});
}

void AttentionWriter::write_latent_attention() {
  const LatentAttention& latent = shape_.latent;
  const double rank = as_double(latent.kv_rank), query_rank = as_double(latent.query_rank);
  const double rope = as_double(latent.rope_dim), nope = as_double(latent.nope_dim),
               value = as_double(latent.value_dim);
  const double layers = attention_layers_;
  const double cached = rank + rope;
  const double queries = heads_ * (nope + rope);
  if (query_rank > 0.0) {
    product(
        {ModelPart::attention, "query and latent down", layers, d_model_, query_rank + cached, shape_.attention_bias});
    norm("query norm", layers, query_rank, false);
    product({ModelPart::attention, "query up", layers, query_rank, queries});
  } else {
    product({ModelPart::attention, "query", layers, d_model_, queries});
    product({ModelPart::attention, "latent down", layers, d_model_, cached, shape_.attention_bias});
  }
  norm("latent norm", layers, rank, false);
  other("store latent", layers, rows_ * (cached * (value_bytes_ + cache_bytes_) + 2.0 * heads_ * rope * value_bytes_),
        3.0 * rows_ * (heads_ + 1.0) * rope);
  product_by_head("query into latent", layers, heads_, nope, rank);
  write_attends(layers, {heads_, cached, rank, cached});
  product_by_head("value from latent", layers, heads_, rank, value);
  if (shape_.attention_gate) {
    product({ModelPart::attention, "attention gate", layers, d_model_, heads_ * value});
    other("gate the output", layers, 3.0 * rows_ * heads_ * value * value_bytes_, 2.0 * rows_ * heads_ * value);
  }
  product({ModelPart::attention, "attention output", layers, heads_ * value, d_model_, shape_.bias});
}

void AttentionWriter::write_linear_attention() {
  const LinearAttention& linear = shape_.linear;
  const double layers = as_double(linear.layers);
  product_with(ModelPart::linear_attention, "linear attention projections", layers,
               as_double(linear.layer_parameters) / devices_, 2.0 * rows_ * d_model_, d_model_);
  const double elements = as_double(linear.state_elements) / devices_;
  const double states = as_double(point_.batch) * (point_.prompt ? 2.0 : 1.0 + as_double(point_.tokens));
  unweighted(OperatorKind::attention, "linear attention", layers, states * elements * state_bytes,
             state_flop * rows_ * elements);
}

}  // namespace foredraft::latency
