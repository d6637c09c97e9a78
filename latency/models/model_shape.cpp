// SPDX-License-Identifier: Apache-2.0
#include "latency/models/model_shape.hpp"

#include <fmt/format.h>
#include <string>

#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

/// Larger than in any model, and small enough that the product of two dimensions fits into 64 bits.
constexpr std::int64_t largest_dimension = 10'000'000;

class ShapeCheck {
 public:
  void dimension(const char* key, std::int64_t value, std::int64_t minimum) {
    require(value >= minimum && value <= largest_dimension, key, fmt::format("is {}", value),
            fmt::format("must be {} to {}", minimum, largest_dimension));
  }

  /// Checks a number of parameters, elements or positions; the maximum is far below 2^63.
  void count(const char* key, std::int64_t value, std::int64_t minimum) {
    constexpr std::int64_t largest_count = 1'000'000'000'000'000;
    require(value >= minimum && value <= largest_count, key, fmt::format("is {}", value),
            minimum == 0 ? "must be 0 or more, and below 1e15" : "must be positive, and below 1e15");
  }

  void within(const char* key, std::int64_t value, std::int64_t minimum, std::int64_t maximum, const char* bound) {
    require(value >= minimum && value <= maximum, key, fmt::format("is {}", value),
            fmt::format("must be {} to {} ({})", minimum, maximum, bound));
  }

  void require(bool fine, const char* key, std::string text, std::string why) {
    if (!fine) problems_.push_back({key, std::move(text), std::move(why)});
  }

  [[nodiscard]] std::vector<ShapeProblem> problems() && { return std::move(problems_); }

 private:
  std::vector<ShapeProblem> problems_;
};

void check_dimensions(const ModelShape& shape, ShapeCheck& check) {
  const bool mixtures_alone = shape.experts.count > 0 && shape.experts.dense_layers == 0;
  check.dimension("layers", shape.layers, 1);
  check.dimension("d_model", shape.d_model, 1);
  check.dimension("heads", shape.heads, 1);
  check.dimension("kv_heads", shape.kv_heads, 1);
  check.dimension("head_dim", shape.head_dim, 1);
  check.dimension("d_ff", shape.d_ff, mixtures_alone || feed_forward_layers(shape) == 0 ? 0 : 1);
  check.dimension("vocabulary", shape.vocabulary, 2);
  check.dimension("encoder_layers", shape.encoder_layers, 0);
  check.dimension("source_length", shape.source_length, 0);
  check.dimension("learned_positions", shape.learned_positions, 0);
  check.count("max_context", shape.max_context, 0);
  check.count("further_parameters", shape.further_parameters, 0);
  check.dimension("drafting.layers", shape.drafting.layers, 0);
}

/// Checks that an absent part has no members other than 0.
void check_absent(ShapeCheck& check, bool absent, const char* key, const std::string& why) {
  check.require(absent, key, "has numbers other than 0", why);
}

void check_experts(const ModelShape& shape, ShapeCheck& check) {
  const Experts& experts = shape.experts;
  if (experts.count == 0) return check_absent(check, experts == Experts{}, "experts", "a mixture needs a count");
  check.dimension("experts.count", experts.count, 1);
  check.dimension("experts.d_ff", experts.d_ff, 1);
  check.dimension("experts.shared_d_ff", experts.shared_d_ff, 0);
  check.dimension("experts.latent_dim", experts.latent_dim, 0);
  check.within("experts.per_token", experts.per_token, 1, experts.count, "experts.count");
  check.within("experts.dense_layers", experts.dense_layers, 0, feed_forward_layers(shape),
               "the layers with a feed-forward block");
}

void check_latent(const ModelShape& shape, ShapeCheck& check) {
  const LatentAttention& latent = shape.latent;
  if (latent.kv_rank == 0) {
    return check_absent(check, latent == LatentAttention{}, "latent", "latent attention needs a kv_rank");
  }
  check.dimension("latent.kv_rank", latent.kv_rank, 1);
  check.dimension("latent.query_rank", latent.query_rank, 0);
  check.dimension("latent.rope_dim", latent.rope_dim, 0);
  check.dimension("latent.nope_dim", latent.nope_dim, 1);
  check.dimension("latent.value_dim", latent.value_dim, 1);
  check.require(latent.rope_dim % 2 == 0, "latent.rope_dim", fmt::format("is {}", latent.rope_dim),
                "rotary positions turn pairs, it must be even");
  check.require(shape.head_dim == latent.nope_dim + latent.rope_dim, "head_dim", fmt::format("is {}", shape.head_dim),
                fmt::format("must be latent.nope_dim + latent.rope_dim, {}", latent.nope_dim + latent.rope_dim));
  check.require(shape.kv_heads == shape.heads, "kv_heads", fmt::format("is {}", shape.kv_heads),
                fmt::format("latent attention has keys and values for every head, {}", shape.heads));
}

/// Checks the numbers of layers of each kind.
void check_layers(const ModelShape& shape, ShapeCheck& check) {
  check.count("linear.layer_parameters", shape.linear.layer_parameters, 0);
  check.count("linear.state_elements", shape.linear.state_elements, 0);
  check.within("linear.layers", shape.linear.layers, 0, shape.layers, "layers");
  check.require((shape.linear.layers > 0) == (shape.linear.layer_parameters > 0), "linear.layer_parameters",
                fmt::format("is {}", shape.linear.layer_parameters), "only for linear.layers");
  check.require((shape.linear.layers > 0) == (shape.linear.state_elements > 0), "linear.state_elements",
                fmt::format("is {}", shape.linear.state_elements), "only for linear.layers");
  if (shape.attention_layers) {
    check.within("attention_layers", *shape.attention_layers, 0, shape.layers - shape.linear.layers,
                 "layers without linear.layers");
  }
  if (shape.feed_forward_layers) {
    check.within("feed_forward_layers", *shape.feed_forward_layers, 0, shape.layers, "layers");
  }
  check.dimension("window.tokens", shape.window.tokens, 0);
  check.within("window.layers", shape.window.layers, 0, attention_layers(shape), "the layers with attention");
  check.require((shape.window.layers > 0) == (shape.window.tokens > 0), "window.tokens",
                fmt::format("is {}", shape.window.tokens), "a window has tokens and layers");
  check.dimension("window.heads", shape.window.heads, 0);
  const std::int64_t heads = window_heads(shape).heads;
  check.within("window.kv_heads", shape.window.kv_heads, 0, heads, "heads");
  check.require(shape.window.kv_heads < 1 || heads % shape.window.kv_heads == 0, "window.kv_heads",
                fmt::format("is {}", shape.window.kv_heads), fmt::format("must divide heads, {}", heads));
  check.dimension("window.head_dim", shape.window.head_dim, 0);
  check.dimension("window.value_dim", shape.window.value_dim, 0);
  const bool known = shape.norms_per_layer == 1 || shape.norms_per_layer == 2 || shape.norms_per_layer == 4;
  check.require(known, "norms_per_layer", fmt::format("is {}", shape.norms_per_layer), "must be 1, 2 or 4");
}

void check_sparse(const ModelShape& shape, ShapeCheck& check) {
  std::int64_t left = attention_layers(shape) - shape.window.layers;
  for (const SparseAttention& sparse : shape.sparse) {
    check.within("sparse.layers", sparse.layers, 1, left, "the layers with attention that are left");
    check.dimension("sparse.selected_entries", sparse.selected_entries, 0);
    check.dimension("sparse.tokens_per_entry", sparse.tokens_per_entry, 1);
    check.dimension("sparse.local_tokens", sparse.local_tokens, 0);
    check.dimension("sparse.index_heads", sparse.index_heads, 0);
    check.dimension("sparse.index_dim", sparse.index_dim, 0);
    check.count("sparse.layer_parameters", sparse.layer_parameters, 0);
    left -= sparse.layers;
  }
}

void check_projections(const ModelShape& shape, ShapeCheck& check) {
  check.dimension("value_dim", shape.value_dim, 0);
  check.dimension("query_rank", shape.query_rank, 0);
  check.dimension("output_rank", shape.output_rank, 0);
  check.require(shape.query_key_norm || !shape.wide_query_key_norm, "wide_query_key_norm", "is true",
                "only with query_key_norm = true");
  constexpr std::int64_t max_streams = 64;
  check.within("residual_streams", shape.residual_streams, 1, max_streams, "what a block mixes");
  check.within("output_groups", shape.output_groups, 0, shape.heads, "heads");
  check.require(shape.output_groups < 1 || shape.heads % shape.output_groups == 0, "output_groups",
                fmt::format("is {}", shape.output_groups), fmt::format("must divide heads, {}", shape.heads));
  check.require((shape.output_groups > 0) == (shape.output_rank > 0), "output_rank",
                fmt::format("is {}", shape.output_rank), "groups of the output have a rank");
  const bool latent = shape.latent.kv_rank > 0;
  check.require(!latent || (shape.query_rank == 0 && shape.output_groups == 0 && shape.value_dim == 0), "latent",
                "has its own ranks and value_dim", "query_rank, output_groups and value_dim are for other attention");
}

void check_head(const ModelShape& shape, ShapeCheck& check) {
  if (shape.architecture != Architecture::head) {
    return check.require(shape.head == HeadInputs{}, "head", "describes inputs", "only with architecture = \"head\"");
  }
  constexpr std::int64_t max_states = 64;  // EAGLE-3 reads 3
  check.within("head.hidden_states", shape.head.hidden_states, 1, max_states, "what a head reads");
  check.dimension("head.hidden_width", shape.head.hidden_width, 0);
  check.dimension("head.block_size", shape.head.block_size, 0);
  check.require(shape.head.block_size != 1 || shape.head.anchor_drafts, "head.block_size", "is 1",
                "the known token alone drafts nothing, unless anchor_drafts says so");
  check.count("head.correction_parameters", shape.head.correction_parameters, 0);
  check.dimension("head.stages", shape.head.stages, 0);
  check.require(shape.head.stages == 0 || (attention_layers(shape) == 0 && feed_forward_layers(shape) == 0),
                "head.stages", fmt::format("is {}", shape.head.stages),
                "stages stand in place of layers: attention_layers and feed_forward_layers must be 0");
  check.within("head.draft_vocabulary", shape.head.draft_vocabulary, 0, shape.vocabulary, "vocabulary");
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
    const bool plain = shape.experts.count == 0 && shape.latent.kv_rank == 0 && shape.window.layers == 0 &&
                       shape.linear.layers == 0 && shape.norms_per_layer == 2 && !shape.query_key_norm &&
                       shape.sparse.empty() && shape.query_rank == 0 && shape.output_groups == 0 &&
                       shape.value_dim == 0 && shape.residual_streams == 1;
    check.require(
        plain, "architecture", "is \"encoder_decoder\"",
        "experts, latent, window, sparse, linear, ranks, norms_per_layer and query_key_norm are supported only for "
        "decoders");
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

AttentionHeads attention_heads(const ModelShape& shape) {
  return {.heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .key_dim = shape.head_dim,
          .value_dim = shape.value_dim > 0 ? shape.value_dim : shape.head_dim};
}

AttentionHeads window_heads(const ModelShape& shape) {
  const SlidingWindow& window = shape.window;
  const auto stated = [](std::int64_t own, std::int64_t other) { return own > 0 ? own : other; };
  const std::int64_t key_dim = stated(window.head_dim, shape.head_dim);
  return {.heads = stated(window.heads, shape.heads),
          .kv_heads = stated(window.kv_heads, shape.kv_heads),
          .key_dim = key_dim,
          .value_dim = stated(window.value_dim, stated(shape.value_dim, key_dim))};
}

std::int64_t max_drafts(const ModelShape& shape) {
  if (shape.head.block_size == 0) return shape.head.stages;
  return shape.head.anchor_drafts ? shape.head.block_size : shape.head.block_size - 1;
}

std::optional<std::string> why_not_runnable(const ModelShape& shape) {
  if (shape.experts.count > 0) return "mixtures of experts are not run";
  if (shape.latent.kv_rank > 0) return "latent attention is not run";
  if (shape.linear.layers > 0) return "linear attention is not run";
  if (shape.wide_query_key_norm) return "norms of queries and keys over all heads together are not run";
  if (shape.attention_gate) return "gates of attention are not run";
  if (shape.norms_per_layer != 2) return "other than two norms per layer are not run";
  const SlidingWindow plain_window{.tokens = shape.window.tokens, .layers = shape.window.layers};
  if (shape.values_are_keys || shape.window != plain_window) {
    return "layers whose attention differs in shape are not run";
  }
  if (!shape.sparse.empty()) return "attention to chosen or compressed entries is not run";
  if (shape.value_dim > 0 || shape.query_rank > 0 || shape.output_groups > 0) {
    return "projections of attention through other widths are not run";
  }
  if (shape.residual_streams > 1) return "hyper-connections are not run";
  if (shape.head != HeadInputs{}) return "heads with several hidden states or their own vocabulary are not run";
  if (attention_layers(shape) != shape.layers || feed_forward_layers(shape) != shape.layers) {
    return "layers without attention or without a feed-forward block are not run";
  }
  return std::nullopt;
}

std::vector<ShapeProblem> shape_problems(const ModelShape& shape) {
  ShapeCheck check;
  check.require(!shape.name.empty(), "name", "is empty", "models are found by it");
  check_dimensions(shape, check);
  check_heads(shape, check);
  check_architecture(shape, check);
  check_experts(shape, check);
  check_latent(shape, check);
  check_layers(shape, check);
  check_sparse(shape, check);
  check_projections(shape, check);
  check_head(shape, check);
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
