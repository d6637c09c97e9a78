// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/family_blocks.hpp"
#include "latency/models/model_shape.hpp"

/// Families whose feed-forward blocks are mixtures of experts.
namespace foredraft::latency {
namespace {

/// Number of dense layers; mixtures start at some layer, or are every `decoder_sparse_step`-th layer except
/// mlp_only_layers.
std::int64_t qwen_dense_layers(const FamilyReading& reading) {
  const std::int64_t step = std::max<std::int64_t>(reading.config.whole_or("decoder_sparse_step", 1), 1);
  std::vector<std::int64_t> dense = reading.config.wholes("mlp_only_layers").value_or(std::vector<std::int64_t>{});
  std::sort(dense.begin(), dense.end());
  dense.erase(std::unique(dense.begin(), dense.end()), dense.end());
  const auto named = std::count_if(dense.begin(), dense.end(), [&](std::int64_t layer) {
    return layer < reading.shape.layers && (layer + 1) % step == 0;
  });
  return reading.shape.layers - reading.shape.layers / step + named;
}

/// An indexer with one key and a query per group of heads scores blocks of tokens. Attention reads the tokens of the
/// best blocks, including the last one.
void read_block_sparse_attention(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  const auto sparse = config.object("sparse_attention_config");
  if (!sparse || !sparse->flag("use_sparse_attention", true)) return;
  const auto marks = layer_numbers(reading, *sparse, "sparse_attention_freq");
  SparseAttention blocks{
      .layers = shape.layers,
      .selected_entries = sparse->required("sparse_topk_blocks") * sparse->required("sparse_block_size"),
      .index_heads = sparse->required("sparse_num_index_heads"),
      .index_dim = sparse->required("sparse_index_dim")};
  if (marks) blocks.layers -= std::count(marks->begin(), marks->end(), 0);
  blocks.layer_parameters = whole_of(product_of(shape.d_model, blocks.index_dim) * as_double(blocks.index_heads + 1) +
                                     2.0 * as_double(blocks.index_dim));
  if (blocks.layers > 0) shape.sparse.push_back(blocks);
}

}  // namespace

void read_qwen_experts(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  shape.experts = read_experts(config, "num_experts", "moe_intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("shared_expert_intermediate_size", 0);
  shape.experts.dense_layers = qwen_dense_layers(reading);
  if (shape.experts.dense_layers > 0) shape.d_ff = config.required("intermediate_size");
  if (shape.experts.shared_d_ff > 0) add_further(shape, product_of(mixtures(shape), shape.d_model));
}

void read_mixtral(FamilyReading& reading) {
  read_decoder(reading, {.dense = false});
  reading.shape.experts = read_experts(reading.config, "num_local_experts", "intermediate_size");
  read_window(reading, reading.shape.layers);
}

/// Every projection including the router has a bias. Each head has a sink, one more score.
void read_gpt_oss(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.attention_bias = config.flag("attention_bias", true);
  shape.bias = true;
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size",
                               config.has("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token");
  read_window(reading, (shape.layers + 1) / 2);
  add_further(shape, product_of(shape.layers, shape.heads));
}

void read_glm4_moe(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  shape.attention_bias = config.flag("attention_bias", false);
  shape.query_key_norm = config.flag("use_qk_norm", false);
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 1) * shape.experts.d_ff;
  read_dense_layers(reading, 1);
  add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

/// Norms over all heads together if qk_norm_type is per_layer.
void read_minimax_m2(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.dense = false});
  shape.query_key_norm = config.flag("use_qk_norm", false);
  if (shape.query_key_norm && config.text("qk_norm_type").value_or("per_layer") == "per_layer") {
    read_wide_query_key_norm(shape);
  }
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("shared_intermediate_size", 0);
  if (config.flag("use_routing_bias", false)) add_router_bias(shape);
  if (config.flag("use_mtp", false)) read_drafting_layers(reading, "num_mtp_modules");
}

void read_minimax_m3(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.d_ff = first_key(config, {"dense_intermediate_size", "intermediate_size"})});
  shape.query_key_norm = config.flag("use_qk_norm", false);
  shape.attention_gate = config.flag("attention_output_gate", false);
  shape.experts =
      read_experts(config, "num_local_experts", first_key(config, {"moe_intermediate_size", "intermediate_size"}));
  shape.experts.shared_d_ff =
      config.whole_or("n_shared_experts", 0) * config.whole_or("shared_intermediate_size", shape.experts.d_ff);
  read_dense_layers(reading, 0);
  if (config.flag("use_routing_bias", false)) add_router_bias(shape);
  read_block_sparse_attention(reading);
  read_drafting_layers(reading, first_key(config, {"num_nextn_predict_layers", "num_mtp_modules"}));
}

/// Every interleave_moe_layer_step-th layer has a mixture with a shared expert of the same width; others have a dense
/// block of intermediate_size_mlp. Chunked attention counts as a window of the chunk's length. By default every fourth
/// layer has full attention (without rotary positions).
void read_llama4(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.d_ff = first_key(config, {"intermediate_size_mlp", "intermediate_size"})});
  shape.attention_bias = config.flag("attention_bias", false);
  shape.experts = read_experts(config, "num_local_experts", "intermediate_size");
  shape.experts.shared_d_ff = shape.experts.d_ff;
  const std::int64_t step = std::max<std::int64_t>(config.whole_or("interleave_moe_layer_step", 1), 1);
  shape.experts.dense_layers = shape.layers - shape.layers / step;
  if (const auto named = config.wholes("moe_layers")) {
    shape.experts.dense_layers = shape.layers - static_cast<std::int64_t>(named->size());
  }
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
  constexpr std::int64_t default_interval = 4, default_chunk = 8192;
  const std::int64_t every = std::max<std::int64_t>(config.whole_or("no_rope_layer_interval", default_interval), 1);
  std::int64_t chunked = marked_layers(reading, "no_rope_layers").value_or(shape.layers - shape.layers / every);
  chunked = layers_of_kind(reading, "chunked_attention").value_or(chunked);
  set_window(shape, config.whole_or("attention_chunk_size", default_chunk), chunked);
}

/// Layers marked in hybrid_layer_pattern have a window and their own numbers of heads, each with a sink.
void read_mimo_v2(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  shape.attention_bias = config.flag("attention_bias", false);
  shape.value_dim = config.whole_or("v_head_dim", 0);
  set_window(shape, config.required("sliding_window"), marked_layers(reading, "hybrid_layer_pattern").value_or(0));
  if (shape.window.layers > 0) {
    shape.window.heads = config.whole_or("swa_num_attention_heads", 0);
    shape.window.kv_heads = config.whole_or("swa_num_key_value_heads", 0);
    shape.window.head_dim = config.whole_or("swa_head_dim", 0);
    shape.window.value_dim = config.whole_or("swa_v_head_dim", 0);
  }
  if (config.flag("add_swa_attention_sink_bias", false)) {
    add_further(shape, product_of(shape.window.layers, window_heads(shape).heads));
  }
  if (config.flag("add_full_attention_sink_bias", false)) {
    add_further(shape, product_of(shape.layers - shape.window.layers, shape.heads));
  }
  shape.experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("n_shared_experts", 0) * shape.experts.d_ff;
  read_dense_layers(reading, 0);
  add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
  shape.drafting.windowed = shape.drafting.dense = shape.drafting.layers > 0;
}

/// Layers with a window may have other heads (attention_other_setting). The gate is one number per head.
void read_step3p5(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  if (config.has("num_attention_groups")) shape.kv_heads = config.required("num_attention_groups");
  shape.attention_bias = config.flag("attention_bias", false);
  shape.query_key_norm = true;
  read_window(reading, shape.layers / 2);
  if (const auto other = config.object("attention_other_setting"); other && shape.window.layers > 0) {
    shape.window.heads = other->whole_or("num_attention_heads", 0);
    shape.window.kv_heads = other->whole_or("num_attention_groups", 0);
    shape.window.head_dim = other->whole_or("head_dim", 0);
  }
  if (config.flag("use_head_wise_attn_gate", false)) {
    const double gates = product_of(shape.window.layers, window_heads(shape).heads) +
                         product_of(shape.layers - shape.window.layers, shape.heads);
    add_further(shape, gates * as_double(shape.d_model));
  }
  shape.experts = read_experts(config, first_key(config, {"moe_num_experts", "num_experts"}), "moe_intermediate_size",
                               first_key(config, {"moe_top_k", "num_experts_per_tok"}));
  shape.experts.shared_d_ff = config.whole_or("share_expert_dim", 0);
  read_dense_layers(reading, 1);
  if (const auto named = config.text("moe_layers_enum")) {
    shape.experts.dense_layers = shape.layers - 1 - std::count(named->begin(), named->end(), ',');
  }
  if (config.flag("use_moe_router_bias", true)) add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

void read_bailing_moe(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading);
  shape.attention_bias = config.flag("use_qkv_bias", false);
  shape.query_key_norm = config.flag("use_qk_norm", false);
  shape.experts = read_experts(config, "num_experts", "moe_intermediate_size");
  shape.experts.shared_d_ff = config.whole_or("num_shared_experts", 0) *
                              config.whole_or("moe_shared_expert_intermediate_size", shape.experts.d_ff);
  read_dense_layers(reading, 0);
  if (config.flag("moe_router_enable_expert_bias", false)) add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

void read_ernie4_5_moe(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.tied = true});
  shape.attention_bias = shape.bias = config.flag("use_bias", false);
  shape.experts = read_experts(config, "moe_num_experts", "moe_intermediate_size", "moe_k");
  shape.experts.shared_d_ff = config.whole_or("moe_num_shared_experts", 0) * shape.experts.d_ff;
  const std::int64_t first = config.whole_or("moe_layer_start_index", 1);
  const std::int64_t last = std::min(config.whole_or("moe_layer_end_index", shape.layers - 1), shape.layers - 1);
  const std::int64_t every = std::max<std::int64_t>(config.whole_or("moe_layer_interval", 1), 1);
  shape.experts.dense_layers = shape.layers - (last >= first ? (last - first) / every + 1 : 0);
  if (shape.experts.dense_layers == 0) shape.d_ff = 0;
  if (config.flag("moe_use_aux_free", true)) add_router_bias(shape);
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

}  // namespace foredraft::latency
