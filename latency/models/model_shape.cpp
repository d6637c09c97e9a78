// SPDX-License-Identifier: Apache-2.0
#include "latency/models/model_shape.hpp"

#include <fmt/format.h>

#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

/// Far beyond any model, and small enough for the product of two dimensions to be a whole number of 64 bits.
constexpr std::int64_t largest_dimension = 10'000'000;

class ShapeCheck {
 public:
  void dimension(const char* key, std::int64_t value, std::int64_t minimum) {
    require(value >= minimum && value <= largest_dimension, key, fmt::format("is {}", value),
            fmt::format("must be {} to {}", minimum, largest_dimension));
  }

  void require(bool fine, const char* key, std::string text, std::string why) {
    if (!fine) problems_.push_back({key, std::move(text), std::move(why)});
  }

  [[nodiscard]] std::vector<ShapeProblem> problems() && { return std::move(problems_); }

 private:
  std::vector<ShapeProblem> problems_;
};

void check_dimensions(const ModelShape& shape, ShapeCheck& check) {
  check.dimension("layers", shape.layers, 1);
  check.dimension("d_model", shape.d_model, 1);
  check.dimension("heads", shape.heads, 1);
  check.dimension("kv_heads", shape.kv_heads, 1);
  check.dimension("head_dim", shape.head_dim, 1);
  check.dimension("d_ff", shape.d_ff, 1);
  check.dimension("vocabulary", shape.vocabulary, 2);
  check.dimension("encoder_layers", shape.encoder_layers, 0);
  check.dimension("source_length", shape.source_length, 0);
  check.dimension("learned_positions", shape.learned_positions, 0);
  check.require(shape.further_parameters >= 0, "further_parameters", fmt::format("is {}", shape.further_parameters),
                "must be 0 or more");
}

void check_heads(const ModelShape& shape, ShapeCheck& check) {
  if (shape.heads >= 1 && shape.kv_heads >= 1) {
    check.require(shape.heads % shape.kv_heads == 0, "kv_heads", fmt::format("is {}", shape.kv_heads),
                  fmt::format("must divide heads, {}", shape.heads));
  }
  if (shape.positions == Positions::rotary) {
    check.require(shape.head_dim % 2 == 0, "head_dim", fmt::format("is {}", shape.head_dim),
                  "rotary positions turn pairs, it must be even");
  }
  const bool learned = shape.positions == Positions::learned;
  check.require(learned == (shape.learned_positions > 0), "learned_positions",
                fmt::format("is {}", shape.learned_positions),
                learned ? "learned positions need the rows of their table" : "only with positions = \"learned\"");
}

void check_architecture(const ModelShape& shape, ShapeCheck& check) {
  if (shape.architecture == Architecture::encoder_decoder) {
    check.require(shape.encoder_layers > 0, "encoder_layers", "is 0", "an encoder_decoder has an encoder");
    check.require(shape.source_length > 0, "source_length", "is 0", "an encoder_decoder has a source");
  } else {
    check.require(shape.encoder_layers == 0, "encoder_layers", fmt::format("is {}", shape.encoder_layers),
                  "only with architecture = \"encoder_decoder\"");
    check.require(shape.source_length == 0, "source_length", fmt::format("is {}", shape.source_length),
                  "only with architecture = \"encoder_decoder\"");
  }
}

void check_published(const ModelShape& shape, ShapeCheck& check) {
  if (shape.published_parameters) {
    check.require(*shape.published_parameters > 0.0, "published_parameters",
                  fmt::format("is {}", *shape.published_parameters), "must be above 0");
  }
  check.require(shape.published_rounding >= 0.0, "published_rounding", fmt::format("is {}", shape.published_rounding),
                "must be 0 or more");
}

}  // namespace

std::int64_t attention_layers(const ModelShape& shape) {
  return shape.attention_layers.value_or(shape.layers - shape.linear.layers);
}

std::int64_t feed_forward_layers(const ModelShape& shape) { return shape.feed_forward_layers.value_or(shape.layers); }

std::int64_t window_kv_heads(const ModelShape& shape) {
  return shape.window.kv_heads > 0 ? shape.window.kv_heads : shape.kv_heads;
}

std::int64_t window_head_dim(const ModelShape& shape) {
  return shape.window.head_dim > 0 ? shape.window.head_dim : shape.head_dim;
}

std::optional<std::string> why_not_runnable(const ModelShape& shape) {
  if (shape.experts.count > 0) return "mixtures of experts are not run";
  if (shape.latent.kv_rank > 0) return "latent attention is not run";
  if (shape.linear.layers > 0) return "linear attention is not run";
  if (shape.query_key_norm) return "norms of queries and keys are not run";
  if (shape.attention_gate) return "gates of attention are not run";
  if (shape.norms_per_layer != 2) return "other than two norms a layer are not run";
  if (shape.values_are_keys || shape.window.kv_heads > 0 || shape.window.head_dim > 0) {
    return "layers whose attention differs in shape are not run";
  }
  if (shape.head != HeadInputs{}) return "heads of several hidden states or a vocabulary of their own are not run";
  if (attention_layers(shape) != shape.layers || feed_forward_layers(shape) != shape.layers) {
    return "layers without attention or without a feed-forward block are not run";
  }
  return std::nullopt;
}

std::string_view to_string(Architecture architecture) {
  switch (architecture) {
    case Architecture::decoder:
      return "decoder";
    case Architecture::encoder_decoder:
      return "encoder_decoder";
    case Architecture::head:
      break;
  }
  return "head";
}

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::silu:
      return "silu";
    case Activation::gelu:
      return "gelu";
    case Activation::relu:
      break;
  }
  return "relu";
}

std::vector<ShapeProblem> shape_problems(const ModelShape& shape) {
  ShapeCheck check;
  check.require(!shape.name.empty(), "name", "is empty", "models are found by it");
  check_dimensions(shape, check);
  check_heads(shape, check);
  check_architecture(shape, check);
  check_published(shape, check);
  return std::move(check).problems();
}

void check_shape(const ModelShape& shape) {
  std::string message;
  for (const ShapeProblem& problem : shape_problems(shape)) {
    message += fmt::format("{}{}: {} {} ({})", message.empty() ? "" : "\n", shape.name, problem.key, problem.text,
                           problem.why);
  }
  if (!message.empty()) throw DomainError(message);
}

}  // namespace foredraft::latency
