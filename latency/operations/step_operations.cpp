// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_operations.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

/// Far beyond any pass; products of counts are floating-point numbers here.
constexpr std::int64_t largest_extent = 100'000'000;

/// Flop per element of a state and token: decay, product with the key, update by the outer product, product with the
/// query. For the gated delta rule; Mamba-2 has 5.
constexpr double state_flop = 7.0;

double real(std::int64_t value) { return static_cast<double>(value); }

/// One forward pass over `tokens` new tokens of each of `batch` sequences with a context of `context` tokens.
struct StepPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
  bool own_hidden_states = false;  ///< for a head: it reads its own last output instead of the target's hidden states,
                                   ///< without the projection of several of them (EAGLE-3)
};

/// Number of positions that `tokens` queries after `context` entries see, summed over the queries. Window 0: no window.
double seen_positions(const StepPoint& point, std::int64_t window) {
  const double tokens = real(point.tokens);
  const double first = real(point.context) + 1.0;  // the first query sees itself
  const double all = tokens * first + 0.5 * tokens * (tokens - 1.0);
  if (window == 0) return all;
  // Queries that see more than the window would see `excess`, `excess` - 1, ... fewer positions.
  const double excess = first + tokens - 1.0 - real(window);
  const double cut = std::clamp(excess, 0.0, tokens);
  return all - (cut * excess - 0.5 * cut * (cut - 1.0));
}

constexpr double state_bytes = 4.0;  ///< of one element of a state of linear attention, kept in fp32

constexpr double id_bytes = 4.0;  ///< of one token id

/// Number of tokens with logits.
std::int64_t drafted_vocabulary(const ModelShape& shape) {
  return shape.head.draft_vocabulary > 0 ? shape.head.draft_vocabulary : shape.vocabulary;
}

/// An operator with the bytes of its weights on one device.
struct WeightedOperator {
  StepOperator step;
  double weights_read = 0.0;    ///< by a pass over these tokens, part of step.bytes; rows of tables do not count
  double weights_stored = 0.0;  ///< in memory: all experts, whole tables
};

constexpr std::size_t max_operators = 32;  ///< of any pass, so that a list is allocated once

/// Writes the operators of a forward pass, in the order in which the programs of forward_passes.hpp first have them.
/// Checks nothing.
class StepWriter {
 public:
  StepWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point)
      : shape_(shape),
        deployment_(deployment),
        point_(point),
        devices_(real(deployment.tensor_parallel)),
        rows_(real(point.batch) * real(point.tokens)),
        d_model_(real(shape.d_model)),
        attention_layers_(real(attention_layers(shape))),
        feed_forward_layers_(real(feed_forward_layers(shape))),
        cross_layers_(shape.architecture == Architecture::encoder_decoder ? real(shape.layers) : 0.0),
        heads_(real(shape.heads) / devices_),
        unquantized_(unquantized_format(deployment.weights)),
        value_bytes_(bits_of(unquantized_) / 8.0),
        weight_bytes_(bits_of(deployment.weights) / 8.0),
        cache_bytes_(bits_of(deployment.kv_cache) / 8.0) {
    operators_.reserve(max_operators);
  }

  /// Layers and logits of every row.
  [[nodiscard]] std::vector<WeightedOperator> decoder_pass() && {
    write_inputs();
    write_layers();
    write_logits();
    return std::move(operators_);
  }

  /// A decoder pass whose logits each choose a token; `block`: its tokens see each other.
  [[nodiscard]] std::vector<WeightedOperator> drafting(bool block) && {
    causal_ = !block;
    write_inputs();
    write_layers();
    write_logits();
    choose_token();
    return std::move(operators_);
  }

  /// One head on a hidden state: a residual block and a vocabulary projection.
  [[nodiscard]] std::vector<WeightedOperator> head_drafting() && {
    other("hidden state", 1.0, rows_ * (id_bytes + 2.0 * d_model_ * value_bytes_), 0.0);
    product({"head", 1.0, d_model_, d_model_, true});
    other("head activation", 1.0, 2.0 * rows_ * d_model_ * value_bytes_, rows_ * d_model_);
    norm("residual sum", 1.0, d_model_, true);
    write_logits();
    choose_token();
    return std::move(operators_);
  }

  /// The encoder over the point's tokens, whose keys and values are in no cache, and those of the cross-attention.
  [[nodiscard]] std::vector<WeightedOperator> encoder_pass() && {
    attention_layers_ = feed_forward_layers_ = real(shape_.encoder_layers);
    cross_layers_ = 0.0;
    causal_ = false;
    cache_bytes_ = value_bytes_;
    write_inputs();
    write_layers();
    product({"cross keys and values", 2.0 * real(shape_.layers), d_model_,
             kv_heads(shape_.kv_heads) * real(shape_.head_dim), shape_.attention_bias});
    return std::move(operators_);
  }

 private:
  /// in [rows, inputs] times weight [inputs, outputs], sizes on one device.
  struct Product {
    std::string_view name;
    double count, inputs, outputs;
    bool bias = false;
    bool accumulate = false;  ///< adds to its output, which it reads
  };

  /// Layers with the same kind of attention: with a window or without; their key-value heads may differ (Gemma 4).
  struct AttentionLayers {
    std::string_view name;  ///< of the attention operator
    double layers;
    std::int64_t window;        ///< tokens; 0: none
    double kv_heads, head_dim;  ///< on one device
    bool values;                ///< has a value projection; else values are the keys
  };

  void write_inputs() {
    const bool head = shape_.architecture == Architecture::head;
    const bool learned = shape_.positions == Positions::learned;
    const bool added = learned || shape_.positions == Positions::sinusoidal;
    const double positions = added ? real(point_.tokens) * d_model_ * value_bytes_ : 0.0;
    const double table = head ? 0.0 : real(shape_.vocabulary) * d_model_ * value_bytes_ / devices_;
    add({{"embedding", OperatorKind::other, unquantized_, 1.0,
          rows_ * (id_bytes + 2.0 * d_model_ * value_bytes_) + positions, added ? rows_ * d_model_ : 0.0},
         0.0,
         table + real(shape_.learned_positions) * d_model_ * value_bytes_});
    if (!head) return;

    const double width = real(shape_.head.hidden_width > 0 ? shape_.head.hidden_width : shape_.d_model);
    const double hidden = real(shape_.head.hidden_states) * width;
    if (!shape_.head.wide_attention) {
      product({"input from embedding", 1.0, d_model_, d_model_, shape_.bias});
      product({"input from hidden states", 1.0, hidden, d_model_, false, true});
    } else if (hidden != d_model_ && !point_.own_hidden_states) {
      product({"input from hidden states", 1.0, hidden, d_model_, shape_.bias});
    }
  }

  /// On one device.
  [[nodiscard]] double kv_heads(std::int64_t heads) const { return std::ceil(real(heads) / devices_); }

  [[nodiscard]] double blocks() const {
    return attention_layers_ + real(shape_.linear.layers) + cross_layers_ + feed_forward_layers_;
  }

  void write_layers() {
    // The sum of a residual stream is part of the norm after it; nothing has been added before the first.
    norm("first norm", 1.0, d_model_, false);
    if (shape_.latent.kv_rank > 0) {
      write_latent_attention();
    } else {
      const double windowed = real(shape_.window.layers);
      write_attention({"attention", attention_layers_ - windowed, 0, kv_heads(shape_.kv_heads), real(shape_.head_dim),
                       !shape_.values_are_keys});
      write_attention({"attention in window", windowed, shape_.window.tokens, kv_heads(window_kv_heads(shape_)),
                       real(window_head_dim(shape_)), true});
    }
    write_linear_attention();
    norm("norm", blocks() - 1.0, d_model_, true);
    if (shape_.norms_per_layer > 2) norm("norm after block", blocks(), d_model_, false);
    // The hidden states that attention reads beside the embedding have their own norm.
    if (shape_.head.wide_attention) norm("norm of hidden states", 1.0, d_model_, false);
    write_cross_attention();
    write_feed_forward();
    if (devices_ > 1.0) {
      add({{"all-reduce", OperatorKind::all_reduce, unquantized_, blocks(), rows_ * d_model_ * value_bytes_, 0.0},
           0.0,
           0.0});
    }
    norm("final norm", 1.0, d_model_, true);
  }

  void write_attention(const AttentionLayers& group) {
    const double inputs = (shape_.head.wide_attention ? 2.0 : 1.0) * d_model_;
    const double queries = heads_ * group.head_dim;
    const double keys = group.kv_heads * group.head_dim;
    const double projected = (group.values ? 2.0 : 1.0) * keys;
    const double gate = shape_.attention_gate ? queries : 0.0;
    product({"qkv", group.layers, inputs, queries + gate + projected, shape_.attention_bias});
    if (shape_.query_key_norm) {
      const double weights = 2.0 * group.head_dim * value_bytes_;
      const double values = rows_ * (queries + keys);
      add({{"query and key norm", OperatorKind::other, unquantized_, group.layers,
            weights + 2.0 * values * value_bytes_, 4.0 * values},
           weights,
           weights});
    }
    const bool rotary = shape_.positions == Positions::rotary;
    other(
        "store keys and values", group.layers,
        rows_ * (projected * value_bytes_ + 2.0 * keys * cache_bytes_ + (rotary ? 2.0 * queries * value_bytes_ : 0.0)),
        rotary ? 3.0 * rows_ * (queries + keys) : 0.0);
    write_attend(group.name, group.layers, group.window, group.head_dim, group.head_dim, 2.0 * keys);
    if (shape_.attention_gate) {
      other("attention gate", group.layers, 3.0 * rows_ * queries * value_bytes_, 2.0 * rows_ * queries);
    }
    product({"attention output", group.layers, queries, d_model_, shape_.bias});
  }

  void write_attend(std::string_view name, double layers, std::int64_t window, double key_width, double value_width,
                    double cached_values) {
    const double tokens = real(point_.tokens);
    const double length = real(point_.context) + tokens;
    // The windows of all queries together.
    const double read = window == 0 ? length : std::min(length, real(window) + tokens - 1.0);
    // In a block each query also sees the tokens after its own.
    const double seen = seen_positions(point_, window) + (causal_ ? 0.0 : 0.5 * tokens * (tokens - 1.0));
    write_attend_to(name, layers, read, seen, key_width, value_width, cached_values);
  }

  /// Of each sequence `read` entries of the cache, and `seen` of them summed over the queries.
  void write_attend_to(std::string_view name, double layers, double read, double seen, double key_width,
                       double value_width, double cached_values) {
    add({{name, OperatorKind::attention, unquantized_, layers,
          rows_ * heads_ * (key_width + value_width) * value_bytes_ +
              real(point_.batch) * read * cached_values * cache_bytes_,
          2.0 * real(point_.batch) * seen * heads_ * (key_width + value_width)},
         0.0,
         0.0});
  }

  void write_cross_attention() {
    const double source = real(shape_.source_length), width = real(shape_.head_dim);
    const double keys = kv_heads(shape_.kv_heads) * width;
    product({"cross query", cross_layers_, d_model_, heads_ * width, shape_.attention_bias});
    write_attend_to("cross attention", cross_layers_, source, real(point_.tokens) * source, width, width, 2.0 * keys);
    product({"cross output", cross_layers_, heads_ * width, d_model_, shape_.bias});
  }

  void write_latent_attention() {
    const LatentAttention& latent = shape_.latent;
    const double rank = real(latent.kv_rank), query_rank = real(latent.query_rank);
    const double rope = real(latent.rope_dim), nope = real(latent.nope_dim), value = real(latent.value_dim);
    const double layers = attention_layers_;
    const double cached = rank + rope;
    const double queries = heads_ * (nope + rope);
    if (query_rank > 0.0) {
      product({"query and latent down", layers, d_model_, query_rank + cached, shape_.attention_bias});
      norm("query norm", layers, query_rank, false);
      product({"query up", layers, query_rank, queries});
    } else {
      product({"query", layers, d_model_, queries});
      product({"latent down", layers, d_model_, cached, shape_.attention_bias});
    }
    norm("latent norm", layers, rank, false);
    other("store latent", layers, rows_ * (cached * (value_bytes_ + cache_bytes_) + 2.0 * heads_ * rope * value_bytes_),
          3.0 * rows_ * (heads_ + 1.0) * rope);
    // One matrix per head, so that inputs and outputs of a head do not multiply with those of others.
    const auto by_head = [&](std::string_view name, double inputs, double outputs) {
      const double weights = heads_ * inputs * outputs * weight_bytes_;
      add({{name, OperatorKind::product, compute_format(deployment_.weights), layers,
            weights + rows_ * heads_ * (inputs + outputs) * value_bytes_, 2.0 * rows_ * heads_ * inputs * outputs,
            inputs},
           weights,
           weights});
    };
    by_head("query into latent", nope, rank);
    write_attend("attention", layers, 0, cached, rank, cached);
    by_head("value from latent", rank, value);
    product({"attention output", layers, heads_ * value, d_model_, shape_.bias});
  }

  void write_linear_attention() {
    const LinearAttention& linear = shape_.linear;
    const double layers = real(linear.layers);
    const double parameters = real(linear.layer_parameters) / devices_;
    const double weights = parameters * weight_bytes_;
    add({{"linear attention projections", OperatorKind::product, compute_format(deployment_.weights), layers,
          weights + 2.0 * rows_ * d_model_ * value_bytes_, 2.0 * rows_ * parameters, d_model_},
         weights,
         weights});
    const double elements = real(linear.state_elements) / devices_;
    add({{"linear attention", OperatorKind::attention, unquantized_, layers,
          (real(point_.batch) + rows_) * elements * state_bytes, state_flop * rows_ * elements},
         0.0,
         0.0});
  }

  void write_feed_forward() {
    const double dense = shape_.experts.count > 0 ? std::min(real(shape_.experts.dense_layers), feed_forward_layers_)
                                                  : feed_forward_layers_;
    write_dense_block(shape_.gated ? "gate and up" : "up", "activation", "down", dense, real(shape_.d_ff) / devices_);
    write_experts(feed_forward_layers_ - dense);
  }

  void write_dense_block(std::string_view up, std::string_view activation, std::string_view down, double layers,
                         double d_ff) {
    const double inner = (shape_.gated ? 2.0 : 1.0) * d_ff;
    product({up, layers, d_model_, inner, shape_.bias});
    other(activation, layers, rows_ * (inner + d_ff) * value_bytes_, rows_ * inner);
    product({down, layers, d_ff, d_model_, shape_.bias});
  }

  void write_experts(double layers) {
    if (layers <= 0.0) return;
    const Experts& experts = shape_.experts;
    const double count = real(experts.count), used = real(experts.per_token);
    const double read = experts_read(experts, rows_, deployment_.expert_skew);
    const double d_ff = real(experts.d_ff) / devices_;
    const double inner = (shape_.gated ? 2.0 : 1.0) * d_ff;
    product_in(unquantized_, {"router", layers, d_model_, count, shape_.bias});
    other("choose experts", layers, rows_ * (count * value_bytes_ + used * (value_bytes_ + id_bytes)), 0.0);

    // Each token uses `used` of them; its row counts once for each in the products.
    const auto experts_product = [&](std::string_view name, double in_values, double inputs, double outputs) {
      const double bias = shape_.bias ? 1.0 : 0.0;
      const double one = inputs * outputs * weight_bytes_ + bias * outputs * value_bytes_;
      add({{name, OperatorKind::product, compute_format(deployment_.weights), layers,
            read * one + rows_ * (in_values + used * outputs) * value_bytes_,
            rows_ * used * outputs * (2.0 * inputs + bias), inputs},
           read * one,
           count * one});
    };
    experts_product(shape_.gated ? "experts gate and up" : "experts up", d_model_, d_model_, inner);
    other("experts activation", layers, rows_ * used * (inner + d_ff) * value_bytes_, rows_ * used * inner);
    experts_product("experts down", used * d_ff, d_ff, d_model_);
    other("sum of experts", layers, rows_ * (used + 1.0) * d_model_ * value_bytes_, 2.0 * rows_ * used * d_model_);
    if (experts.shared_d_ff > 0) {
      write_dense_block(shape_.gated ? "shared experts gate and up" : "shared experts up", "shared experts activation",
                        "shared experts down", layers, real(experts.shared_d_ff) / devices_);
    }
  }

  void write_logits() {
    const bool head = shape_.architecture == Architecture::head;
    const double vocabulary = real(drafted_vocabulary(shape_));
    product_in(unquantized_, {"vocabulary", 1.0, d_model_, vocabulary / devices_});
    // Tied: the table of the embedding. A head without its own: the target's.
    if (head ? !shape_.head.own_vocabulary : shape_.tied) operators_.back().weights_stored = 0.0;
    if (devices_ > 1.0) {
      add({{"gather logits", OperatorKind::all_gather, unquantized_, 1.0, rows_ * vocabulary * value_bytes_, 0.0},
           0.0,
           0.0});
    }
  }

  void choose_token() {
    other("choose token", 1.0, rows_ * (real(drafted_vocabulary(shape_)) * value_bytes_ + id_bytes), 0.0);
  }

  void product_in(NumberFormat format, const Product& product) {
    const double bias = product.bias ? 1.0 : 0.0;
    const double weights =
        product.inputs * product.outputs * bits_of(format) / 8.0 + bias * product.outputs * value_bytes_;
    const double moved = rows_ * (product.inputs + (product.accumulate ? 2.0 : 1.0) * product.outputs) * value_bytes_;
    add({{product.name, OperatorKind::product, compute_format(format), product.count, weights + moved,
          rows_ * product.outputs * (2.0 * product.inputs + bias), product.inputs},
         weights,
         weights});
  }

  void norm(std::string_view name, double count, double width, bool add_delta) {
    const bool layer = shape_.norm == Norm::layer;
    const double weights = (layer ? 2.0 : 1.0) * width * value_bytes_;
    const double passes = add_delta ? 4.0 : 2.0;  // reads stream and delta, writes stream and result
    const double flop = (layer ? 8.0 : 4.0) + (add_delta ? 1.0 : 0.0);
    add({{name, OperatorKind::other, unquantized_, count, weights + passes * rows_ * width * value_bytes_,
          flop * rows_ * width},
         weights,
         weights});
  }

  void other(std::string_view name, double count, double bytes, double flop) {
    add({{name, OperatorKind::other, unquantized_, count, bytes, flop}, 0.0, 0.0});
  }

  void product(const Product& product) { product_in(deployment_.weights, product); }
  void add(const WeightedOperator& one) {
    if (one.step.count > 0.0) operators_.push_back(one);
  }

  const ModelShape& shape_;
  const Deployment& deployment_;
  StepPoint point_;
  double devices_, rows_, d_model_;
  double attention_layers_, feed_forward_layers_, cross_layers_;
  double heads_;  ///< on one device
  NumberFormat unquantized_;
  double value_bytes_, weight_bytes_, cache_bytes_;  ///< of one activation, one weight of a matrix, one cached value
  bool causal_ = true;
  std::vector<WeightedOperator> operators_;
};

void check_deployment(const ModelShape& shape, const Deployment& deployment) {
  check_shape(shape);
  check_at_least("tensor_parallel", deployment.tensor_parallel, 1);
  if (shape.heads % deployment.tensor_parallel != 0) {
    throw DomainError(fmt::format("invalid tensor_parallel={} (must divide the {} heads of {})",
                                  deployment.tensor_parallel, shape.heads, shape.name));
  }
  check_probability("expert_skew", deployment.expert_skew);
}

/// Throws DomainError for an encoder-decoder, whose weights and caches are not counted.
void check_counted(const ModelShape& shape, const Deployment& deployment) {
  check_deployment(shape, deployment);
  if (shape.architecture == Architecture::encoder_decoder) {
    throw DomainError(fmt::format(
        "invalid architecture=encoder_decoder (must be decoder or head: the memory of {} is not counted)", shape.name));
  }
}

std::vector<WeightedOperator> weighted_operators(const ModelShape& shape, const Deployment& deployment) {
  check_counted(shape, deployment);
  const StepPoint one_token;
  return StepWriter(shape, deployment, one_token).decoder_pass();
}

/// Each of them `times` times.
std::vector<StepOperator> without_weights(const std::vector<WeightedOperator>& weighted, std::int64_t times = 1) {
  std::vector<StepOperator> operators;
  operators.reserve(weighted.size());
  for (const WeightedOperator& one : weighted) {
    operators.push_back(one.step);
    operators.back().count *= real(times);
  }
  return operators;
}

void check_extents(const ForwardPassPoint& point, std::int64_t min_tokens) {
  check_range("batch", point.batch, 1, largest_extent);
  check_range("tokens", point.tokens, min_tokens, largest_extent);
  check_range("context", point.context, 0, largest_extent);
}

/// `positions`: those that the model has; 0: no limit.
void check_positions(const ModelShape& shape, const ForwardPassPoint& point, std::int64_t positions) {
  if (positions == 0 || point.context + point.tokens <= positions) return;
  throw DomainError(fmt::format("{}: context {} and {} new tokens exceed the {} positions of the model - ask for less",
                                shape.name, point.context, point.tokens, positions));
}

Deployment on_one_device(Deployment deployment) {
  deployment.tensor_parallel = 1;
  return deployment;
}

struct CacheOfToken {
  double full = 0.0, windowed = 0.0;
};

/// KV cache of one token on one of `devices`, in bytes: all layers without a window, all layers with one.
CacheOfToken cache_of_token(const ModelShape& shape, const Deployment& deployment, std::int64_t devices) {
  const double bytes = bits_of(deployment.kv_cache) / 8.0;
  const auto layers = static_cast<double>(attention_layers(shape) - shape.window.layers);
  if (shape.latent.kv_rank > 0) {
    return {.full = layers * static_cast<double>(shape.latent.kv_rank + shape.latent.rope_dim) * bytes};
  }
  const auto values = [devices](std::int64_t kv_heads, std::int64_t head_dim) {
    const std::int64_t heads = (kv_heads + devices - 1) / devices;
    return 2.0 * static_cast<double>(heads) * static_cast<double>(head_dim);
  };
  return {.full = layers * values(shape.kv_heads, shape.head_dim) * bytes,
          .windowed = static_cast<double>(shape.window.layers) *
                      values(window_kv_heads(shape), window_head_dim(shape)) * bytes};
}

double state_bytes_of(const ModelShape& shape) {
  return state_bytes * static_cast<double>(shape.linear.layers) * static_cast<double>(shape.linear.state_elements);
}

}  // namespace

ForwardPassOperations::ForwardPassOperations(ModelShape shape, Role role, const Deployment& deployment,
                                             std::int64_t source_length)
    : shape_(std::move(shape)), role_(role), deployment_(deployment) {
  check_deployment(shape_, deployment_);
  const bool encoder = shape_.architecture == Architecture::encoder_decoder;
  if (role_ == Role::encoder_pass && !encoder) throw DomainError("encoder_pass: " + shape_.name + " has no encoder");
  check_range("source_length", source_length, 0, encoder ? largest_extent : 0);
  if (source_length > 0) shape_.source_length = source_length;
}

std::int64_t ForwardPassOperations::passes(const ForwardPassPoint& point) const {
  return role_ == Role::autoregressive_drafting ? point.tokens : 1;
}

std::vector<StepOperator> ForwardPassOperations::operators(const ForwardPassPoint& point, std::int64_t pass) const {
  check(point);
  check_range("pass", pass, 0, passes(point) - 1);
  const auto writer = [this](const StepPoint& step) { return StepWriter(shape_, deployment_, step); };
  switch (role_) {
    case Role::decoder_pass:
      return without_weights(writer({point.batch, point.tokens, point.context}).decoder_pass());
    case Role::autoregressive_drafting:
      return without_weights(writer({point.batch, 1, point.context + pass, pass > 0}).drafting(false));
    case Role::block_drafting:
      return without_weights(writer({point.batch, point.tokens, point.context}).drafting(true));
    case Role::head_drafting:
      return without_weights(writer({point.batch, 1, 0}).head_drafting(), point.tokens);
    case Role::encoder_pass:
      return without_weights(writer({point.batch, shape_.source_length, 0}).encoder_pass());
  }
  return {};
}

std::vector<StepOperator> equal_together(std::vector<StepOperator> operators) {
  auto end = operators.begin();
  for (const StepOperator& one : operators) {
    const auto same = std::find_if(operators.begin(), end, [&one](const StepOperator& other) {
      return other.kind == one.kind && other.compute == one.compute && other.bytes == one.bytes &&
             other.flop == one.flop && other.inputs == one.inputs;
    });
    if (same == end) {
      *end++ = one;
    } else {
      same->count += one.count;
    }
  }
  operators.erase(end, operators.end());
  return operators;
}

double ForwardPassOperations::rows(const ForwardPassPoint& point) const {
  const bool all_at_once = role_ != Role::autoregressive_drafting && role_ != Role::head_drafting;
  return real(point.batch) * (all_at_once ? real(point.tokens) : 1.0);
}

Interval ForwardPassOperations::product_bytes() const {
  Interval range{std::numeric_limits<double>::max(), 0.0};
  for (const StepOperator& one : operators({.batch = 1, .tokens = 1, .context = 0})) {
    if (one.kind != OperatorKind::product) continue;
    range = {std::min(range.low, one.bytes), std::max(range.high, one.bytes)};
  }
  return range;
}

void ForwardPassOperations::check(const ForwardPassPoint& point) const {
  check_extents(point, role_ == Role::encoder_pass ? 0 : 1);
  if (role_ != Role::head_drafting && role_ != Role::encoder_pass) {
    check_positions(shape_, point, shape_.learned_positions);
  }
  check_positions(shape_, point, shape_.max_context);
}

double experts_read(const Experts& experts, double rows, double skew) {
  check_probability("skew", skew);
  if (!(rows >= 1.0)) throw DomainError(fmt::format("invalid rows={} (must be >= 1)", rows));
  const auto count = static_cast<double>(experts.count);
  const auto used = static_cast<double>(experts.per_token);
  // The same as count (1 - (1 - used / count)^rows), exact for one row.
  const double further = (count - used) * (1.0 - std::pow((count - used) / count, rows - 1.0));
  return used + (1.0 - skew) * further;
}

double weight_bytes_per_device(const ModelShape& shape, const Deployment& deployment) {
  double bytes = static_cast<double>(shape.further_parameters) * bits_of(unquantized_format(deployment.weights)) / 8.0 /
                 static_cast<double>(deployment.tensor_parallel);
  for (const WeightedOperator& one : weighted_operators(shape, deployment)) {
    bytes += one.step.count * one.weights_stored;
  }
  return bytes;
}

double weight_bytes(const ModelShape& shape, const Deployment& deployment) {
  return weight_bytes_per_device(shape, on_one_device(deployment));
}

double step_bytes(const ModelShape& shape, const Deployment& deployment) {
  double bytes = 0.0;
  for (const WeightedOperator& one : weighted_operators(shape, on_one_device(deployment))) {
    bytes += one.step.count * one.weights_read;
  }
  return bytes;
}

double kv_bytes_per_token(const ModelShape& shape, const Deployment& deployment) {
  return cache_of_token(shape, deployment, 1).full;
}

double sequence_bytes_per_device(const ModelShape& shape, const Deployment& deployment, std::int64_t context) {
  check_counted(shape, deployment);
  check_range("context", context, 0, largest_extent);
  const CacheOfToken one = cache_of_token(shape, deployment, deployment.tensor_parallel);
  return static_cast<double>(context) * one.full +
         static_cast<double>(std::min(context, shape.window.tokens)) * one.windowed +
         state_bytes_of(shape) / static_cast<double>(deployment.tensor_parallel);
}

double rollback_bytes(const ModelShape& shape, std::int64_t tokens) {
  check_at_least("tokens", tokens, 1);
  return static_cast<double>(tokens - 1) * state_bytes_of(shape);
}

}  // namespace foredraft::latency
