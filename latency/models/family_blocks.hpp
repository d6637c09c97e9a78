// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// Functions that readers of config.json share; each adds a part to the shape. Numbers come from untrusted documents;
/// values out of range are kept, so that the check of the shape rejects them.
namespace foredraft::latency {

/// Key names of an architecture, and defaults for keys that configs omit. 0: the key is required.
struct DecoderKeys {
  bool tied = false;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: equal to heads
  std::int64_t head_dim = 0;  ///< 0: hidden_size / heads
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  bool dense = true;  ///< layers have a dense block
  std::string_view d_ff = "intermediate_size";
};

/// Reads the keys that all decoders have.
void read_decoder(FamilyReading& reading, const DecoderKeys& keys = {});

/// Reads hidden_act or one of its other names.
void read_activation(FamilyReading& reading, std::string_view fallback);

/// The product of two numbers of a config.
[[nodiscard]] double product_of(std::int64_t a, std::int64_t b);

/// Converts to an integer, limited to 4e18, which is still out of range.
[[nodiscard]] std::int64_t whole_of(double value);

/// Adds parameters that are counted but not part of timed passes.
void add_further(ModelShape& shape, double parameters);

/// The first of `keys` that the config has, else the last one.
[[nodiscard]] std::string_view first_key(const ConfigObject& config, std::initializer_list<std::string_view> keys);

// ---- Lists with an entry for each layer. Additional entries belong to drafting layers.

/// nullopt if the key is not a list.
[[nodiscard]] std::optional<std::vector<std::int64_t>> layer_numbers(const FamilyReading& reading,
                                                                     const ConfigObject& config, std::string_view key);

/// Number of layers with a nonzero number in the list at `key`; nullopt if the key is not a list.
[[nodiscard]] std::optional<std::int64_t> marked_layers(const FamilyReading& reading, std::string_view key);

/// Number of layers of this `kind` in layer_types; nullopt if there is no list. A kind other than this one,
/// full_attention, linear_attention and sliding_attention is a problem.
[[nodiscard]] std::optional<std::int64_t> layers_of_kind(const FamilyReading& reading, std::string_view kind);

// ---- Attention.

/// Sets a window of `tokens` for `layers` layers; none if `tokens` is at least the context length.
void set_window(ModelShape& shape, std::int64_t tokens, std::int64_t layers);

/// Reads sliding_window, for the layers marked in layer_types or for `layers` layers.
void read_window(FamilyReading& reading, std::int64_t layers, std::int64_t default_tokens = 0);

/// Sets norms of queries and keys over all heads together, which have more parameters than a norm per head.
void read_wide_query_key_norm(ModelShape& shape);

/// Reads latent attention with DeepSeek's keys.
void read_latent(FamilyReading& reading);

/// Reads the indexer of DeepSeek-V3.2. Its queries come from the compressed queries; its single key (with a norm) and
/// the weights of its heads come from the hidden state. Layers may reuse the selection of an earlier layer (GLM-5.2).
/// [DeepSeek2025]
void read_indexer(FamilyReading& reading);

// ---- Mixtures of experts.

/// Reads the routed experts of a mixture.
[[nodiscard]] Experts read_experts(const ConfigObject& config, std::string_view count, std::string_view d_ff,
                                   std::string_view per_token = "num_experts_per_tok");

/// Sets the layers with a dense block: those marked in mlp_layer_types or in the list moe_layer_freq, else the first
/// ones. If there are none, d_ff is 0.
void read_dense_layers(FamilyReading& reading, std::int64_t default_first);

/// Number of layers with a mixture.
[[nodiscard]] std::int64_t mixtures(const ModelShape& shape);

/// Adds a bias of the router outputs that is used to choose experts but not to weight them.
void add_router_bias(ModelShape& shape);

/// Reads layers for multi-token prediction and adds a note.
void read_drafting_layers(FamilyReading& reading, std::string_view key);

// ---- Readers that are not in config_families.cpp.

void read_mixtral(FamilyReading& reading);
void read_gpt_oss(FamilyReading& reading);
void read_glm4_moe(FamilyReading& reading);
void read_llama4(FamilyReading& reading);
void read_minimax_m2(FamilyReading& reading);
void read_minimax_m3(FamilyReading& reading);
void read_mimo_v2(FamilyReading& reading);
void read_step3p5(FamilyReading& reading);      ///< also Step-3.7
void read_bailing_moe(FamilyReading& reading);  ///< Ling
void read_ernie4_5_moe(FamilyReading& reading);
void read_deepseek(FamilyReading& reading);      ///< V2
void read_deepseek_v3(FamilyReading& reading);   ///< also Kimi-K2, GLM-4.7-Flash
void read_deepseek_v32(FamilyReading& reading);  ///< also GLM-5
void read_deepseek_v4(FamilyReading& reading);
void read_longcat_flash(FamilyReading& reading);
void read_kimi_linear(FamilyReading& reading);  ///< also Kimi-K3
void read_minimax(FamilyReading& reading);      ///< Text-01, M1
void read_qwen3_next(FamilyReading& reading);   ///< also Qwen3.5
void read_nemotron_h(FamilyReading& reading);   ///< also Nemotron 3
void read_lfm2(FamilyReading& reading);

/// Reads num_experts and related keys of Qwen, including the shared expert and its gate of one row.
void read_qwen_experts(FamilyReading& reading);

}  // namespace foredraft::latency
