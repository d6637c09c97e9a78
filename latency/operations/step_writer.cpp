// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/step_writer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/operations/attention_writer.hpp"
#include "latency/operations/operator_writer.hpp"

namespace foredraft::latency {
namespace {

constexpr double id_bytes = 4.0;  ///< per token id

/// Number of tokens with logits.
std::int64_t drafted_vocabulary(const ModelShape& shape) {
  return shape.head.draft_vocabulary > 0 ? shape.head.draft_vocabulary : shape.vocabulary;
}

/// Writes the operators of a forward pass, in the order of first use in the programs of forward_passes.hpp. Does not
/// check arguments.
class StepWriter : AttentionWriter {
 public:
  StepWriter(const ModelShape& shape, const Deployment& deployment, const StepPoint& point)
      : AttentionWriter(shape, deployment, point),
        deployment_(deployment),
        feed_forward_layers_(as_double(feed_forward_layers(shape))) {}

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
  void write_decoder() {
    write_inputs();
    write_layers();
    write_logits();
  }

  void write_encoder() {
    attention_layers_ = feed_forward_layers_ = as_double(shape_.encoder_layers);
    cross_layers_ = 0.0;
    causal_ = false;
    cache_bytes_ = value_bytes_;
    write_inputs();
    operators_.back().shared = true;
    write_layers();
    product({ModelPart::attention, "cross keys and values", 2.0 * as_double(shape_.layers), d_model_,
             kv_heads(shape_.kv_heads) * as_double(shape_.head_dim), shape_.attention_bias});
  }

  void write_inputs() {
    part_ = StepPart::inputs;
    const bool head = shape_.architecture == Architecture::head;
    const bool learned = shape_.positions == Positions::learned;
    const bool added = learned || shape_.positions == Positions::sinusoidal;
    const double positions = added ? as_double(point_.tokens) * d_model_ * value_bytes_ : 0.0;
    const WeightFormat& table_format =
        deployment_.weights.of(shape_.tied && !head ? ModelPart::vocabulary : ModelPart::embedding);
    Weights tables = weights_of(table_format, head ? 0.0 : as_double(shape_.vocabulary) * d_model_ / devices_);
    tables += plain_weights(as_double(shape_.learned_positions) * d_model_);
    add({{"embedding", OperatorKind::other, unquantized_, 1.0,
          rows_ * (id_bytes + d_model_ * (table_format.bits / 8.0 + value_bytes_)) + positions,
          added ? rows_ * d_model_ : 0.0},
         {},
         tables});
    if (head && shape_.head.stages == 0) write_hidden_states();
  }

  [[nodiscard]] bool fills_block() const { return shape_.head.block_size > 0 && !shape_.head.wide_attention; }

  /// A stage adds the embedding to the state of the previous stage, or of the target for the first stage.
  void write_stage() {
    const double width = as_double(shape_.head.hidden_width > 0 ? shape_.head.hidden_width : shape_.d_model);
    product({ModelPart::inputs, "state", as_double(shape_.layers), point_.own_hidden_states ? d_model_ : width,
             d_model_, shape_.bias});
    other("activation of state", as_double(shape_.layers), 3.0 * rows_ * d_model_ * value_bytes_, rows_ * d_model_);
    if (shape_.norm == Norm::layer) norm("norm", 1.0, d_model_, false);
  }

  void write_hidden_states() {
    const double width = as_double(shape_.head.hidden_width > 0 ? shape_.head.hidden_width : shape_.d_model);
    const double hidden = as_double(shape_.head.hidden_states) * width;
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

  [[nodiscard]] double blocks() const {
    return attention_layers_ + as_double(shape_.linear.layers) + cross_layers_ + feed_forward_layers_;
  }

  void write_layers() {
    part_ = StepPart::layers;
    if (shape_.head.stages > 0) return write_stage();
    // The residual sum is part of the following norm; the first norm has none.
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
    // The hidden states, which attention also reads, have a separate norm.
    if (shape_.head.wide_attention) norm("norm of hidden states", 1.0, d_model_, false);
    write_cross_attention();
    write_feed_forward();
    if (devices_ > 1.0) {
      unweighted(OperatorKind::all_reduce, "all-reduce", blocks(), rows_ * d_model_ * value_bytes_, 0.0);
    }
    if (deployment_.pipeline_parallel > 1) {
      unweighted(OperatorKind::transfer, "send to the next devices", as_double(deployment_.pipeline_parallel - 1),
                 rows_ * d_model_ * value_bytes_, 0.0);
    }
    norm("final norm", 1.0, d_model_, true);
  }

  /// Before each block, the streams are mixed to its input with weights computed from all streams; after it, its output
  /// is added to each stream.
  void write_residual_streams() {
    if (shape_.residual_streams == 1) return;
    const double streams = as_double(shape_.residual_streams), width = streams * d_model_;
    const Weights mixing = weights_of(weight_format(NumberFormat::fp32), width * (2.0 + streams) * streams);
    add({{"mix residual streams", OperatorKind::product, unquantized_, blocks(),
          mixing.bytes + 4.0 * rows_ * width * value_bytes_, 2.0 * rows_ * mixing.parameters, width},
         mixing,
         mixing});
  }

  void write_feed_forward() {
    const double dense = shape_.experts.count > 0
                             ? std::min(as_double(shape_.experts.dense_layers), feed_forward_layers_)
                             : feed_forward_layers_;
    write_dense_block(ModelPart::feed_forward, shape_.gated ? "gate and up" : "up", "activation", "down", dense,
                      as_double(shape_.d_ff) / devices_);
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
    const double count = as_double(experts.count), used = as_double(experts.per_token);
    const double read = experts_read(experts, rows_, deployment_.expert_skew.value_or(0.0));
    const double d_ff = as_double(experts.d_ff) / devices_;
    const double inner = (shape_.gated ? 2.0 : 1.0) * d_ff;
    const double width = experts.latent_dim > 0 ? as_double(experts.latent_dim) : d_model_;
    product_in(weight_format(unquantized_), {ModelPart::experts, "router", layers, d_model_, count, shape_.bias});
    other("choose experts", layers, rows_ * (count * value_bytes_ + used * (value_bytes_ + id_bytes)), 0.0);
    if (experts.latent_dim > 0) {
      product({ModelPart::feed_forward, "into the space of experts", layers, d_model_, width});
    }

    // Each token uses `used` experts, so its row counts `used` times in the products.
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
                        as_double(experts.shared_d_ff) / devices_);
    }
  }

  void write_logits() {
    part_ = StepPart::vocabulary;
    over(point_.prompt ? 1 : point_.drafts, [this] { write_projection_of_logits(); });
  }

  void write_projection_of_logits() {
    const bool head = shape_.architecture == Architecture::head;
    const double vocabulary = as_double(drafted_vocabulary(shape_));
    // Shared with the embedding if tied, or with the target for a head without its own projection.
    const bool shared = head ? !shape_.head.own_vocabulary : shape_.tied;
    product({ModelPart::vocabulary, "vocabulary", 1.0, d_model_, vocabulary / devices_});
    operators_.back().shared = shared;
    if (devices_ > 1.0) {
      unweighted(OperatorKind::all_gather, "gather logits", 1.0, rows_ * vocabulary * value_bytes_, 0.0);
    }
  }

  /// Writes the choice of tokens: for all rows at once, or draft by draft for a block with corrected logits.
  void write_choice() {
    const std::int64_t drafts = std::max<std::int64_t>(point_.drafts, 1);
    const bool one_by_one = shape_.head.correction_parameters > 0;
    const double logits = as_double(drafted_vocabulary(shape_)) * value_bytes_;
    over(one_by_one ? 1 : point_.drafts, [&] {
      if (one_by_one) write_correction(as_double(drafts));
      other("choose token", one_by_one ? as_double(drafts) : 1.0, rows_ * (logits + id_bytes), 0.0);
    });
  }

  void write_correction(double drafts) {
    const Weights weights = weights_of(ModelPart::inputs, as_double(shape_.head.correction_parameters));
    add({{"correction of logits", OperatorKind::product, compute_of(ModelPart::inputs), drafts,
          weights.bytes + 2.0 * rows_ * as_double(drafted_vocabulary(shape_)) * value_bytes_,
          2.0 * rows_ * weights.parameters, d_model_},
         weights,
         weights});
  }

  const Deployment& deployment_;
  double feed_forward_layers_;
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
  return as_double(index_dim) + 4.0 * as_double(index_dim / scaled_together);
}

std::vector<WeightedOperator> write_pass(WrittenPass pass, const ModelShape& shape, const Deployment& deployment,
                                         const StepPoint& point) {
  return StepWriter(shape, deployment, point).write(pass);
}

}  // namespace foredraft::latency
