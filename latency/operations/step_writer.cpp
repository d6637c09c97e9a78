// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_writer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/operations/operator_writer.hpp"

namespace foredraft::latency {
namespace {

/// Flop per element of a state and token: decay, product with the key, update by the outer product, product with the
/// query. For the gated delta rule; Mamba-2 has 5.
constexpr double state_flop = 7.0;

double as_number(std::int64_t value) { return static_cast<double>(value); }

/// Number of positions that `tokens` queries after `context` entries see, summed over the queries. Window 0: no window.
double seen_positions(const StepPoint& point, std::int64_t window) {
  const double tokens = as_number(point.tokens);
  const double first = as_number(point.context) + 1.0;  // the first query sees itself
  const double all = tokens * first + 0.5 * tokens * (tokens - 1.0);
  if (window == 0) return all;
  // Queries that see more than the window would see `excess`, `excess` - 1, ... fewer positions.
  const double excess = first + tokens - 1.0 - as_number(window);
  const double cut = std::clamp(excess, 0.0, tokens);
  return all - (cut * excess - 0.5 * cut * (cut - 1.0));
}

constexpr double id_bytes = 4.0;  ///< of one token id

/// Number of tokens with logits.
std::int64_t drafted_vocabulary(const ModelShape& shape) {
  return shape.head.draft_vocabulary > 0 ? shape.head.draft_vocabulary : shape.vocabulary;
}

/// Writes the operators of a forward pass, in the order in which the programs of forward_passes.hpp first have them.
/// Checks nothing.
class StepWriter : OperatorWriter {
 public:
  StepWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point)
      : OperatorWriter(shape, deployment, point),
        shape_(shape),
        deployment_(deployment),
        point_(point),
        devices_(as_number(deployment.tensor_parallel)),
        d_model_(as_number(shape.d_model)),
        attention_layers_(as_number(attention_layers(shape))),
        feed_forward_layers_(as_number(feed_forward_layers(shape))),
        cross_layers_(shape.architecture == Architecture::encoder_decoder ? as_number(shape.layers) : 0.0),
        heads_(as_number(shape.heads) / devices_),
        cache_bytes_(bits_of(deployment.kv_cache) / 8.0) {}

  [[nodiscard]] std::vector<WeightedOperator> write(WrittenPass pass) && {
    switch (pass) {
      case WrittenPass::decoder:
        write_decoder();
        break;
      case WrittenPass::drafting:
      case WrittenPass::block_drafting:
        causal_ = pass == WrittenPass::drafting || shape_.head.wide_attention;
        write_decoder();
        write_choice();
        break;
      case WrittenPass::context:
        point_.verified = point_.tokens;
        write_hidden_states();
        write_context_attention();
        break;
      case WrittenPass::head_drafting:
        other("hidden state", 1.0, rows_ * (id_bytes + 2.0 * d_model_ * value_bytes_), 0.0);
        product({ModelPart::inputs, "head", 1.0, d_model_, d_model_, true});
        other("head activation", 1.0, 2.0 * rows_ * d_model_ * value_bytes_, rows_ * d_model_);
        norm("residual sum", 1.0, d_model_, true);
        write_logits();
        write_choice();
        break;
      case WrittenPass::encoder:
        write_encoder();
        break;
    }
    return std::move(operators_);
  }

 private:
  /// What a query of each head and the cache of each layer hold, in values on one device.
  struct Attending {
    double heads, key_dim, value_dim;
    double cached;  ///< of one entry
  };

  void write_decoder() {
    write_inputs();
    write_layers();
    write_logits();
  }

  void write_encoder() {
    attention_layers_ = feed_forward_layers_ = as_number(shape_.encoder_layers);
    cross_layers_ = 0.0;
    causal_ = false;
    cache_bytes_ = value_bytes_;
    write_inputs();
    operators_.back().shared = true;
    write_layers();
    product({ModelPart::attention, "cross keys and values", 2.0 * as_number(shape_.layers), d_model_,
             kv_heads(shape_.kv_heads) * as_number(shape_.head_dim), shape_.attention_bias});
  }

  void write_inputs() {
    part_ = StepPart::inputs;
    const bool head = shape_.architecture == Architecture::head;
    const bool learned = shape_.positions == Positions::learned;
    const bool added = learned || shape_.positions == Positions::sinusoidal;
    const double positions = added ? as_number(point_.tokens) * d_model_ * value_bytes_ : 0.0;
    const WeightFormat& table_format =
        deployment_.weights.of(shape_.tied && !head ? ModelPart::vocabulary : ModelPart::embedding);
    Weights tables = weights_of(table_format, head ? 0.0 : as_number(shape_.vocabulary) * d_model_ / devices_);
    tables += plain_weights(as_number(shape_.learned_positions) * d_model_);
    add({{"embedding", OperatorKind::other, unquantized_, 1.0,
          rows_ * (id_bytes + d_model_ * (table_format.bits / 8.0 + value_bytes_)) + positions,
          added ? rows_ * d_model_ : 0.0},
         {},
         tables});
    if (head && shape_.head.stages == 0) write_hidden_states();
  }

  [[nodiscard]] bool fills_block() const { return shape_.head.block_size > 0 && !shape_.head.wide_attention; }

  /// A stage reads the state of the stage before, the first one that of the target; the embedding is added to it.
  void write_stage() {
    const double width = as_number(shape_.head.hidden_width > 0 ? shape_.head.hidden_width : shape_.d_model);
    product({ModelPart::inputs, "state", as_number(shape_.layers), point_.own_hidden_states ? d_model_ : width,
             d_model_, shape_.bias});
    other("activation of state", as_number(shape_.layers), 3.0 * rows_ * d_model_ * value_bytes_, rows_ * d_model_);
    if (shape_.norm == Norm::layer) norm("norm", 1.0, d_model_, false);
  }

  void write_hidden_states() {
    const double width = as_number(shape_.head.hidden_width > 0 ? shape_.head.hidden_width : shape_.d_model);
    const double hidden = as_number(shape_.head.hidden_states) * width;
    if (fills_block()) {
      // The queries are embeddings; the layers read the hidden states as keys and values.
      over(point_.verified, [&] {
        product({ModelPart::inputs, "input from hidden states", 1.0, hidden, d_model_, shape_.bias});
        norm("norm of hidden states", 1.0, d_model_, false);
      });
    } else if (!shape_.head.wide_attention) {
      product({ModelPart::inputs, "input from embedding", 1.0, d_model_, d_model_, shape_.bias});
      product({ModelPart::inputs, "input from hidden states", 1.0, hidden, d_model_, false, true});
    } else if (hidden != d_model_ && !point_.own_hidden_states) {
      product({ModelPart::inputs, "input from hidden states", 1.0, hidden, d_model_, shape_.bias});
    }
  }

  /// On one device.
  [[nodiscard]] double kv_heads(std::int64_t heads) const { return std::ceil(as_number(heads) / devices_); }

  [[nodiscard]] double blocks() const {
    return attention_layers_ + as_number(shape_.linear.layers) + cross_layers_ + feed_forward_layers_;
  }

  void write_layers() {
    part_ = StepPart::layers;
    if (shape_.head.stages > 0) return write_stage();
    // The sum of a residual stream is part of the norm after it; nothing has been added before the first.
    norm("first norm", 1.0, d_model_, false);
    if (fills_block()) write_context_attention();
    if (shape_.latent.kv_rank > 0) {
      write_latent_attention();
    } else {
      write_attention(false);
      if (shape_.window.layers > 0) write_attention(true);
    }
    write_linear_attention();
    write_residual_streams();
    norm("norm", blocks() - 1.0, d_model_, true);
    if (shape_.norms_per_layer > 2) norm("norm after block", blocks(), d_model_, false);
    // The hidden states that attention reads beside the embedding have their own norm.
    if (shape_.head.wide_attention) norm("norm of hidden states", 1.0, d_model_, false);
    write_cross_attention();
    write_feed_forward();
    if (devices_ > 1.0) {
      unweighted(OperatorKind::all_reduce, "all-reduce", blocks(), rows_ * d_model_ * value_bytes_, 0.0);
    }
    if (deployment_.pipeline_parallel > 1) {
      unweighted(OperatorKind::transfer, "send to the next devices", as_number(deployment_.pipeline_parallel - 1),
                 rows_ * d_model_ * value_bytes_, 0.0);
    }
    norm("final norm", 1.0, d_model_, true);
  }

  /// A block's layers project keys and values of the hidden states by the weights of its own, in passes of their own.
  void write_context_attention() {
    const auto write = [this](double layers, const AttentionHeads& heads) {
      const double cached = shape_.latent.kv_rank > 0
                                ? as_number(shape_.latent.kv_rank + shape_.latent.rope_dim)
                                : kv_heads(heads.kv_heads) * as_number(heads.key_dim + heads.value_dim);
      product(
          {ModelPart::attention, "keys and values of hidden states", layers, d_model_, cached, shape_.attention_bias});
      if (layers > 0.0) operators_.back().shared = true;
      other("store keys and values of hidden states", layers, rows_ * cached * (value_bytes_ + cache_bytes_),
            3.0 * rows_ * cached);
    };
    over(point_.verified, [&] {
      write(attention_layers_ - as_number(shape_.window.layers), attention_heads(shape_));
      write(as_number(shape_.window.layers), window_heads(shape_));
    });
  }

  /// Projections, cache and attention of the layers with a window, or of the others.
  void write_attention(bool windowed) {
    const AttentionHeads shapes = windowed ? window_heads(shape_) : attention_heads(shape_);
    const double windowed_layers = as_number(shape_.window.layers);
    const double layers = windowed ? windowed_layers : attention_layers_ - windowed_layers;
    const double heads = as_number(shapes.heads) / devices_;
    const double key_dim = as_number(shapes.key_dim), value_dim = as_number(shapes.value_dim);
    const double queries = heads * key_dim, attended = heads * value_dim;
    const double keys = kv_heads(shapes.kv_heads) * key_dim, values = kv_heads(shapes.kv_heads) * value_dim;
    const bool projects_values = (windowed || !shape_.values_are_keys) && !shape_.single_cache;
    const double projected = keys + (projects_values ? values : 0.0);
    const double cached = keys + (shape_.single_cache ? 0.0 : values);
    // Of a head the first layer alone is wide.
    const double wide =
        shape_.head.wide_attention && layers > 0.0 && (!windowed || windowed_layers == attention_layers_) ? 1.0 : 0.0;
    const double gate = shape_.attention_gate ? attended : 0.0;
    if (shape_.query_rank > 0) {
      const double rank = as_number(shape_.query_rank);
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
      add({{"query and key norm", OperatorKind::other, unquantized_, layers,
            weights.bytes + 2.0 * normed * value_bytes_, 4.0 * normed},
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

  void write_attention_output(double layers, double heads, double value_dim) {
    if (shape_.output_groups == 0) {
      product({ModelPart::attention, "attention output", layers, heads * value_dim, d_model_, shape_.bias});
      return;
    }
    const double groups = as_number(shape_.output_groups) / devices_, rank = as_number(shape_.output_rank);
    product_by_head("attention output by groups", layers, groups, heads / groups * value_dim, rank);
    product({ModelPart::attention, "attention output", layers, groups * rank, d_model_, shape_.bias});
  }

  /// Attention of the layers without a window: to the whole cache, or sparse.
  void write_attends(double layers, const Attending& attending) {
    double whole = layers;
    for (const SparseAttention& sparse : shape_.sparse) whole -= as_number(sparse.layers);
    write_attend("attention", whole, 0, attending);
    for (const SparseAttention& sparse : shape_.sparse) write_sparse_attend(sparse, attending);
  }

  /// Queries of one sequence choose their own entries: together they read at most as many as all chosen ones.
  void write_sparse_attend(const SparseAttention& sparse, const Attending& attending) {
    const double layers = as_number(sparse.layers), tokens = as_number(point_.tokens);
    const double length = as_number(point_.context) + tokens;
    const double entries = std::ceil(length / as_number(sparse.tokens_per_entry));
    const double chosen = sparse.selected_entries > 0 ? std::min(entries, as_number(sparse.selected_entries)) : entries;
    if (sparse.layer_parameters > 0) {
      product_with(ModelPart::attention, "indexer and compression", layers, as_number(sparse.layer_parameters),
                   2.0 * rows_ * d_model_, d_model_);
    }
    if (sparse.index_heads > 0) {
      const double width = as_number(sparse.index_dim);
      other("store index keys", layers, rows_ / as_number(sparse.tokens_per_entry) * index_key_bytes(sparse.index_dim),
            0.0);
      unweighted(OperatorKind::attention, "index scores", layers,
                 rows_ * as_number(sparse.index_heads) * width * value_bytes_ +
                     as_number(point_.batch) * entries * index_key_bytes(sparse.index_dim),
                 2.0 * rows_ * entries * as_number(sparse.index_heads) * width);
    }
    const double local = std::min(length, as_number(sparse.local_tokens));
    const double read =
        std::min(entries, tokens * chosen) + (local > 0.0 ? std::min(length, local + tokens - 1.0) : 0.0);
    write_attend_to("sparse attention", layers, read, tokens * (chosen + local), attending);
  }

  void write_attend(std::string_view name, double layers, std::int64_t window, const Attending& attending) {
    const double tokens = as_number(point_.tokens);
    const double length = as_number(point_.context) + tokens;
    // The windows of all queries together.
    const double read = window == 0 ? length : std::min(length, as_number(window) + tokens - 1.0);
    // In a block each query also sees the tokens after its own.
    const double seen = seen_positions(point_, window) + (causal_ ? 0.0 : 0.5 * tokens * (tokens - 1.0));
    write_attend_to(name, layers, read, seen, attending);
  }

  /// Of each sequence `read` entries of the cache, and `seen` of them summed over the queries.
  void write_attend_to(std::string_view name, double layers, double read, double seen, const Attending& attending) {
    const double width = attending.key_dim + attending.value_dim;
    const double entry_bytes = as_number(point_.batch) * attending.cached * cache_bytes_;
    add({{.name = name,
          .kind = OperatorKind::attention,
          .compute = unquantized_,
          .count = layers,
          .bytes = rows_ * attending.heads * width * value_bytes_ + read * entry_bytes,
          .flop = 2.0 * as_number(point_.batch) * seen * attending.heads * width,
          .reread_bytes = std::max(0.0, seen - read) * entry_bytes},
         {},
         {}});
  }

  void write_cross_attention() {
    const double source = as_number(shape_.source_length), width = as_number(shape_.head_dim);
    const double keys = kv_heads(shape_.kv_heads) * width;
    product({ModelPart::attention, "cross query", cross_layers_, d_model_, heads_ * width, shape_.attention_bias});
    write_attend_to("cross attention", cross_layers_, source, as_number(point_.tokens) * source,
                    {heads_, width, width, 2.0 * keys});
    product({ModelPart::attention, "cross output", cross_layers_, heads_ * width, d_model_, shape_.bias});
  }

  void write_latent_attention() {
    const LatentAttention& latent = shape_.latent;
    const double rank = as_number(latent.kv_rank), query_rank = as_number(latent.query_rank);
    const double rope = as_number(latent.rope_dim), nope = as_number(latent.nope_dim),
                 value = as_number(latent.value_dim);
    const double layers = attention_layers_;
    const double cached = rank + rope;
    const double queries = heads_ * (nope + rope);
    if (query_rank > 0.0) {
      product({ModelPart::attention, "query and latent down", layers, d_model_, query_rank + cached,
               shape_.attention_bias});
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

  void write_linear_attention() {
    const LinearAttention& linear = shape_.linear;
    const double layers = as_number(linear.layers);
    product_with(ModelPart::linear_attention, "linear attention projections", layers,
                 as_number(linear.layer_parameters) / devices_, 2.0 * rows_ * d_model_, d_model_);
    const double elements = as_number(linear.state_elements) / devices_;
    const double states = as_number(point_.batch) * (point_.prompt ? 2.0 : 1.0 + as_number(point_.tokens));
    unweighted(OperatorKind::attention, "linear attention", layers, states * elements * state_bytes,
               state_flop * rows_ * elements);
  }

  /// Before each block the streams are mixed to its input by weights that follow from all of them, after it its output
  /// is added to each.
  void write_residual_streams() {
    if (shape_.residual_streams == 1) return;
    const double streams = as_number(shape_.residual_streams), width = streams * d_model_;
    const Weights mixing = weights_of(weight_format(NumberFormat::fp32), width * (2.0 + streams) * streams);
    add({{"mix residual streams", OperatorKind::product, unquantized_, blocks(),
          mixing.bytes + 4.0 * rows_ * width * value_bytes_, 2.0 * rows_ * mixing.parameters, width},
         mixing,
         mixing});
  }

  void write_feed_forward() {
    const double dense = shape_.experts.count > 0
                             ? std::min(as_number(shape_.experts.dense_layers), feed_forward_layers_)
                             : feed_forward_layers_;
    write_dense_block(ModelPart::feed_forward, shape_.gated ? "gate and up" : "up", "activation", "down", dense,
                      as_number(shape_.d_ff) / devices_);
    write_experts(feed_forward_layers_ - dense);
  }

  void write_dense_block(ModelPart part, std::string_view up, std::string_view activation, std::string_view down,
                         double layers, double d_ff) {
    const double inner = (shape_.gated ? 2.0 : 1.0) * d_ff;
    product({part, up, layers, d_model_, inner, shape_.bias});
    other(activation, layers, rows_ * (inner + d_ff) * value_bytes_, rows_ * inner);
    product({part, down, layers, d_ff, d_model_, shape_.bias});
  }

  void write_experts(double layers) {
    if (layers <= 0.0) return;
    const Experts& experts = shape_.experts;
    const double count = as_number(experts.count), used = as_number(experts.per_token);
    const double read = experts_read(experts, rows_, deployment_.expert_skew.value_or(0.0));
    const double d_ff = as_number(experts.d_ff) / devices_;
    const double inner = (shape_.gated ? 2.0 : 1.0) * d_ff;
    const double width = experts.latent_dim > 0 ? as_number(experts.latent_dim) : d_model_;
    product_in(weight_format(unquantized_), {ModelPart::experts, "router", layers, d_model_, count, shape_.bias});
    other("choose experts", layers, rows_ * (count * value_bytes_ + used * (value_bytes_ + id_bytes)), 0.0);
    if (experts.latent_dim > 0) {
      product({ModelPart::feed_forward, "into the space of experts", layers, d_model_, width});
    }

    // Each token uses `used` of them; its row counts once for each in the products.
    const auto experts_product = [&](std::string_view name, double in_values, double inputs, double outputs) {
      const double bias = shape_.bias ? 1.0 : 0.0;
      Weights one = weights_of(ModelPart::experts, inputs * outputs);
      one += plain_weights(bias * outputs);
      const double flop = rows_ * used * outputs * (2.0 * inputs + bias);
      add({{name, OperatorKind::product, compute_of(ModelPart::experts), layers,
            read * one.bytes + rows_ * (in_values + used * outputs) * value_bytes_, flop, inputs,
            vector_flop(ModelPart::experts, flop)},
           one.times(read),
           one.times(count)});
    };
    experts_product(shape_.gated ? "experts gate and up" : "experts up", width, width, inner);
    other("experts activation", layers, rows_ * used * (inner + d_ff) * value_bytes_, rows_ * used * inner);
    experts_product("experts down", used * d_ff, d_ff, width);
    other("sum of experts", layers, rows_ * (used + 1.0) * width * value_bytes_, 2.0 * rows_ * used * width);
    if (experts.latent_dim > 0) {
      product({ModelPart::feed_forward, "from the space of experts", layers, width, d_model_});
    }
    if (experts.shared_d_ff > 0) {
      write_dense_block(ModelPart::shared_experts, shape_.gated ? "shared experts gate and up" : "shared experts up",
                        "shared experts activation", "shared experts down", layers,
                        as_number(experts.shared_d_ff) / devices_);
    }
  }

  void write_logits() {
    part_ = StepPart::vocabulary;
    over(point_.prompt ? 1 : point_.drafts, [this] { write_projection_of_logits(); });
  }

  void write_projection_of_logits() {
    const bool head = shape_.architecture == Architecture::head;
    const double vocabulary = as_number(drafted_vocabulary(shape_));
    // Tied: the table of the embedding. A head without its own: the target's.
    const bool shared = head ? !shape_.head.own_vocabulary : shape_.tied;
    product({ModelPart::vocabulary, "vocabulary", 1.0, d_model_, vocabulary / devices_});
    operators_.back().shared = shared;
    if (devices_ > 1.0) {
      unweighted(OperatorKind::all_gather, "gather logits", 1.0, rows_ * vocabulary * value_bytes_, 0.0);
    }
  }

  /// Of the tokens of all rows at once; of a block with corrected logits one draft after the other.
  void write_choice() {
    const std::int64_t drafts = std::max<std::int64_t>(point_.drafts, 1);
    const bool one_by_one = shape_.head.correction_parameters > 0;
    const double logits = as_number(drafted_vocabulary(shape_)) * value_bytes_;
    over(one_by_one ? 1 : point_.drafts, [&] {
      if (one_by_one) write_correction(as_number(drafts));
      other("choose token", one_by_one ? as_number(drafts) : 1.0, rows_ * (logits + id_bytes), 0.0);
    });
  }

  void write_correction(double drafts) {
    const Weights weights = weights_of(ModelPart::inputs, as_number(shape_.head.correction_parameters));
    add({{"correction of logits", OperatorKind::product, compute_of(ModelPart::inputs), drafts,
          weights.bytes + 2.0 * rows_ * as_number(drafted_vocabulary(shape_)) * value_bytes_,
          2.0 * rows_ * weights.parameters, d_model_},
         weights,
         weights});
  }

  const ModelShape& shape_;
  const Deployment& deployment_;
  StepPoint point_;
  double devices_, d_model_;
  double attention_layers_, feed_forward_layers_, cross_layers_;
  double heads_;        ///< on one device
  double cache_bytes_;  ///< of one cached value
  bool causal_ = true;
};

}  // namespace

void check_deployment(const ModelShape& shape, const Deployment& deployment) {
  check_shape(shape);
  check_at_least("tensor_parallel", deployment.tensor_parallel, 1);
  if (shape.heads % deployment.tensor_parallel != 0) {
    throw DomainError(fmt::format("invalid tensor_parallel={} (must divide the {} heads of {})",
                                  deployment.tensor_parallel, shape.heads, shape.name));
  }
  check_range("pipeline_parallel", deployment.pipeline_parallel, 1, shape.layers);
  check_probability("expert_skew", deployment.expert_skew.value_or(0.0));
}

StepPoint block_point(const HeadInputs& head, std::int64_t batch, std::int64_t drafts, std::int64_t context) {
  const std::int64_t verified = drafts + 1;
  const std::int64_t filled = head.wide_attention ? verified + drafts - 1 : drafts + (head.anchor_drafts ? 0 : 1);
  return {.batch = batch, .tokens = filled, .context = context, .drafts = drafts, .verified = verified};
}

double index_key_bytes(std::int64_t index_dim) {
  constexpr std::int64_t scaled_together = 128;
  return as_number(index_dim) + 4.0 * as_number(index_dim / scaled_together);
}

std::vector<WeightedOperator> write_pass(WrittenPass pass, const ModelShape& shape, const Deployment& deployment,
                                         const StepPoint& point) {
  return StepWriter(shape, deployment, point).write(pass);
}

}  // namespace foredraft::latency
