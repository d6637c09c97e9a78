// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "latency/models/family_blocks.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/words.hpp"

/// Families with layers that have a state instead of a KV cache.
namespace foredraft::latency {

/// Lightning attention: queries, keys, values, a gate and the output, and a norm; a state of head_dim^2 per head.
void read_minimax(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size");
  // The first publication used 0 for lightning attention.
  const auto types = config.wholes("attn_type_list");
  shape.linear.layers =
      types ? std::count(types->begin(), types->end(), 0) : layers_of_kind(reading, "linear_attention").value_or(0);
  if (shape.linear.layers == 0) return;
  const std::int64_t width = shape.heads * shape.head_dim;
  shape.linear.layer_parameters = whole_of(5.0 * product_of(width, shape.d_model) + as_double(width));
  shape.linear.state_elements = whole_of(product_of(width, shape.head_dim));
}

namespace {

/// Gated delta rule: projections to queries, keys, values, a gate z, and (one number per value head) beta and decay; a
/// convolution over queries, keys and values; decay and its bias; the gate's norm; the output. The state is a matrix
/// per value head and the last inputs of the convolution. [Yang2024]
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
  const double keys = product_of(config.required("linear_num_key_heads"), key_dim);
  const double values = product_of(value_heads, value_dim);
  const double convolved = 2.0 * keys + values;
  const double kernel = as_double(config.required("linear_conv_kernel_dim"));
  const double width = as_double(shape.d_model);
  const double heads = as_double(value_heads);
  shape.linear.layer_parameters = whole_of(width * (convolved + values + 2.0 * heads) + convolved * kernel +
                                           2.0 * heads + as_double(value_dim) + values * width);
  shape.linear.state_elements = whole_of(values * as_double(key_dim) + convolved * std::max(kernel - 1.0, 0.0));
}

}  // namespace

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

namespace {

/// Mamba-2: one projection to gate, inputs, groups and steps, a convolution, decay, skip and step bias per head, the
/// gate's norm and the output. [Dao2024]
void read_mamba(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const std::int64_t heads = config.required("mamba_num_heads");
  const double inner = product_of(heads, config.required("mamba_head_dim"));
  const double state = as_double(config.required("ssm_state_size"));
  const double convolved = inner + 2.0 * as_double(config.required("n_groups")) * state;
  const double kernel = as_double(config.required("conv_kernel"));
  const double width = as_double(shape.d_model);
  const double bias = config.flag("use_conv_bias", true) ? convolved : 0.0;
  shape.linear.layer_parameters = whole_of(width * (inner + convolved + as_double(heads)) + convolved * kernel + bias +
                                           3.0 * as_double(heads) + inner + inner * width);
  shape.linear.state_elements = whole_of(inner * state + convolved * std::max(kernel - 1.0, 0.0));
}

/// Layer types of Nemotron-H, one letter per layer: M for Mamba-2, * for attention, - for a feed-forward block, E for a
/// mixture. Later configs have a list of words.
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

}  // namespace

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
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.latent_dim = config.whole_or("moe_latent_size", 0);
  shape.experts.dense_layers = layers_of('-');
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 0) *
                              config.whole_or("moe_shared_expert_intermediate_size", shape.experts.d_ff);
  add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

namespace {

/// Delta attention of Kimi: queries, keys and values with convolutions, a low-rank decay with its bias, one beta per
/// head, a low- or full-rank gate, the gate's norm and the output. [Moonshot2025]
void read_kimi_delta(FamilyReading& reading, const ConfigObject& linear) {
  ModelShape& shape = reading.shape;
  const std::int64_t heads = linear.required("num_heads"), dim = linear.required("head_dim");
  const std::int64_t kernel = linear.required("short_conv_kernel_size");
  const std::int64_t low_rank = whole_of(product_of(dim, shape.d_model) + as_double(dim) * product_of(heads, dim));
  const double width = product_of(heads, dim), d_model = as_double(shape.d_model);
  const double gate = linear.flag("use_full_rank_gate", false) ? width * d_model : as_double(low_rank);
  const double convolved = 3.0 * width;
  shape.linear.layer_parameters =
      whole_of((convolved + width) * d_model + convolved * as_double(kernel) + gate + as_double(low_rank) +
               product_of(heads, shape.d_model) + width + as_double(heads + dim));
  shape.linear.state_elements = whole_of(width * as_double(dim) + convolved * std::max(as_double(kernel) - 1.0, 0.0));
}

}  // namespace

/// Delta attention and latent attention by the lists of linear_attn_config. Kimi-K3 has experts with their own input
/// dimension and residuals that attend to those of earlier blocks.
void read_kimi_linear(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  read_latent(reading);
  shape.attention_gate = config.flag("mla_use_output_gate", false);
  if (const auto linear = config.object("linear_attn_config")) {
    shape.linear.layers =
        static_cast<std::int64_t>(linear->wholes("kda_layers").value_or(std::vector<std::int64_t>{}).size());
    if (shape.linear.layers > 0) read_kimi_delta(reading, *linear);
  }
  if (config.whole_or("num_experts", 0) > 0) {
    shape.experts = read_experts(config, "num_experts", "moe_intermediate_size",
                                 first_key(config, {"num_experts_per_tok", "num_experts_per_token"}));
    shape.experts.shared_d_ff = config.whole_or("num_shared_experts", 0) * shape.experts.d_ff;
    shape.experts.latent_dim = config.whole_or("routed_expert_hidden_size", 0);
    read_dense_layers(reading, 0);
    add_router_bias(shape);
    if (config.flag("latent_moe_use_norm", false))
      add_further(shape, product_of(mixtures(shape), shape.experts.latent_dim));
  }
  // Two norms and two projections to one number per layer, and a final set.
  if (config.whole_or("attn_res_block_size", 0) > 0)
    add_further(shape, product_of(4 * shape.layers + 2, shape.d_model));
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

/// Gated convolutions over a few tokens instead of attention; the state is their last inputs. [Liquid2025]
void read_lfm2(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const bool mixture = config.whole_or("num_experts", 0) > 0;
  const auto d_ff = first_key(config, {"block_ff_dim", "intermediate_size"});
  read_decoder(reading, {.tied = true, .d_ff = d_ff});
  shape.query_key_norm = true;
  // The stated width is for a block without gate.
  if (!mixture && config.flag("block_auto_adjust_ff_dim", true)) {
    const std::int64_t multiple = std::max<std::int64_t>(config.whole_or("block_multiple_of", 256), 1);
    const std::int64_t without_gate = 2 * shape.d_ff / 3;
    const double width = config.real("block_ffn_dim_multiplier").value_or(1.0) * as_double(without_gate);
    shape.d_ff = (whole_of(width) + multiple - 1) / multiple * multiple;
  }
  shape.linear.layers = layers_of_kind(reading, "conv").value_or(0);
  if (const auto attention = config.wholes("full_attn_idxs"); attention && !config.has("layer_types")) {
    shape.linear.layers = shape.layers - static_cast<std::int64_t>(attention->size());
  }
  if (shape.linear.layers > 0) {
    const std::int64_t kernel = config.whole_or("conv_L_cache", 3);
    shape.linear.layer_parameters = whole_of(product_of(shape.d_model, 4 * shape.d_model + kernel));
    shape.linear.state_elements = whole_of(product_of(shape.d_model, std::max<std::int64_t>(kernel - 1, 1)));
  }
  if (!mixture) return;
  shape.experts = read_experts(config, "num_experts", "moe_intermediate_size");
  shape.experts.dense_layers = config.whole_or("num_dense_layers", 0);
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
  if (config.flag("use_expert_bias", true)) add_router_bias(shape);
}

}  // namespace foredraft::latency
