// SPDX-License-Identifier: Apache-2.0
#include "latency/models/family_blocks.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/problems.hpp"
#include "latency/words.hpp"

namespace foredraft::latency {
namespace {

constexpr std::array activation_words{
    Word{"silu", Activation::silu},       Word{"swish", Activation::silu},
    Word{"swiglu", Activation::silu},     Word{"gelu", Activation::gelu},
    Word{"gelu_new", Activation::gelu},   Word{"gelu_pytorch_tanh", Activation::gelu},
    Word{"gelu_fast", Activation::gelu},  Word{"gelu_tanh", Activation::gelu},
    Word{"quick_gelu", Activation::gelu}, Word{"relu", Activation::relu},
    Word{"relu2", Activation::relu},      Word{"swigluoai", Activation::silu},
    Word{"situ", Activation::silu},
};

/// A list with one entry per layer, without entries of drafting layers.
template <typename Entry>
void fit_to_layers(const ConfigObject& config, std::string_view key, std::int64_t layers, std::vector<Entry>& list) {
  if (static_cast<std::int64_t>(list.size()) < layers) {
    config.reject(key, fmt::format("names {} layers", list.size()), fmt::format("num_hidden_layers is {}", layers));
  } else {
    list.resize(static_cast<std::size_t>(std::max<std::int64_t>(layers, 0)));
  }
}

}  // namespace

double product_of(std::int64_t a, std::int64_t b) { return as_double(a) * as_double(b); }

std::int64_t whole_of(double value) {
  constexpr double beyond = 4e18;
  return static_cast<std::int64_t>(std::min(value, beyond));
}

void add_further(ModelShape& shape, double parameters) {
  shape.further_parameters = whole_of(as_double(shape.further_parameters) + parameters);
}

std::string_view first_key(const ConfigObject& config, std::initializer_list<std::string_view> keys) {
  const auto* found = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) { return config.has(key); });
  return found == keys.end() ? *(keys.end() - 1) : *found;
}

void read_activation(FamilyReading& reading, std::string_view fallback) {
  const ConfigObject& config = reading.config;
  std::string_view key = "hidden_act";
  for (const std::string_view other : {"hidden_activation", "mlp_hidden_act"}) {
    if (config.has(other)) key = other;
  }
  const std::string word = config.text(key).value_or(std::string(fallback));
  if (const auto activation = meaning_of(word, activation_words)) {
    reading.shape.activation = *activation;
  } else {
    config.reject(key, fmt::format("unknown activation \"{}\"", word), "",
                  suggestion_for(word, words_in(activation_words)));
  }
}

void read_decoder(FamilyReading& reading, const DecoderKeys& keys) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  constexpr std::int64_t longest_context = 1'000'000'000;
  shape.gated = true;
  shape.layers =
      keys.layers > 0 ? config.whole_or("num_hidden_layers", keys.layers) : config.required("num_hidden_layers");
  shape.d_model = config.required("hidden_size");
  shape.heads =
      keys.heads > 0 ? config.whole_or("num_attention_heads", keys.heads) : config.required("num_attention_heads");
  shape.kv_heads = config.whole_or("num_key_value_heads", keys.kv_heads > 0 ? keys.kv_heads : shape.heads);
  const std::int64_t even_share = shape.heads > 0 ? shape.d_model / shape.heads : 0;
  shape.head_dim = config.whole_or("head_dim", keys.head_dim > 0 ? keys.head_dim : even_share);
  shape.d_ff = keys.dense ? config.required(keys.d_ff) : 0;
  shape.vocabulary =
      keys.vocabulary > 0 ? config.whole_or("vocab_size", keys.vocabulary) : config.required("vocab_size");
  shape.tied = config.flag("tie_word_embeddings", keys.tied);
  shape.max_context = config.whole("max_position_embeddings", longest_context).value_or(keys.context);
  read_activation(reading, "silu");
  if (config.flag("is_encoder_decoder", false)) {
    config.reject("is_encoder_decoder", "is true", "only decoders are supported",
                  "write a model file (docs/models.md)");
  }
}

std::optional<std::vector<std::int64_t>> layer_numbers(const FamilyReading& reading, const ConfigObject& config,
                                                       std::string_view key) {
  if (!config.is_list(key)) return std::nullopt;
  auto numbers = config.wholes(key);
  if (numbers) fit_to_layers(config, key, reading.shape.layers, *numbers);
  return numbers;
}

std::optional<std::int64_t> marked_layers(const FamilyReading& reading, std::string_view key) {
  const auto numbers = layer_numbers(reading, reading.config, key);
  if (!numbers) return std::nullopt;
  return static_cast<std::int64_t>(numbers->size()) - std::count(numbers->begin(), numbers->end(), 0);
}

std::optional<std::int64_t> layers_of_kind(const FamilyReading& reading, std::string_view kind) {
  std::vector<std::string> known{"full_attention", "linear_attention", "sliding_attention"};
  if (std::find(known.begin(), known.end(), kind) == known.end()) known.emplace_back(kind);
  auto types = reading.config.texts("layer_types");
  if (!types) return std::nullopt;
  fit_to_layers(reading.config, "layer_types", reading.shape.layers, *types);
  for (const std::string& type : *types) {
    if (std::find(known.begin(), known.end(), type) != known.end()) continue;
    reading.config.reject("layer_types", fmt::format("\"{}\" is not known", type), "", suggestion_for(type, known));
    break;
  }
  return std::count(types->begin(), types->end(), kind);
}

void set_window(ModelShape& shape, std::int64_t tokens, std::int64_t layers) {
  if (tokens == 0 || layers == 0 || (shape.max_context > 0 && tokens >= shape.max_context)) return;
  shape.window.tokens = tokens;
  shape.window.layers = layers;
}

void read_window(FamilyReading& reading, std::int64_t layers, std::int64_t default_tokens) {
  const std::int64_t tokens = reading.config.whole_or("sliding_window", default_tokens);
  set_window(reading.shape, tokens, layers_of_kind(reading, "sliding_attention").value_or(layers));
}

void read_wide_query_key_norm(ModelShape& shape) {
  shape.query_key_norm = true;
  shape.wide_query_key_norm = true;
  const std::int64_t further = std::max<std::int64_t>(shape.heads + shape.kv_heads - 2, 0);
  add_further(shape, as_double(shape.layers) * product_of(further, shape.head_dim));
}

void read_latent(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  shape.latent = {.kv_rank = config.required("kv_lora_rank"),
                  .query_rank = config.whole_or("q_lora_rank", 0),
                  .rope_dim = config.required("qk_rope_head_dim"),
                  .nope_dim = config.required("qk_nope_head_dim"),
                  .value_dim = config.required("v_head_dim")};
  shape.head_dim = shape.latent.nope_dim + shape.latent.rope_dim;
  shape.kv_heads = shape.heads;
}

namespace {

/// Number of layers with their own indexer: marked in indexer_types, or the first ones and then one of index_topk_freq.
std::int64_t indexing_layers(const FamilyReading& reading) {
  const std::int64_t layers = reading.shape.layers;
  if (auto types = reading.config.texts("indexer_types")) {
    fit_to_layers(reading.config, "indexer_types", layers, *types);
    for (const std::string& type : *types) {
      if (type == "full" || type == "shared") continue;
      reading.config.reject("indexer_types", fmt::format("\"{}\" is not known", type), "", "full, shared");
      break;
    }
    return std::count(types->begin(), types->end(), "full");
  }
  const std::int64_t every = std::max<std::int64_t>(reading.config.whole_or("index_topk_freq", 1), 1);
  const std::int64_t first = std::min(reading.config.whole_or("index_skip_topk_offset", every > 1 ? 1 : 0), layers);
  return first + (layers - first) / every;
}

}  // namespace

void read_indexer(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const std::int64_t own = indexing_layers(reading);
  SparseAttention indexed{.layers = own,
                          .selected_entries = config.required("index_topk"),
                          .index_heads = config.required("index_n_heads"),
                          .index_dim = config.required("index_head_dim")};
  const std::int64_t queried = shape.latent.query_rank > 0 ? shape.latent.query_rank : shape.d_model;
  indexed.layer_parameters =
      whole_of(as_double(queried) * product_of(indexed.index_heads, indexed.index_dim) +
               product_of(shape.d_model, indexed.index_dim + indexed.index_heads) + 2.0 * as_double(indexed.index_dim));
  const SparseAttention shared{.layers = shape.layers - own, .selected_entries = indexed.selected_entries};
  if (own > 0) shape.sparse.push_back(indexed);
  if (shared.layers > 0) shape.sparse.push_back(shared);
}

Experts read_experts(const ConfigObject& config, std::string_view count, std::string_view d_ff,
                     std::string_view per_token) {
  return {.count = config.required(count), .per_token = config.required(per_token), .d_ff = config.required(d_ff)};
}

void read_dense_layers(FamilyReading& reading, std::int64_t default_first) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  shape.experts.dense_layers = config.whole_or("first_k_dense_replace", default_first);
  if (const auto sparse = marked_layers(reading, "moe_layer_freq")) {
    shape.experts.dense_layers = shape.layers - *sparse;
  } else if (config.whole_or("moe_layer_freq", 1) != 1) {
    config.reject("moe_layer_freq", "is not 1", "only a mixture at every layer after the dense ones is supported",
                  "state it as a list of 0 and 1");
  }
  if (auto types = config.texts("mlp_layer_types")) {
    fit_to_layers(config, "mlp_layer_types", shape.layers, *types);
    shape.experts.dense_layers = std::count(types->begin(), types->end(), "dense");
  }
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
}

std::int64_t mixtures(const ModelShape& shape) { return feed_forward_layers(shape) - shape.experts.dense_layers; }

void add_router_bias(ModelShape& shape) { add_further(shape, product_of(mixtures(shape), shape.experts.count)); }

void read_drafting_layers(FamilyReading& reading, std::string_view key) {
  const std::int64_t layers = reading.config.whole_or(key, 0);
  reading.drafting_layers = layers;
  if (layers == 0) return;
  reading.notes.push_back(
      fmt::format("{}: {} layer{} for drafting (MTP): not part of the target, but the draft \"mtp\"", key, layers,
                  layers == 1 ? "" : "s"));
}

}  // namespace foredraft::latency
