// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "latency/models/config_object.hpp"
#include "latency/models/model_shape.hpp"

/// What readers of config.json share: each adds one part to the shape of a reading. Numbers are those of untrusted
/// documents; a part out of range stays so and is rejected with the shape.
namespace foredraft::latency {

/// Names of keys and defaults of an architecture for keys that configs omit. A number of 0: the key is required.
struct DecoderKeys {
  bool tied = false;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads
  std::int64_t head_dim = 0;  ///< 0: hidden_size / heads
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  bool dense = true;  ///< layers have a dense block
  std::string_view d_ff = "intermediate_size";
};

/// Reads the keys of every decoder.
void read_decoder(FamilyReading& reading, const DecoderKeys& keys = {});

/// hidden_act and its other names.
void read_activation(FamilyReading& reading, std::string_view fallback);

/// The product of two numbers of a config.
[[nodiscard]] double product_of(std::int64_t a, std::int64_t b);

/// A whole number, at most 4e18: what is out of range stays out of range.
[[nodiscard]] std::int64_t whole_of(double value);

/// Adds parameters that are counted and not timed.
void add_further(ModelShape& shape, double parameters);

/// The value of the first of `keys` that the config has, else of the last one.
[[nodiscard]] std::string_view first_key(const ConfigObject& config, std::initializer_list<std::string_view> keys);

// ---- Lists with an entry for each layer. Further entries are those of drafting layers.

/// Nullopt if the key is no list.
[[nodiscard]] std::optional<std::vector<std::int64_t>> layer_numbers(const FamilyReading& reading,
                                                                     const ConfigObject& config, std::string_view key);

/// Layers that the list at `key` marks by a number other than 0; nullopt if the key is no list.
[[nodiscard]] std::optional<std::int64_t> marked_layers(const FamilyReading& reading, std::string_view key);

/// Layers that layer_types names `kind`; nullopt if there is no list. Kinds other than this one, full_attention,
/// linear_attention and sliding_attention are a problem.
[[nodiscard]] std::optional<std::int64_t> layers_of_kind(const FamilyReading& reading, std::string_view kind);

// ---- Attention.

/// Window of `tokens` for `layers`; no window if it is at least the context length.
void set_window(ModelShape& shape, std::int64_t tokens, std::int64_t layers);

/// sliding_window, for the layers that layer_types names or for `layers`.
void read_window(FamilyReading& reading, std::int64_t layers, std::int64_t default_tokens = 0);

/// Norms of queries and keys over all heads together: more parameters than one norm of a head.
void read_wide_query_key_norm(ModelShape& shape);

/// Latent attention by the keys of DeepSeek.
void read_latent(FamilyReading& reading);

/// The indexer of DeepSeek-V3.2: its queries from the compressed ones; one key, with a norm, and a weight of each head
/// from the hidden state. Layers may use the choice of one before (GLM-5.2). [DeepSeek2025]
void read_indexer(FamilyReading& reading);

// ---- Mixtures of experts.

/// The experts of a mixture, without those that are shared.
[[nodiscard]] Experts read_experts(const ConfigObject& config, std::string_view count, std::string_view d_ff,
                                   std::string_view per_token = "num_experts_per_tok");

/// Sets the layers with a dense block: those that mlp_layer_types or the list moe_layer_freq names, else the first
/// ones. Without any there is no d_ff.
void read_dense_layers(FamilyReading& reading, std::int64_t default_first);

/// Number of layers of the shape with a mixture.
[[nodiscard]] std::int64_t mixtures(const ModelShape& shape);

/// A bias added to each router output, used to choose experts but not to weight them.
void add_router_bias(ModelShape& shape);

/// Layers of multi-token prediction, with a note.
void read_drafting_layers(FamilyReading& reading, std::string_view key);

// ---- Readers that are not in config_families.cpp.

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

/// num_experts and related keys of Qwen, with the shared expert and its gate of one row.
void read_qwen_experts(FamilyReading& reading);

}  // namespace foredraft::latency
