// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "latency/models/config_object.hpp"
#include "latency/models/family_blocks.hpp"
#include "latency/models/model_shape.hpp"

namespace foredraft::latency {
namespace {

/// LLaMA: attention_bias applies to all four projections, mlp_bias to the feed-forward block.
void read_llama(FamilyReading& reading) {
  read_decoder(reading);
  ModelShape& shape = reading.shape;
  shape.attention_bias = reading.config.flag("attention_bias", false);
  if (shape.attention_bias) add_further(shape, product_of(shape.layers, shape.d_model));
  if (reading.config.flag("mlp_bias", false)) {
    add_further(shape, as_double(shape.layers) * as_double(2 * shape.d_ff + shape.d_model));
  }
}

/// Mistral and Phi-3.
void read_mistral(FamilyReading& reading) {
  read_decoder(reading);
  read_window(reading, reading.shape.layers);
}

/// Qwen's window, if used, applies to the layers from max_window_layers on.
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

void read_gemma(FamilyReading& reading) {
  read_decoder(reading, {.tied = true});
  read_activation(reading, "gelu");
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
}

/// Layers alternate between a window and full attention, starting with a window.
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
/// a dense block, which all tokens use.
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
    // Three more norms, the scale of the router's input, and a scale per expert.
    add_further(shape, as_double(shape.layers) * as_double(4 * shape.d_model + shape.experts.count));
  }
}

void read_mimo(FamilyReading& reading) {
  read_qwen2(reading);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

/// A part of a layer from architecture search; nullopt if the layer has none.
std::optional<ConfigObject> searched_part(const ConfigObject& block, std::string_view key) {
  auto part = block.object(key);
  if (!part || part->flag("no_op", false)) return std::nullopt;
  if (part->flag("replace_with_linear", false)) {
    part->reject("replace_with_linear", "is true", "a block of one matrix is not supported");
  }
  return part;
}

/// intermediate_size, or 2/3 * ffn_mult * width, rounded up to a multiple.
double searched_width(const ConfigObject& block, std::int64_t d_model) {
  if (const auto stated = block.whole("intermediate_size")) return as_double(*stated);
  constexpr double multiple = 256.0;
  const double width = std::floor(2.0 * block.real("ffn_mult").value_or(0.0) * as_double(d_model) / 3.0);
  return std::ceil(width / multiple) * multiple;
}

/// Layers from architecture search with different widths, some without attention. The shape has the mean width.
/// [Bercovich2024]
void read_nemotron_nas(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.attention_bias = config.flag("attention_bias", false);
  const auto blocks = config.tables("block_configs");
  if (!blocks) return config.reject("block_configs", "missing", "it describes each layer");
  if (static_cast<std::int64_t>(blocks->size()) != shape.layers) {
    config.reject("block_configs", fmt::format("names {} layers", blocks->size()),
                  fmt::format("num_hidden_layers is {}", shape.layers));
  }
  std::int64_t attention = 0, dense = 0, group = 0;
  double widths = 0.0;
  for (const ConfigObject& block : *blocks) {
    if (const auto heads = searched_part(block, "attention")) {
      const std::int64_t own = std::max<std::int64_t>(heads->required("n_heads_in_group"), 1);
      if (attention > 0 && own != group) {
        heads->reject("n_heads_in_group", fmt::format("is {}", own), "must be one for all layers");
      }
      group = own;
      ++attention;
    }
    if (const auto feed_forward = searched_part(block, "ffn")) {
      widths += searched_width(*feed_forward, shape.d_model);
      ++dense;
    }
  }
  shape.attention_layers = attention;
  shape.feed_forward_layers = dense;
  if (attention > 0) shape.kv_heads = shape.heads / group;
  if (dense == 0) return;
  shape.d_ff = whole_of(widths / as_double(dense));
  add_further(shape, 3.0 * as_double(shape.d_model) * (widths - as_double(dense) * as_double(shape.d_ff)));
}

// ---- Dense families that differ from LLaMA in a norm, a bias or a window.

void read_biased(FamilyReading& reading) {
  read_decoder(reading);
  reading.shape.attention_bias = reading.config.flag("attention_bias", false);
}

void read_tied_llama(FamilyReading& reading) {
  read_llama(reading);
  reading.shape.tied = reading.config.flag("tie_word_embeddings", true);
}

void read_glm4(FamilyReading& reading) {
  read_biased(reading);
  reading.shape.norms_per_layer = 4;
}

/// Windows by layer_types, or by a pattern of letters in which the last letter has no window.
void read_exaone4(FamilyReading& reading) {
  read_decoder(reading);
  reading.shape.query_key_norm = true;
  const std::int64_t layers = reading.shape.layers;
  constexpr std::int64_t default_pattern = 4;
  std::int64_t pattern = default_pattern;
  if (reading.config.is_text("sliding_window_pattern")) {
    pattern = static_cast<std::int64_t>(reading.config.text("sliding_window_pattern").value_or("").size());
  } else {
    pattern = reading.config.whole_or("sliding_window_pattern", default_pattern);
  }
  read_window(reading, layers - layers / std::max<std::int64_t>(pattern, 1));
}

void read_olmo2(FamilyReading& reading) {
  read_biased(reading);
  read_wide_query_key_norm(reading.shape);
  const std::int64_t layers = reading.shape.layers;
  constexpr std::int64_t pattern = 4;
  read_window(reading, layers - layers / pattern);
}

}  // namespace

const std::vector<ConfigFamily>& config_families() {
  static const std::vector<ConfigFamily> families{
      {"bailing_moe", read_bailing_moe},
      {"bailing_moe_v2", read_bailing_moe, false},
      {"deepseek_ref", read_deepseek_v4, false},
      {"deepseek_v2", read_deepseek, false},
      {"deepseek_v3", read_deepseek_v3},
      {"deepseek_v32", read_deepseek_v32},
      {"deepseek_v4", read_deepseek_v4},
      {"ernie4_5", read_tied_llama, false},
      {"ernie4_5_moe", read_ernie4_5_moe},
      {"exaone4", read_exaone4},
      {"gemma", read_gemma},
      {"gemma2", read_gemma2},
      {"gemma3_text", read_gemma3},
      {"gemma4_text", read_gemma4},
      {"glm", read_biased},
      {"glm4", read_glm4},
      {"glm4_moe", read_glm4_moe},
      {"glm4_moe_lite", read_deepseek_v3, false},
      {"glm_moe_dsa", read_deepseek_v32},
      {"gpt_oss", read_gpt_oss},
      {"granite", read_tied_llama, false},
      {"kimi_k2", read_deepseek_v3, false},
      {"kimi_linear", read_kimi_linear},
      {"lfm2", read_lfm2},
      {"lfm2_moe", read_lfm2, false},
      {"llama", read_llama},
      {"llama4_text", read_llama4},
      {"longcat_flash", read_longcat_flash},
      {"mimo", read_mimo},
      {"mimo_v2_flash", read_mimo_v2},
      {"minimax", read_minimax},
      {"minimax_m2", read_minimax_m2},
      {"minimax_m3", read_minimax_m3},
      {"minimax_m3_vl", read_minimax_m3, false},
      {"minimax_text_01", read_minimax},
      {"mistral", read_mistral},
      {"mixtral", read_mixtral},
      {"nemotron-nas", read_nemotron_nas},
      {"nemotron_h", read_nemotron_h},
      {"olmo2", read_olmo2},
      {"olmo3", read_olmo2},
      {"phi3", read_mistral},
      {"qwen2", read_qwen2},
      {"qwen2_5_vl_text", read_qwen2},
      {"qwen2_moe", read_qwen2_moe},
      {"qwen2_vl_text", read_qwen2},
      {"qwen3", read_qwen3},
      {"qwen3_5_moe_text", read_qwen3_next},
      {"qwen3_5_text", read_qwen3_next},
      {"qwen3_moe", read_qwen3_moe},
      {"qwen3_next", read_qwen3_next},
      {"qwen3_omni_moe_text", read_qwen3_moe},
      {"qwen3_vl_moe_text", read_qwen3_moe},
      {"qwen3_vl_text", read_qwen3},
      {"seed_oss", read_biased},
      {"smollm3", read_tied_llama, false},
      {"step3p5", read_step3p5},
      {"step3p7", read_step3p5},
  };
  return families;
}

}  // namespace foredraft::latency
