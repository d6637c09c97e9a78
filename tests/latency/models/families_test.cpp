// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <string>

#include "foredraft/errors.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/operations/model_bytes.hpp"
#include "latency/operations/step_operations.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

HuggingFaceModel family(const std::string& members) { return parse_hugging_face("{" + members + "}", "config.json"); }

void check_step_bytes(const ModelShape& shape, double parameters_of_a_step) {
  CHECK(step_parameters(shape) == parameters_of_a_step);
  CHECK(step_bytes(shape, {}) == 2.0 * parameters_of_a_step);
}

const std::string sparse_latent = R"("hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 1024,
    "num_hidden_layers": 8, "first_k_dense_replace": 2, "n_routed_experts": 32, "n_shared_experts": 1,
    "num_experts_per_tok": 4, "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": 768,
    "kv_lora_rank": 256, "qk_nope_head_dim": 96, "qk_rope_head_dim": 32, "v_head_dim": 128, "index_head_dim": 64,
    "index_n_heads": 8, "index_topk": 512, "num_nextn_predict_layers": 1, "vocab_size": 32000,
    "max_position_embeddings": 65536, "hidden_act": "silu")";

constexpr double latent_layer =
    2048.0 * 768 + 768 + 768.0 * 16 * 128 + 2048.0 * 288 + 256 + 256.0 * 16 * (96 + 128) + 16.0 * 128 * 2048;
constexpr double indexer = 768.0 * 8 * 64 + 2048.0 * 64 + 2.0 * 64 + 2048.0 * 8;
constexpr double layer_norms = 2.0 * 2048;
constexpr double one_expert = 3.0 * 2048 * 1024;

}  // namespace

TEST_CASE("GLM-5 and DeepSeek-V3.2: latent attention with an indexer whose keys are cached") {
  for (const char* type : {"glm_moe_dsa", "deepseek_v32"}) {
    const HuggingFaceModel model = family("\"model_type\": \"" + std::string(type) + "\", " + sparse_latent);
    const ModelShape& shape = model.shape;
    const double shared = 8 * (latent_layer + indexer + layer_norms) + 2 * 3.0 * 2048 * 6144 + 6 * 2048.0 * 32 + 2048;
    const double table = 32000.0 * 2048;
    CHECK(parameters(shape) == shared + 6 * 33 * one_expert + 2 * table + 6 * 32);
    check_step_bytes(shape, shared + 6 * 5 * one_expert + table);
    CHECK(model.shape.drafting.layers == 1);
    CHECK(kv_bytes_per_token(shape, {}) == 8 * (2.0 * (256 + 32) + 64));
    const ForwardPassOperations pass(shape, Role::decoder_pass, {});
    const auto attention = [&](std::int64_t context) {
      double bytes = 0.0;
      for (const StepOperator& one : pass.operators({1, 1, context})) {
        if (one.name == "sparse attention") bytes += one.count * one.bytes;
      }
      return bytes;
    };
    CHECK(attention(255) < attention(8191));
    CHECK(attention(8191) == attention(65535));
  }
}

TEST_CASE("layers without an indexer of their own use the choice of an earlier one") {
  const std::string listed = R"("model_type": "glm_moe_dsa", "indexer_types": ["full", "full", "shared", "shared",
      "full", "shared", "shared", "shared"], )" +
                             sparse_latent;
  const std::string counted =
      R"("model_type": "glm_moe_dsa", "index_topk_freq": 3, "index_skip_topk_offset": 2, )" + sparse_latent;
  const ModelShape shape = family(listed).shape;
  REQUIRE(shape.sparse.size() == 2);
  CHECK(shape.sparse[0].layers == 3);
  CHECK(static_cast<double>(shape.sparse[0].layer_parameters) == indexer);
  CHECK(shape.sparse[1] == SparseAttention{.layers = 5, .selected_entries = 512});
  CHECK(family(counted).shape.sparse[0].layers == 4);
  CHECK(family("\"mlp_layer_types\": [\"dense\", \"sparse\", \"sparse\", \"sparse\", \"sparse\", \"sparse\", "
               "\"sparse\", \"sparse\"], " +
               listed)
            .shape.experts.dense_layers == 1);
  CHECK_THROWS_MATCHES(
      family("\"indexer_types\": [\"full\", \"half\"], \"model_type\": \"glm_moe_dsa\", " + sparse_latent), DomainError,
      Says("config.json: indexer_types: names 2 layers\nconfig.json: indexer_types: \"half\" is not known"));
}

TEST_CASE("DeepSeek-V4: one cached vector per token, compressed by layer, hyper-connections and output groups") {
  const HuggingFaceModel model = family(R"("model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 5,
      "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 32, "qk_rope_head_dim": 16, "q_lora_rank": 24,
      "o_groups": 2, "o_lora_rank": 20, "hc_mult": 4, "moe_intermediate_size": 48, "n_routed_experts": 10,
      "n_shared_experts": 1, "num_experts_per_tok": 2, "num_hash_layers": 1, "sliding_window": 16,
      "index_n_heads": 3, "index_head_dim": 8, "index_topk": 12, "num_nextn_predict_layers": 1, "vocab_size": 100,
      "max_position_embeddings": 4096, "compress_ratios": [0, 4, 4, 128, 4, 0])");
  const ModelShape& shape = model.shape;
  const double attention = 64.0 * (24 + 32) + 24 + 24.0 * 8 * 32 + 2 * 128.0 * 20 + 40.0 * 64;
  const double overlapping = 2 * 64.0 * (2 * 32) + 4.0 * 64 + 32;
  const double chooses = 24.0 * 3 * 8 + 64.0 * 3 + 2 * 64.0 * (2 * 8) + 4.0 * 16 + 8;
  const double compresses = 2 * 64.0 * 32 + 128.0 * 32 + 32;
  const double mixing = 10 * 24.0 * 4 * 64;
  const double expert = 3.0 * 64 * 48;
  const double read = 5 * (attention + 2 * 64 + 3 * expert + 64.0 * 10) + 3 * (overlapping + chooses) + compresses +
                      mixing + 64 + 100.0 * 64;
  CHECK(step_parameters(shape) == read);
  CHECK(step_bytes(shape, {}) == 2 * (read - mixing) + 4 * mixing);
  const double further = 4.0 * 10 + 5 * (32 + 8) + 10 * (24 + 3) + 16.0 * 64 + 5;
  CHECK(parameters(shape) == read + 5 * 8 * expert + 100.0 * 64 + further);
  CHECK(shape.window == SlidingWindow{.tokens = 16, .layers = 1});
  REQUIRE(shape.sparse.size() == 2);
  CHECK(shape.sparse[0].layers == 3);
  CHECK(shape.sparse[0].selected_entries == 12);
  CHECK(shape.sparse[1].tokens_per_entry == 128);
  CHECK(shape.sparse[1].index_heads == 0);
  CHECK(kv_bytes_per_token(shape, {}) == 3 * (64.0 + 8) / 4 + 64.0 / 128);
  CHECK(model.shape.drafting.layers == 1);
}

TEST_CASE("Llama 4: mixtures at every second layer, dense blocks of another width, attention in chunks") {
  const std::string text = R"("model_type": "llama4_text", "hidden_size": 32, "head_dim": 8, "num_attention_heads": 8,
      "num_key_value_heads": 2, "num_hidden_layers": 8, "intermediate_size": 24, "intermediate_size_mlp": 40,
      "interleave_moe_layer_step": 2, "num_local_experts": 6, "num_experts_per_tok": 1, "attention_chunk_size": 64,
      "use_qk_norm": true, "vocab_size": 50, "max_position_embeddings": 1024, "hidden_act": "silu")";
  const ModelShape shape = family("\"model_type\": \"llama4\", \"text_config\": {" + text + "}").shape;
  const double attention = 32.0 * (64 + 2 * 16) + 64.0 * 32;
  check_step_bytes(shape, 8 * (attention + 64) + 4 * 3.0 * 32 * 40 + 4 * (2 * 3.0 * 32 * 24 + 32.0 * 6) + 32 + 1600);
  CHECK(shape.window == SlidingWindow{.tokens = 64, .layers = 6});
  CHECK(family(text + R"(, "no_rope_layers": [1, 1, 0, 1, 1, 0, 1, 1])").shape.window.layers == 6);
  CHECK(family(text + R"(, "interleave_moe_layer_step": 1)").shape.experts.dense_layers == 0);
}

TEST_CASE("MiMo-V2: windows with heads of their own, values of another width") {
  const std::string members = R"("model_type": "mimo_v2_flash", "num_hidden_layers": 4, "hidden_size": 32,
      "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 12, "v_head_dim": 8, "intermediate_size": 64,
      "vocab_size": 50, "max_position_embeddings": 1024, "sliding_window": 16, "swa_num_attention_heads": 8,
      "swa_num_key_value_heads": 2, "swa_head_dim": 12, "swa_v_head_dim": 8, "hybrid_layer_pattern": [0, 1, 1, 0],
      "moe_layer_freq": [0, 1, 1, 1], "moe_intermediate_size": 20, "n_routed_experts": 6, "n_shared_experts": null,
      "num_experts_per_tok": 2, "add_swa_attention_sink_bias": true)";
  const ModelShape shape = family(members).shape;
  const double full = 32.0 * (96 + 12 + 8) + 64.0 * 32, windowed = 32.0 * (96 + 24 + 16) + 64.0 * 32;
  const double read = 2 * full + 2 * windowed + 4 * 64 + 3.0 * 32 * 64 + 3 * (2 * 3.0 * 32 * 20 + 32.0 * 6) + 32 + 1600;
  check_step_bytes(shape, read);
  CHECK(parameters(shape) == read + 3 * 4 * 3.0 * 32 * 20 + 1600 + 2 * 8 + 3 * 6);
  CHECK(kv_bytes_per_token(shape, {}) == 2 * 2.0 * (12 + 8));
  CHECK_THROWS_MATCHES(family(members + R"(, "moe_layer_freq": [0, 1])"), DomainError,
                       Says("config.json: moe_layer_freq: names 2 layers"));
}

TEST_CASE("Kimi-K3: delta attention with states, gated latent attention, experts in a latent space") {
  const ModelShape shape = family(R"("model_type": "kimi_linear", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 96, "q_lora_rank": 24,
      "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "mla_use_output_gate": true,
      "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4], "num_heads": 4, "head_dim": 16,
      "short_conv_kernel_size": 4, "use_full_rank_gate": true}, "num_experts": 10, "num_experts_per_token": 2,
      "moe_intermediate_size": 20, "routed_expert_hidden_size": 32, "latent_moe_use_norm": true,
      "num_shared_experts": 2, "first_k_dense_replace": 1, "attn_res_block_size": 2, "vocab_size": 100,
      "hidden_act": "situ", "max_position_embeddings": 1024)")
                               .shape;
  const double delta = 5 * 64.0 * 64 + 3 * 64.0 * 4 + 64.0 * 16 + 16.0 * 64 + 64.0 * 4 + 64 + 4 + 16;
  const double latent = 64.0 * (24 + 16 + 4) + 24 + 16 + 24.0 * 4 * 12 + 16.0 * 4 * 16 + 2 * 32.0 * 64;
  const double mixture = 2 * 3.0 * 32 * 20 + 2 * 64.0 * 32 + 64.0 * 10 + 3.0 * 64 * 40;
  const double read = 3 * delta + latent + 4 * 128 + 3.0 * 64 * 96 + 3 * mixture + 64 + 6400;
  check_step_bytes(shape, read);
  CHECK(parameters(shape) == read + 3 * 8 * 3.0 * 32 * 20 + 6400 + 3 * (10 + 32) + (4 * 4 + 2) * 64);
  CHECK(shape.linear.state_elements == 4 * 16 * 16 + 3 * 3 * 64);
  CHECK(kv_bytes_per_token(shape, {}) == 2.0 * 20);
}

TEST_CASE("MiniMax-M3: blocks of tokens chosen by an indexer for each group of heads") {
  const std::string members = R"("model_type": "minimax_m3", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 24,
      "dense_intermediate_size": 96, "num_local_experts": 10, "num_experts_per_tok": 2, "n_shared_experts": 1,
      "shared_intermediate_size": 24, "moe_layer_freq": [0, 1, 1, 1], "use_qk_norm": true, "use_routing_bias": true,
      "hidden_act": "swigluoai", "vocab_size": 100, "max_position_embeddings": 4096, "num_nextn_predict_layers": 1,
      "sparse_attention_config": {"use_sparse_attention": true, "sparse_attention_freq": [0, 1, 1, 1],
      "sparse_num_index_heads": 2, "sparse_index_dim": 8, "sparse_topk_blocks": 3, "sparse_block_size": 16})";
  const ModelShape shape = family(members).shape;
  const double attention = 64.0 * (128 + 64) + 128.0 * 64 + 2 * 16;
  const double choice = 64.0 * 3 * 8 + 2 * 8;
  const double mixture = 3 * 3.0 * 64 * 24 + 64.0 * 10;
  check_step_bytes(shape, 4 * (attention + 128) + 3 * choice + 3.0 * 64 * 96 + 3 * mixture + 64 + 6400);
  REQUIRE(shape.sparse.size() == 1);
  CHECK(shape.sparse[0].selected_entries == 48);
}

TEST_CASE("Nemotron: experts in a latent space, layers found by architecture search, some without attention") {
  const ModelShape latent = family(R"("model_type": "nemotron_h", "hidden_size": 64, "mlp_hidden_act": "relu2",
      "hybrid_override_pattern": "ME*E", "num_hidden_layers": 4, "intermediate_size": 24, "moe_intermediate_size": 24,
      "moe_shared_expert_intermediate_size": 40, "moe_latent_size": 16, "n_routed_experts": 10, "n_shared_experts": 1,
      "num_experts_per_tok": 2, "mamba_head_dim": 8, "mamba_num_heads": 16, "n_groups": 2, "ssm_state_size": 4,
      "conv_kernel": 4, "head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100)")
                                .shape;
  const double mamba = 64.0 * (128 + 144 + 16) + 144.0 * 4 + 144 + 3 * 16 + 128 + 128.0 * 64;
  const double mixture = 2 * 2.0 * 16 * 24 + 2 * 64.0 * 16 + 2.0 * 64 * 40 + 64.0 * 10;
  check_step_bytes(latent, mamba + 64.0 * (64 + 64) + 64.0 * 64 + 2 * mixture + 4 * 64 + 64 + 6400);

  const ModelShape searched = family(R"("model_type": "nemotron-nas", "hidden_size": 768, "num_hidden_layers": 3,
      "num_attention_heads": 8, "num_key_value_heads": null, "intermediate_size": null, "vocab_size": 100,
      "hidden_act": "silu", "block_configs": [
      {"attention": {"n_heads_in_group": 4, "no_op": false}, "ffn": {"ffn_mult": 1.0, "no_op": false}},
      {"attention": {"n_heads_in_group": null, "no_op": true}, "ffn": {"ffn_mult": 2.0, "no_op": false}},
      {"attention": {"n_heads_in_group": 4, "no_op": false}, "ffn": {"ffn_mult": null, "no_op": true}}])")
                                  .shape;
  CHECK(searched.kv_heads == 2);
  CHECK(attention_layers(searched) == 2);
  CHECK(feed_forward_layers(searched) == 2);
  CHECK(searched.d_ff == (512 + 1024) / 2);
  const double attention = 768.0 * (768 + 2 * 192) + 768.0 * 768;
  CHECK(parameters(searched) == 2 * attention + 3.0 * 768 * (512 + 1024) + 4 * 768 + 768 + 2 * 100.0 * 768);
}

TEST_CASE("Step-3.5, LongCat and LFM2 have the parameters of their layers") {
  const ModelShape step = family(R"("model_type": "step3p5", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 4, "num_attention_groups": 2, "head_dim": 16, "intermediate_size": 96, "vocab_size": 100,
      "sliding_window": 8, "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention"], "attention_other_setting": {"num_attention_heads": 6,
      "num_attention_groups": 2, "head_dim": 16}, "use_head_wise_attn_gate": true, "moe_num_experts": 10,
      "moe_top_k": 2, "moe_intermediate_size": 20, "share_expert_dim": 20, "moe_layers_enum": "1,2,3",
      "max_position_embeddings": 1024)")
                              .shape;
  const double full = 64.0 * (64 + 64) + 64.0 * 64, windowed = 64.0 * (96 + 64) + 96.0 * 64;
  CHECK(parameters(step) == 2 * full + 2 * windowed + 4 * (32 + 128) + 2 * 64.0 * (4 + 6) + 3.0 * 64 * 96 +
                                3 * (11 * 3.0 * 64 * 20 + 64.0 * 10 + 10) + 64 + 2 * 6400);

  const ModelShape longcat = family(R"("model_type": "longcat_flash", "hidden_size": 64, "num_layers": 2,
      "num_attention_heads": 4, "ffn_hidden_size": 96, "expert_ffn_hidden_size": 20, "n_routed_experts": 8,
      "zero_expert_num": 4, "moe_topk": 3, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
      "qk_rope_head_dim": 4, "v_head_dim": 8, "vocab_size": 100)")
                                 .shape;
  CHECK(longcat.experts.per_token == 2);
  const double latent = 64.0 * (24 + 16 + 4) + 24 + 16 + 24.0 * 4 * 12 + 16.0 * 4 * 16 + 32.0 * 64;
  const double norms = (4 + 4 + 2) * 64.0;
  CHECK(parameters(longcat) ==
        4 * latent + 4 * 3.0 * 64 * 96 + 2 * (8 * 3.0 * 64 * 20 + 64.0 * 12 + 12) + norms + 64 + 2 * 6400);

  const ModelShape lfm2 = family(R"("model_type": "lfm2", "hidden_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 4, "num_key_value_heads": 2, "block_ff_dim": 150, "block_multiple_of": 32,
      "block_ffn_dim_multiplier": 1.0, "conv_L_cache": 3, "layer_types": ["conv", "full_attention", "conv"],
      "vocab_size": 100)")
                              .shape;
  const double convolution = 4 * 64.0 * 64 + 64.0 * 3;
  CHECK(lfm2.d_ff == 128);
  CHECK(parameters(lfm2) ==
        2 * convolution + 64.0 * (64 + 64) + 64.0 * 64 + 32 + 3 * (3.0 * 64 * 128 + 128) + 64 + 6400);
}

TEST_CASE("every family counts or rejects its smallest and largest numbers") {
  const std::string keys = R"(
      attention_chunk_size attn_res_block_size block_multiple_of conv_kernel decoder_sparse_step
      expert_ffn_hidden_size ffn_hidden_size first_k_dense_replace global_head_dim hc_mult head_dim hidden_size
      index_head_dim index_n_heads index_topk index_topk_freq interleave_moe_layer_step intermediate_size
      kv_lora_rank linear_conv_kernel_dim linear_key_head_dim linear_num_key_heads linear_num_value_heads
      linear_value_head_dim mamba_head_dim mamba_num_heads max_position_embeddings moe_intermediate_size moe_k
      moe_latent_size moe_num_experts moe_num_shared_experts moe_topk n_groups n_routed_experts n_shared_experts
      num_attention_heads num_experts num_experts_per_tok num_experts_per_token num_hash_layers num_hidden_layers
      num_key_value_heads num_layers num_local_experts num_nextn_predict_layers num_shared_experts o_groups
      o_lora_rank q_lora_rank qk_nope_head_dim qk_rope_head_dim routed_expert_hidden_size
      shared_expert_intermediate_size shared_intermediate_size sliding_window ssm_state_size swa_head_dim
      swa_num_key_value_heads top_k_experts v_head_dim vocab_size zero_expert_num)";
  for (const std::string& type : hugging_face_architectures()) {
    for (const char* number : {"0", "1", "2", "10000000"}) {
      std::string text = R"({"hybrid_override_pattern": "M*", "compress_ratios": [4, 128],
          "block_configs": [{"attention": {"n_heads_in_group": 1}, "ffn": {"ffn_mult": 10000000}}, {}],
          "linear_attn_config": {"kda_layers": [1], "num_heads": 10000000, "head_dim": 10000000,
          "short_conv_kernel_size": 10000000}, "sparse_attention_config": {"sparse_num_index_heads": 10000000,
          "sparse_index_dim": 10000000, "sparse_topk_blocks": 10000000, "sparse_block_size": 10000000})";
      std::istringstream words(keys);
      for (std::string key; words >> key;) text += ", \"" + key + "\": " + number;
      INFO(type << " of " << number);
      try {
        const ModelShape shape = parse_hugging_face(text + "}", "config.json", type).shape;
        CHECK(std::isfinite(parameters(shape)));
        CHECK(std::isfinite(step_bytes(shape, {})));
      } catch (const DomainError& error) {
        CHECK_THAT(error.what(), Catch::StartsWith("config.json: "));
      }
    }
  }
}

TEST_CASE("the text model is found inside a thinker part, and under other names") {
  const std::string text = R"({"model_type": "qwen3", "hidden_size": 64, "head_dim": 16, "num_attention_heads": 4,
      "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 100})";
  CHECK(family(R"("model_type": "omni", "thinker_config": {"model_type": "thinker", "text_config": )" + text + "}")
            .shape.d_model == 64);
  CHECK(family(R"("model_type": "vision", "llm_config": )" + text).shape.d_model == 64);
}

TEST_CASE("an unknown architecture is read as the assumed one, and the message names the one with its keys") {
  const std::string members = "\"model_type\": \"glm_moe_next\", " + sparse_latent;
  CHECK_THROWS_WITH(family(members),
                    Catch::Contains("its keys are those of deepseek_v32") && Catch::Contains("--assume deepseek_v32"));
  const HuggingFaceModel assumed = parse_hugging_face("{" + members + "}", "config.json", "glm_moe_dsa");
  CHECK(parameters(assumed.shape) == parameters(family("\"model_type\": \"glm_moe_dsa\", " + sparse_latent).shape));
  CHECK(assumed.notes.front() == "model_type: \"glm_moe_next\" is read as glm_moe_dsa, which is assumed");
  CHECK_THROWS_MATCHES(parse_hugging_face("{" + members + "}", "config.json", "glm_dsa"), DomainError,
                       Says("config.json: model_type: unknown architecture \"glm_dsa\""));
  CHECK_THROWS_WITH(family("\"model_type\": \"bert\", \"hidden_size\": 8"),
                    Catch::Contains("no known one has all keys"));
}

}  // namespace foredraft::latency
