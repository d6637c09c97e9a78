// SPDX-License-Identifier: Apache-2.0
#include "latency/models/config_object.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace foredraft::latency {
namespace {

/// Defaults of an architecture for keys that configs omit. 0: the key is required.
struct Defaults {
  bool tied = false;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads
  std::int64_t head_dim = 0;  ///< 0: hidden_size / heads
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  bool dense = true;  ///< layers have a dense block of intermediate_size
};

constexpr std::array activation_words{
    Word{"silu", Activation::silu},       Word{"swish", Activation::silu},
    Word{"swiglu", Activation::silu},     Word{"gelu", Activation::gelu},
    Word{"gelu_new", Activation::gelu},   Word{"gelu_pytorch_tanh", Activation::gelu},
    Word{"gelu_fast", Activation::gelu},  Word{"gelu_tanh", Activation::gelu},
    Word{"quick_gelu", Activation::gelu}, Word{"relu", Activation::relu},
    Word{"relu2", Activation::relu},
};

/// Product of untrusted numbers, saturating: a value out of range stays out of range and is rejected with the shape.
std::int64_t whole_of(double value) {
  constexpr double beyond = 4e18;
  return static_cast<std::int64_t>(std::min(value, beyond));
}

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

void add_further(ModelShape& shape, double parameters) {
  shape.further_parameters = whole_of(static_cast<double>(shape.further_parameters) + parameters);
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

/// Reads the keys of every decoder.
void read_decoder(FamilyReading& reading, const Defaults& defaults = {}) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  constexpr std::int64_t longest_context = 1'000'000'000;
  shape.gated = true;
  shape.layers = defaults.layers > 0 ? config.whole_or("num_hidden_layers", defaults.layers)
                                     : config.required("num_hidden_layers");
  shape.d_model = config.required("hidden_size");
  shape.heads = defaults.heads > 0 ? config.whole_or("num_attention_heads", defaults.heads)
                                   : config.required("num_attention_heads");
  shape.kv_heads = config.whole_or("num_key_value_heads", defaults.kv_heads > 0 ? defaults.kv_heads : shape.heads);
  const std::int64_t even_share = shape.heads > 0 ? shape.d_model / shape.heads : 0;
  shape.head_dim = config.whole_or("head_dim", defaults.head_dim > 0 ? defaults.head_dim : even_share);
  shape.d_ff = defaults.dense ? config.required("intermediate_size") : 0;
  shape.vocabulary =
      defaults.vocabulary > 0 ? config.whole_or("vocab_size", defaults.vocabulary) : config.required("vocab_size");
  shape.tied = config.flag("tie_word_embeddings", defaults.tied);
  shape.max_context = config.whole("max_position_embeddings", longest_context).value_or(defaults.context);
  read_activation(reading, "silu");
  if (config.flag("is_encoder_decoder", false)) {
    config.reject("is_encoder_decoder", "is true", "only decoders are supported",
                  "write a model file (docs/models.md)");
  }
}

/// Layers that a list of layer_types names `kind`; nullopt if there is no list.
std::optional<std::int64_t> layers_of_kind(const FamilyReading& reading, std::string_view kind) {
  static const std::vector<std::string> known{"full_attention", "linear_attention", "sliding_attention"};
  const auto types = reading.config.texts("layer_types");
  if (!types) return std::nullopt;
  if (static_cast<std::int64_t>(types->size()) != reading.shape.layers) {
    reading.config.reject("layer_types", fmt::format("names {} layers", types->size()),
                          fmt::format("num_hidden_layers is {}", reading.shape.layers));
  }
  for (const std::string& type : *types) {
    if (std::find(known.begin(), known.end(), type) != known.end()) continue;
    reading.config.reject("layer_types", fmt::format("\"{}\" is not known", type), "", suggestion_for(type, known));
    break;
  }
  return std::count(types->begin(), types->end(), kind);
}

/// Window of `tokens` for `layers`; no window if it is at least the context length.
void set_window(ModelShape& shape, std::int64_t tokens, std::int64_t layers) {
  if (tokens == 0 || layers == 0 || (shape.max_context > 0 && tokens >= shape.max_context)) return;
  shape.window.tokens = tokens;
  shape.window.layers = layers;
}

/// sliding_window, for the layers that layer_types names or for `layers`.
void read_window(FamilyReading& reading, std::int64_t layers, std::int64_t default_tokens = 0) {
  const std::int64_t tokens = reading.config.whole_or("sliding_window", default_tokens);
  set_window(reading.shape, tokens, layers_of_kind(reading, "sliding_attention").value_or(layers));
}

/// Mixtures that begin at some layer, or at each `decoder_sparse_step`-th layer that mlp_only_layers does not name.
std::int64_t dense_layers(const FamilyReading& reading) {
  const std::int64_t step = std::max<std::int64_t>(reading.config.whole_or("decoder_sparse_step", 1), 1);
  std::vector<std::int64_t> dense = reading.config.wholes("mlp_only_layers").value_or(std::vector<std::int64_t>{});
  std::sort(dense.begin(), dense.end());
  dense.erase(std::unique(dense.begin(), dense.end()), dense.end());
  const auto named = std::count_if(dense.begin(), dense.end(), [&](std::int64_t layer) {
    return layer < reading.shape.layers && (layer + 1) % step == 0;
  });
  return reading.shape.layers - reading.shape.layers / step + named;
}

/// Number of layers of the shape with a mixture.
std::int64_t mixtures(const ModelShape& shape) { return feed_forward_layers(shape) - shape.experts.dense_layers; }

/// A bias added to each router output, used to choose experts but not to weight them.
void add_router_bias(ModelShape& shape) { add_further(shape, product(mixtures(shape), shape.experts.count)); }

void read_drafting_layers(FamilyReading& reading, std::string_view key) {
  const std::int64_t layers = reading.config.whole_or(key, 0);
  reading.drafting_layers = layers;
  if (layers == 0) return;
  reading.notes.push_back(
      fmt::format("{}: {} layer{} for drafting (MTP): not part of the target, but the draft \"mtp\"", key, layers,
                  layers == 1 ? "" : "s"));
}

/// attention_bias and mlp_bias of LLaMA: of all four projections, and of the feed-forward block.
void read_llama(FamilyReading& reading) {
  read_decoder(reading);
  ModelShape& shape = reading.shape;
  shape.attention_bias = reading.config.flag("attention_bias", false);
  if (shape.attention_bias) add_further(shape, product(shape.layers, shape.d_model));
  if (reading.config.flag("mlp_bias", false)) {
    add_further(shape, static_cast<double>(shape.layers) * static_cast<double>(2 * shape.d_ff + shape.d_model));
  }
}

void read_mistral(FamilyReading& reading) {
  read_decoder(reading);
  read_window(reading, reading.shape.layers);
}

/// Qwen's window applies to the layers from max_window_layers on, if it is used at all.
void read_qwen_window(FamilyReading& reading) {
  if (!reading.config.flag("use_sliding_window", false)) return;
  const std::int64_t first = std::min(reading.config.whole_or("max_window_layers", 0), reading.shape.layers);
  read_window(reading, reading.shape.layers - first);
}

void read_qwen2(FamilyReading& reading) {
  read_decoder(reading);
  reading.shape.attention_bias = true;
  read_qwen_window(reading);
}

void read_qwen3(FamilyReading& reading) {
  read_decoder(reading);
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
  reading.shape.query_key_norm = true;
  read_qwen_window(reading);
}

/// The experts of a mixture, without those that are shared.
Experts read_experts(const ConfigObject& config, std::string_view count, std::string_view d_ff,
                     std::string_view per_token = "num_experts_per_tok") {
  return {.count = config.required(count), .per_token = config.required(per_token), .d_ff = config.required(d_ff)};
}

/// num_experts and related keys, with the shared expert and its gate of one row.
void read_qwen_experts(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  shape.experts = read_experts(config, "num_experts", "moe_intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("shared_expert_intermediate_size", 0);
  shape.experts.dense_layers = dense_layers(reading);
  if (shape.experts.dense_layers > 0) shape.d_ff = config.required("intermediate_size");
  if (shape.experts.shared_d_ff > 0) add_further(shape, product(mixtures(shape), shape.d_model));
}

void read_qwen2_moe(FamilyReading& reading) {
  read_decoder(reading, {.dense = false});
  reading.shape.attention_bias = true;
  read_qwen_experts(reading);
  read_qwen_window(reading);
}

void read_qwen3_moe(FamilyReading& reading) {
  read_decoder(reading, {.dense = false});
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
  reading.shape.query_key_norm = true;
  read_qwen_experts(reading);
  read_qwen_window(reading);
}

void read_mixtral(FamilyReading& reading) {
  read_decoder(reading, {.dense = false});
  reading.shape.experts = read_experts(reading.config, "num_local_experts", "intermediate_size");
  read_window(reading, reading.shape.layers);
}

void read_gemma(FamilyReading& reading) {
  read_decoder(reading, {.tied = true});
  read_activation(reading, "gelu");
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
}

/// Windows alternate with full attention, beginning with a window.
void read_gemma2(FamilyReading& reading) {
  read_gemma(reading);
  reading.shape.norms_per_layer = 4;
  constexpr std::int64_t window = 4096;
  read_window(reading, (reading.shape.layers + 1) / 2, window);
}

/// Every sixth layer has full attention. Published configs omit the values of the 4B model.
void read_gemma3(FamilyReading& reading) {
  read_decoder(reading,
               {.tied = true, .heads = 8, .kv_heads = 4, .head_dim = 256, .vocabulary = 262208, .context = 131072});
  read_activation(reading, "gelu");
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
  reading.shape.norms_per_layer = 4;
  reading.shape.query_key_norm = true;
  constexpr std::int64_t window = 4096, default_pattern = 6;
  const std::int64_t pattern =
      std::max<std::int64_t>(reading.config.whole_or("sliding_window_pattern", default_pattern), 1);
  read_window(reading, reading.shape.layers - reading.shape.layers / pattern, window);
}

/// Layers without a window have their own heads and, with attention_k_eq_v, no value projection. A mixture is added to
/// a dense block, which every token passes.
void read_gemma4(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.tied = true});
  read_activation(reading, "gelu");
  for (const std::string_view key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
    const std::int64_t value = config.whole_or(key, 0);
    if (value > 0) config.reject(key, fmt::format("is {}", value), "not supported", "");
  }
  shape.attention_bias = config.flag("attention_bias", false);
  shape.norms_per_layer = 4;
  shape.query_key_norm = true;
  constexpr std::int64_t default_window = 1024;
  read_window(reading, 0, default_window);
  shape.values_are_keys = config.flag("attention_k_eq_v", false);
  const std::int64_t kv_heads = config.whole_or("num_global_key_value_heads", shape.kv_heads);
  const std::int64_t head_dim = config.whole_or("global_head_dim", shape.head_dim);
  if (shape.window.layers > 0) {
    if (kv_heads != shape.kv_heads) shape.window.kv_heads = shape.kv_heads;
    if (head_dim != shape.head_dim) shape.window.head_dim = shape.head_dim;
  }
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  if (config.flag("enable_moe_block", false)) {
    shape.experts = read_experts(config, "num_experts", "moe_intermediate_size", "top_k_experts");
    shape.experts.shared_d_ff = shape.d_ff;
    shape.d_ff = 0;
    // Three more norms, the scales of the router's input and of each expert.
    add_further(shape,
                static_cast<double>(shape.layers) * static_cast<double>(4 * shape.d_model + shape.experts.count));
  }
}

void read_deepseek(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  shape.attention_bias = config.flag("attention_bias", false);
  shape.latent = {.kv_rank = config.required("kv_lora_rank"),
                  .query_rank = config.whole_or("q_lora_rank", 0),
                  .rope_dim = config.required("qk_rope_head_dim"),
                  .nope_dim = config.required("qk_nope_head_dim"),
                  .value_dim = config.required("v_head_dim")};
  shape.head_dim = shape.latent.nope_dim + shape.latent.rope_dim;
  if (!config.has("n_routed_experts")) return;
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.dense_layers = config.whole_or("first_k_dense_replace", 0);
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 0) * shape.experts.d_ff;
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
  if (config.whole_or("moe_layer_freq", 1) != 1) {
    config.reject("moe_layer_freq", "is not 1", "only a mixture at every layer after the dense ones is supported");
  }
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

void read_deepseek_v3(FamilyReading& reading) {
  read_deepseek(reading);
  add_router_bias(reading.shape);
}

/// Every projection including the router has a bias, and each head of a layer a sink: one more score.
void read_gpt_oss(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.attention_bias = config.flag("attention_bias", true);
  shape.bias = true;
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size",
                               config.has("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token");
  read_window(reading, (shape.layers + 1) / 2);
  add_further(shape, product(shape.layers, shape.heads));
}

void read_glm4_moe(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  shape.attention_bias = config.flag("attention_bias", false);
  shape.query_key_norm = config.flag("use_qk_norm", false);
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.dense_layers = config.whole_or("first_k_dense_replace", 1);
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 1) * shape.experts.d_ff;
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
  add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

/// Norms over all heads together if qk_norm_type is per_layer: more parameters than one norm of a head.
void read_minimax_m2(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.query_key_norm = config.flag("use_qk_norm", false);
  if (shape.query_key_norm && config.text("qk_norm_type").value_or("per_layer") == "per_layer") {
    add_further(shape, static_cast<double>(shape.layers) *
                           product(std::max<std::int64_t>(shape.heads + shape.kv_heads - 2, 0), shape.head_dim));
  }
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("shared_intermediate_size", 0);
  if (config.flag("use_routing_bias", false)) add_router_bias(shape);
  if (config.flag("use_mtp", false)) read_drafting_layers(reading, "num_mtp_modules");
}

/// Lightning attention: queries, keys, values, a gate and the output, and a norm; a state of head_dim^2 per head.
void read_minimax(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size");
  // 0 for lightning attention, as first published.
  const auto types = config.wholes("attn_type_list");
  shape.linear.layers =
      types ? std::count(types->begin(), types->end(), 0) : layers_of_kind(reading, "linear_attention").value_or(0);
  if (shape.linear.layers == 0) return;
  const std::int64_t width = shape.heads * shape.head_dim;
  shape.linear.layer_parameters = whole_of(5.0 * product(width, shape.d_model) + static_cast<double>(width));
  shape.linear.state_elements = whole_of(product(width, shape.head_dim));
}

/// Gated delta rule: projections to queries, keys, values and a gate z, and of one number per value head to beta and
/// the decay; a convolution over queries, keys and values; decay and its bias; the gate's norm; the output. The state
/// is a matrix per value head and the last inputs of the convolution. [Yang2024]
void read_delta_rule(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  constexpr std::int64_t default_interval = 4;
  const std::int64_t interval = std::max<std::int64_t>(config.whole_or("full_attention_interval", default_interval), 1);
  shape.linear.layers = layers_of_kind(reading, "linear_attention").value_or(shape.layers - shape.layers / interval);
  if (shape.linear.layers == 0) return;
  const std::int64_t value_heads = config.required("linear_num_value_heads");
  const std::int64_t key_dim = config.required("linear_key_head_dim");
  const std::int64_t value_dim = config.required("linear_value_head_dim");
  const double keys = product(config.required("linear_num_key_heads"), key_dim);
  const double values = product(value_heads, value_dim);
  const double convolved = 2.0 * keys + values;
  const auto kernel = static_cast<double>(config.required("linear_conv_kernel_dim"));
  const auto width = static_cast<double>(shape.d_model);
  const auto heads = static_cast<double>(value_heads);
  shape.linear.layer_parameters = whole_of(width * (convolved + values + 2.0 * heads) + convolved * kernel +
                                           2.0 * heads + static_cast<double>(value_dim) + values * width);
  shape.linear.state_elements =
      whole_of(values * static_cast<double>(key_dim) + convolved * std::max(kernel - 1.0, 0.0));
}

void read_qwen3_next(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  const bool mixture = config.whole_or("num_experts", 0) > 0;
  read_decoder(reading, {.dense = !mixture});
  reading.shape.attention_bias = config.flag("attention_bias", false);
  reading.shape.query_key_norm = true;
  reading.shape.attention_gate = config.flag("attn_output_gate", true);
  if (mixture) read_qwen_experts(reading);
  read_delta_rule(reading);
  read_drafting_layers(reading, "mtp_num_hidden_layers");
}

/// Mamba-2: one projection to gate, inputs, groups and steps, a convolution, decay, skip and step bias per head, the
/// gate's norm and the output. [Dao2024]
void read_mamba(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const std::int64_t heads = config.required("mamba_num_heads");
  const double inner = product(heads, config.required("mamba_head_dim"));
  const auto state = static_cast<double>(config.required("ssm_state_size"));
  const double convolved = inner + 2.0 * static_cast<double>(config.required("n_groups")) * state;
  const auto kernel = static_cast<double>(config.required("conv_kernel"));
  const auto width = static_cast<double>(shape.d_model);
  const double bias = config.flag("use_conv_bias", true) ? convolved : 0.0;
  shape.linear.layer_parameters =
      whole_of(width * (inner + convolved + static_cast<double>(heads)) + convolved * kernel + bias +
               3.0 * static_cast<double>(heads) + inner + inner * width);
  shape.linear.state_elements = whole_of(inner * state + convolved * std::max(kernel - 1.0, 0.0));
}

/// Layer types of Nemotron-H, one letter per layer: M Mamba-2, * attention, - a feed-forward block, E a mixture. Later
/// configs have a list of words.
std::string layer_pattern(const ConfigObject& config) {
  constexpr std::array words{Word{"mamba", 'M'}, Word{"attention", '*'}, Word{"mlp", '-'}, Word{"moe", 'E'}};
  const char* const key = config.has("layers_block_type") ? "layers_block_type" : "hybrid_override_pattern";
  std::string pattern;
  if (const auto types = config.is_text(key) ? std::nullopt : config.texts(key)) {
    for (const std::string& type : *types) {
      const auto letter = meaning_of(type, words);
      if (!letter) config.reject(key, fmt::format("has a layer \"{}\"", type), "", "mamba, attention, mlp, moe");
      pattern += letter.value_or('?');
    }
    return pattern;
  }
  pattern = config.text(key).value_or("");
  const std::size_t unknown = pattern.find_first_not_of("M*-E");
  if (pattern.empty()) {
    config.reject(key, "missing", "it lists the type of each layer");
  } else if (unknown != std::string::npos) {
    config.reject(key, fmt::format("has a layer \"{}\"", pattern[unknown]), "M, *, - and E are known");
  }
  return pattern;
}

/// Each layer is one block with one norm. No gates.
void read_nemotron_h(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const std::string pattern = layer_pattern(config);
  const auto layers_of = [&pattern](char kind) { return std::count(pattern.begin(), pattern.end(), kind); };
  read_decoder(reading, {.layers = static_cast<std::int64_t>(pattern.size()), .dense = layers_of('-') > 0});
  if (!config.has("head_dim")) shape.head_dim = config.whole_or("attention_head_dim", shape.head_dim);
  shape.gated = false;
  shape.norms_per_layer = 1;
  shape.attention_bias = config.flag("attention_bias", false);
  if (!pattern.empty() && static_cast<std::int64_t>(pattern.size()) != shape.layers) {
    config.reject("num_hidden_layers", fmt::format("is {}", shape.layers),
                  fmt::format("{} layers are named", pattern.size()));
  }
  shape.attention_layers = layers_of('*');
  shape.feed_forward_layers = layers_of('-') + layers_of('E');
  shape.linear.layers = layers_of('M');
  if (shape.linear.layers > 0) read_mamba(reading);
  if (layers_of('E') == 0) return;
  if (config.has("moe_latent_size")) {
    config.reject("moe_latent_size", "is there", "experts with a projection of their own are not supported");
  }
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.dense_layers = layers_of('-');
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 0) *
                              config.whole_or("moe_shared_expert_intermediate_size", shape.experts.d_ff);
  add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

}  // namespace

const std::vector<ConfigFamily>& config_families() {
  static const std::vector<ConfigFamily> families{
      {"deepseek_v2", read_deepseek},
      {"deepseek_v3", read_deepseek_v3},
      {"gemma", read_gemma},
      {"gemma2", read_gemma2},
      {"gemma3_text", read_gemma3},
      {"gemma4_text", read_gemma4},
      {"glm4_moe", read_glm4_moe},
      {"gpt_oss", read_gpt_oss},
      {"kimi_k2", read_deepseek_v3},
      {"llama", read_llama},
      {"minimax", read_minimax},
      {"minimax_m2", read_minimax_m2},
      {"minimax_text_01", read_minimax},
      {"mistral", read_mistral},
      {"mixtral", read_mixtral},
      {"nemotron_h", read_nemotron_h},
      {"qwen2", read_qwen2},
      {"qwen2_moe", read_qwen2_moe},
      {"qwen3", read_qwen3},
      {"qwen3_5_moe_text", read_qwen3_next},
      {"qwen3_5_text", read_qwen3_next},
      {"qwen3_moe", read_qwen3_moe},
      {"qwen3_next", read_qwen3_next},
      {"qwen3_vl_moe_text", read_qwen3_moe},
      {"qwen3_vl_text", read_qwen3},
  };
  return families;
}

}  // namespace foredraft::latency
