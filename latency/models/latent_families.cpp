// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "latency/models/family_blocks.hpp"
#include "latency/models/model_shape.hpp"

/// Families whose attention reads one vector per token: latent attention and its successors by DeepSeek.
namespace foredraft::latency {
namespace {

/// Reads routed and shared experts with DeepSeek's keys.
void read_deepseek_experts(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  Experts& experts = reading.shape.experts;
  experts = read_experts(config, "n_routed_experts", "moe_intermediate_size");
  experts.shared_d_ff = config.whole_or("n_shared_experts", 0) * experts.d_ff;
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

}  // namespace

void read_deepseek(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  read_decoder(reading);
  reading.shape.attention_bias = config.flag("attention_bias", false);
  read_latent(reading);
  if (!config.has("n_routed_experts")) return;
  read_deepseek_experts(reading);
  read_dense_layers(reading, 0);
}

void read_deepseek_v3(FamilyReading& reading) {
  read_deepseek(reading);
  if (reading.config.text("topk_method").value_or("noaux_tc") == "noaux_tc") add_router_bias(reading.shape);
}

void read_deepseek_v32(FamilyReading& reading) {
  read_deepseek_v3(reading);
  read_indexer(reading);
}

namespace {

/// Parameters of the compression of `ratio` tokens to one entry: two projections and biases by position, with twice the
/// width if tokens of neighboring entries overlap, and a norm.
double compressor_parameters(const ModelShape& shape, std::int64_t ratio, std::int64_t dim, bool overlap) {
  const std::int64_t width = (overlap ? 2 : 1) * dim;
  return product_of(width, 2 * shape.d_model + ratio) + as_double(dim);
}

/// Reads layers by compress_ratios. 0: only a window; 4: an indexer over entries of overlapping tokens; more: all
/// entries. Every layer has the window.
void read_compressed_attention(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  constexpr std::int64_t indexed_ratio = 4;
  const std::int64_t window = config.required("sliding_window");
  const auto ratios = layer_numbers(reading, config, "compress_ratios");
  if (!ratios) return config.reject("compress_ratios", "missing", "it states the compression of each layer");
  std::map<std::int64_t, std::int64_t> layers;
  for (const std::int64_t ratio : *ratios) ++layers[ratio];
  for (const auto& [ratio, count] : layers) {
    if (ratio == 0) {
      set_window(shape, window, count);
      continue;
    }
    const bool indexed = ratio == indexed_ratio;
    double parameters = compressor_parameters(shape, ratio, shape.head_dim, indexed);
    SparseAttention sparse{.layers = count, .tokens_per_entry = ratio, .local_tokens = window};
    if (indexed) {
      sparse.selected_entries = config.required("index_topk");
      sparse.index_heads = config.required("index_n_heads");
      sparse.index_dim = config.required("index_head_dim");
      parameters += as_double(shape.query_rank) * product_of(sparse.index_heads, sparse.index_dim) +
                    product_of(shape.d_model, sparse.index_heads) +
                    compressor_parameters(shape, ratio, sparse.index_dim, true);
    }
    sparse.layer_parameters = whole_of(parameters);
    shape.sparse.push_back(sparse);
  }
}

}  // namespace

/// One vector of head_dim per token is key and value of all heads. Queries have a low-rank projection, outputs a
/// low-rank projection in groups. Blocks are linked by hyper-connections. The first num_hash_layers choose experts by a
/// table of tokens, which does not count as a weight.
void read_deepseek_v4(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.kv_heads = 1, .dense = false});
  shape.attention_bias = config.flag("attention_bias", false);
  shape.single_cache = true;
  shape.query_rank = config.required("q_lora_rank");
  shape.output_groups = config.required("o_groups");
  shape.output_rank = config.required("o_lora_rank");
  shape.residual_streams = config.whole_or("hc_mult", 1);
  read_compressed_attention(reading);
  read_deepseek_experts(reading);
  const std::int64_t hashed = std::min(config.whole_or("num_hash_layers", 0), shape.layers);
  add_further(shape, product_of(shape.layers - hashed, shape.experts.count));
  // Norm of the cached vector, sinks of attention.
  add_further(shape, product_of(shape.layers, shape.head_dim + shape.heads));
  if (shape.residual_streams > 1) {
    // Bias and scales of the mixing at each block, and the final mixing before the vocabulary projection.
    const std::int64_t streams = shape.residual_streams;
    constexpr std::int64_t scales = 3;
    add_further(shape, product_of(2 * shape.layers, (2 + streams) * streams + scales) +
                           product_of(streams * streams, shape.d_model) + as_double(streams + 1));
  }
}

/// A layer has latent attention and a dense block twice, and one parallel mixture. Some experts return their input, so
/// a token uses fewer experts with weights. [Meituan2025]
void read_longcat_flash(FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  ModelShape& shape = reading.shape;
  read_decoder(reading, {.layers = config.required("num_layers"), .d_ff = "ffn_hidden_size"});
  shape.attention_bias = config.flag("attention_bias", false);
  read_latent(reading);
  const std::int64_t blocks = shape.layers;
  shape.layers = 3 * blocks;
  shape.attention_layers = 2 * blocks;
  shape.experts = read_experts(config, "n_routed_experts", "expert_ffn_hidden_size", "moe_topk");
  shape.experts.dense_layers = 2 * blocks;
  const std::int64_t zero = config.whole_or("zero_expert_num", 0);
  const std::int64_t all = shape.experts.count + zero;
  if (zero > 0) {
    const std::int64_t used = shape.experts.per_token;
    shape.experts.per_token = std::max<std::int64_t>((used * shape.experts.count + all / 2) / all, 1);
    reading.notes.push_back(fmt::format("zero_expert_num: a token uses {} experts with weights, its share of {}",
                                        shape.experts.per_token, used));
  }
  add_further(shape, product_of(blocks * zero, shape.d_model) + product_of(blocks, all));
  reading.notes.push_back(fmt::format("num_layers: each of {} counts as two of attention and three blocks", blocks));
  read_drafting_layers(reading, "num_nextn_predict_layers");
}

}  // namespace foredraft::latency
