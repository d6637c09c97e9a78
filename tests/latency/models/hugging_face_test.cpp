// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "foredraft/errors.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

/// An object of `members` and `more`, which may replace or add members: the last of equal keys is used.
std::string config_of(const std::string& members, const std::string& more = "") {
  return "{" + members + (more.empty() ? "" : ", ") + more + "}";
}

HuggingFaceModel parsed(const std::string& members, const std::string& more = "") {
  return parse_hugging_face(config_of(members, more), "config.json");
}

std::string problems_of(const std::string& text) {
  return rejection<DomainError>([&] { return parse_hugging_face(text, "config.json"); });
}

const std::string qwen3_06b = R"("model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_act": "silu",
  "attention_bias": false, "hidden_size": 1024, "head_dim": 128, "intermediate_size": 3072, "num_hidden_layers": 28,
  "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 151936, "tie_word_embeddings": true,
  "max_position_embeddings": 40960, "max_window_layers": 28, "sliding_window": null, "use_sliding_window": false,
  "torch_dtype": "bfloat16", "rope_scaling": null)";
const std::string llama_8b = R"("model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu",
  "attention_bias": false, "mlp_bias": false, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": false,
  "max_position_embeddings": 131072, "torch_dtype": "bfloat16")";
const std::string qwen3_30b = R"("model_type": "qwen3_moe", "hidden_act": "silu", "hidden_size": 2048, "head_dim": 128,
  "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
  "decoder_sparse_step": 1, "mlp_only_layers": [], "num_hidden_layers": 48, "num_attention_heads": 32,
  "num_key_value_heads": 4, "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": false)";
const std::string mistral_7b = R"("model_type": "mistral", "hidden_act": "silu", "hidden_size": 4096,
  "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
  "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": 4096, "tie_word_embeddings": false)";
const std::string mixtral = R"("model_type": "mixtral", "hidden_act": "silu", "hidden_size": 4096,
  "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 32768,
  "sliding_window": null)";
const std::string deepseek_v3 = R"("model_type": "deepseek_v3", "hidden_act": "silu", "hidden_size": 7168,
  "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "num_hidden_layers": 61,
  "num_attention_heads": 128, "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "vocab_size": 129280,
  "max_position_embeddings": 163840,
  "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})";
const std::string gpt_oss_20b = R"("model_type": "gpt_oss", "hidden_act": "silu", "attention_bias": true,
  "hidden_size": 2880, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4,
  "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8, "sliding_window": 128,
  "vocab_size": 201088, "max_position_embeddings": 131072,
  "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]})";
const std::string gemma_3_12b_text = R"("model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360,
  "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024)";
const std::string glm_45 = R"("model_type": "glm4_moe", "hidden_act": "silu", "attention_bias": true,
  "use_qk_norm": true, "hidden_size": 5120, "head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
  "n_routed_experts": 160, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
  "num_hidden_layers": 92, "num_attention_heads": 96, "num_key_value_heads": 8, "num_nextn_predict_layers": 1,
  "vocab_size": 151552, "max_position_embeddings": 131072)";
const std::string minimax_m2 = R"("model_type": "minimax_m2", "hidden_act": "silu", "hidden_size": 3072,
  "head_dim": 128, "intermediate_size": 1536, "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": true,
  "use_routing_bias": true, "shared_intermediate_size": 0, "num_hidden_layers": 62, "num_attention_heads": 48,
  "num_key_value_heads": 8, "use_mtp": true, "num_mtp_modules": 3, "vocab_size": 200064,
  "max_position_embeddings": 196608)";
const std::string qwen3_next = R"("model_type": "qwen3_next", "hidden_act": "silu", "hidden_size": 2048,
  "head_dim": 256, "intermediate_size": 5120, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
  "num_experts": 512, "num_experts_per_tok": 10, "decoder_sparse_step": 1, "mlp_only_layers": [],
  "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
  "linear_num_value_heads": 32, "linear_value_head_dim": 128, "num_hidden_layers": 48, "num_attention_heads": 16,
  "num_key_value_heads": 2, "vocab_size": 151936, "max_position_embeddings": 262144)";
const std::string nemotron_3 = R"("model_type": "nemotron_h", "mlp_hidden_act": "relu2", "hidden_size": 2688,
  "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", "intermediate_size": 1856,
  "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "n_routed_experts": 128,
  "n_shared_experts": 1, "num_experts_per_tok": 6, "mamba_head_dim": 64, "mamba_num_heads": 64, "n_groups": 8,
  "ssm_state_size": 128, "conv_kernel": 4, "use_conv_bias": true, "head_dim": 128, "num_hidden_layers": 52,
  "num_attention_heads": 32, "num_key_value_heads": 2, "vocab_size": 131072, "max_position_embeddings": 262144,
  "time_step_limit": [0.0, Infinity])";
const std::string eagle3_8b = R"("model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu",
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 1, "num_attention_heads": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "draft_vocab_size": 32000, "max_position_embeddings": 2048,
  "torch_dtype": "float16")";

/// Every number that affects a cost.
void check_like_shipped(const ModelShape& read, std::string_view name) {
  const ModelShape& shipped = find_model(model_registry(), name);
  INFO(name);
  CHECK(read.architecture == shipped.architecture);
  CHECK(read.layers == shipped.layers);
  CHECK(read.d_model == shipped.d_model);
  CHECK(read.heads == shipped.heads);
  CHECK(read.kv_heads == shipped.kv_heads);
  CHECK(read.head_dim == shipped.head_dim);
  CHECK(read.d_ff == shipped.d_ff);
  CHECK(read.gated == shipped.gated);
  CHECK(read.vocabulary == shipped.vocabulary);
  CHECK(read.tied == shipped.tied);
  CHECK(read.attention_bias == shipped.attention_bias);
  CHECK(read.bias == shipped.bias);
  CHECK(read.activation == shipped.activation);
  CHECK(read.max_context == shipped.max_context);
  CHECK(read.norms_per_layer == shipped.norms_per_layer);
  CHECK(read.query_key_norm == shipped.query_key_norm);
  CHECK(read.wide_query_key_norm == shipped.wide_query_key_norm);
  CHECK(read.attention_gate == shipped.attention_gate);
  CHECK(read.values_are_keys == shipped.values_are_keys);
  CHECK(read.experts == shipped.experts);
  CHECK(read.latent == shipped.latent);
  CHECK(read.window == shipped.window);
  CHECK(read.linear == shipped.linear);
  CHECK(read.head == shipped.head);
  CHECK(attention_layers(read) == attention_layers(shipped));
  CHECK(feed_forward_layers(read) == feed_forward_layers(shipped));
  CHECK(parameters(read) == parameters(shipped));
}

}  // namespace

TEST_CASE("the config of each family gives the shipped shape and its parameters") {
  check_like_shipped(parsed(qwen3_06b).shape, "qwen3-0.6b");
  check_like_shipped(parsed(llama_8b).shape, "llama-3.1-8b");
  check_like_shipped(parsed(qwen3_30b).shape, "qwen3-30b-a3b");
  check_like_shipped(parsed(mistral_7b).shape, "mistral-7b-v0.1");
  check_like_shipped(parsed(mistral_7b, R"("sliding_window": null, "vocab_size": 32768)").shape, "mistral-7b");
  check_like_shipped(parsed(mixtral).shape, "mixtral-8x7b");
  check_like_shipped(parsed(deepseek_v3).shape, "deepseek-v3");
  check_like_shipped(parsed(deepseek_v3, R"("model_type": "kimi_k2", "num_attention_heads": 64,
      "num_key_value_heads": 64, "n_routed_experts": 384, "first_k_dense_replace": 1, "vocab_size": 163840,
      "max_position_embeddings": 131072)")
                         .shape,
                     "kimi-k2");
  check_like_shipped(parsed(gpt_oss_20b).shape, "gpt-oss-20b");
  check_like_shipped(parsed(gpt_oss_20b, R"("num_hidden_layers": 36, "num_local_experts": 128)").shape, "gpt-oss-120b");
  check_like_shipped(parsed(gemma_3_12b_text).shape, "gemma-3-12b");
  check_like_shipped(parsed(glm_45).shape, "glm-4.5");
  check_like_shipped(parsed(minimax_m2).shape, "minimax-m2");
  check_like_shipped(parsed(qwen3_next).shape, "qwen3-next-80b-a3b");
  check_like_shipped(parsed(nemotron_3).shape, "nemotron-3-nano-30b-a3b");
  check_like_shipped(parsed(eagle3_8b).shape, "eagle3-llama-3.1-8b");
}

TEST_CASE("multimodal configs are read for their text model") {
  // Gemma 3's published configs omit the values of the 4B model; Gemma 4 nests the kinds of layers and two kinds of
  // heads.
  const HuggingFaceModel gemma3 = parse_hugging_face(
      R"({"model_type": "gemma3", "torch_dtype": "bfloat16", "vision_config": {"hidden_size": 1152}, "text_config":
          {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}})",
      "config.json");
  check_like_shipped(gemma3.shape, "gemma-3-4b");
  CHECK(gemma3.weights == NumberFormat::bf16);
  CHECK(gemma3.notes == std::vector<std::string>{"text_config: only the text model; vision and audio are ignored"});

  std::string types;
  for (int layer = 0; layer < 30; ++layer) {
    types += std::string(layer > 0 ? ", " : "") + (layer % 6 == 5 ? "\"full_attention\"" : "\"sliding_attention\"");
  }
  const std::string gemma4 =
      R"("model_type": "gemma4_text", "hidden_activation": "gelu_pytorch_tanh", "attention_k_eq_v": true,
      "enable_moe_block": true, "global_head_dim": 512, "head_dim": 256, "hidden_size": 2816,
      "hidden_size_per_layer_input": 0, "intermediate_size": 2112, "max_position_embeddings": 262144,
      "moe_intermediate_size": 704, "num_attention_heads": 16, "num_experts": 128, "num_global_key_value_heads": 2,
      "num_hidden_layers": 30, "num_key_value_heads": 8, "num_kv_shared_layers": 0, "sliding_window": 1024,
      "top_k_experts": 8, "vocab_size": 262144, "layer_types": [)" +
      types + "]";
  check_like_shipped(
      parse_hugging_face(
          "{\"model_type\": \"gemma4\", \"tie_word_embeddings\": true, \"text_config\": {" + gemma4 + "}}",
          "config.json")
          .shape,
      "gemma-4-26b-a4b");
  CHECK(problems_of(config_of(gemma4, "\"num_kv_shared_layers\": 20")) == "config.json: num_kv_shared_layers: is 20");
}

TEST_CASE("families without a shipped shape: biases, shared experts, alternating windows, lightning attention") {
  const std::string qwen2 = R"("model_type": "qwen2", "hidden_act": "silu", "hidden_size": 8, "intermediate_size": 12,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 10,
      "max_position_embeddings": 64, "sliding_window": 16, "max_window_layers": 3)";
  ModelShape shape = parsed(qwen2).shape;
  CHECK(shape.attention_bias);
  CHECK(shape.window == SlidingWindow{});
  CHECK(parsed(qwen2, "\"use_sliding_window\": true").shape.window == SlidingWindow{.tokens = 16, .layers = 1});

  shape = parsed(qwen2, R"("model_type": "qwen2_moe", "num_experts": 6, "num_experts_per_tok": 2,
      "moe_intermediate_size": 3, "shared_expert_intermediate_size": 5, "decoder_sparse_step": 2,
      "mlp_only_layers": [1, 2])")
              .shape;
  CHECK(shape.experts == Experts{.count = 6, .per_token = 2, .d_ff = 3, .shared_d_ff = 5, .dense_layers = 3});
  CHECK(shape.d_ff == 12);
  CHECK(shape.further_parameters == 8);  // the gate of one shared expert

  // Every second of four layers has a mixture, except the named ones of these two; names that repeat or lie outside the
  // model do not count.
  const auto dense_layers = [&](const std::string& named) {
    return parsed(qwen2, R"("model_type": "qwen2_moe", "num_experts": 6, "num_experts_per_tok": 2,
        "moe_intermediate_size": 3, "shared_expert_intermediate_size": 5, "decoder_sparse_step": 2,
        "mlp_only_layers": )" +
                             named)
        .shape.experts.dense_layers;
  };
  CHECK(dense_layers("[]") == 2);
  CHECK(dense_layers("[0, 2]") == 2);
  CHECK(dense_layers("[1, 1, 5]") == 3);
  CHECK(dense_layers("[1, 3]") == 4);

  shape = parsed(qwen2, R"("model_type": "gemma2", "num_hidden_layers": 5, "hidden_activation": "gelu_pytorch_tanh",
      "sliding_window": 16)")
              .shape;
  CHECK(shape.norms_per_layer == 4);
  CHECK(shape.tied);
  CHECK(shape.activation == Activation::gelu);
  CHECK(shape.window == SlidingWindow{.tokens = 16, .layers = 3});

  shape = parsed(qwen2, R"("model_type": "deepseek_v2", "num_key_value_heads": 4, "kv_lora_rank": 3,
      "q_lora_rank": null, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4, "n_routed_experts": null)")
              .shape;
  CHECK(shape.latent == LatentAttention{.kv_rank = 3, .rope_dim = 2, .nope_dim = 4, .value_dim = 4});
  CHECK(shape.experts == Experts{});

  // MiniMax-01: 456 B, 80 layers of which every eighth has softmax attention (arXiv:2501.08313).
  std::string kinds;
  for (int layer = 0; layer < 80; ++layer) kinds += std::string(layer > 0 ? "," : "") + (layer % 8 == 7 ? "1" : "0");
  shape = parsed(R"("model_type": "minimax_text_01", "hidden_act": "silu", "hidden_size": 6144, "head_dim": 128,
      "intermediate_size": 9216, "num_local_experts": 32, "num_experts_per_tok": 2, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 200064, "attn_type_list": [)" +
                 kinds + "]")
              .shape;
  CHECK(shape.linear.layers == 70);
  CHECK(shape.linear.state_elements == 64 * 128 * 128);
  CHECK(parameters(shape) == Approx(456e9).margin(0.5e9));

  // Nemotron-H with a list in place of letters, which also gives the number of layers.
  shape = parsed(nemotron_3, R"("hybrid_override_pattern": null, "num_hidden_layers": null,
      "layers_block_type": ["mamba", "moe", "attention", "mlp", "moe"])")
              .shape;
  CHECK(shape.layers == 5);
  CHECK(attention_layers(shape) == 1);
  CHECK(shape.linear.layers == 1);
  CHECK(feed_forward_layers(shape) == 3);
  CHECK(shape.experts.dense_layers == 1);

  // LLaMA with biases: 4 x (16 + 8) of attention and 4 x (24 + 8) of the blocks.
  shape = parsed(qwen2, R"("model_type": "llama")").shape;
  const double plain = parameters(shape);
  shape = parsed(qwen2, R"("model_type": "llama", "attention_bias": true, "mlp_bias": true)").shape;
  CHECK(parameters(shape) == plain + 4 * 24 + 4 * 32);
}

TEST_CASE("configs of heads state what they read: EAGLE, EAGLE-3, and the format of speculators") {
  const HuggingFaceModel eagle = parsed(llama_8b, R"("num_hidden_layers": 1, "bias": true)");
  CHECK(eagle.shape.architecture == Architecture::head);
  CHECK(eagle.shape.head == HeadInputs{});
  CHECK(parameters(eagle.shape) == parameters(find_model(model_registry(), "eagle-llama-3.1-8b")) + 4096);
  CHECK(eagle.notes.size() == 1);

  const HuggingFaceModel third = parsed(eagle3_8b, R"("architectures": ["LlamaForCausalLMEagle3"],
      "num_hidden_layers": 40, "target_hidden_size": 5120,
      "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 46, 90, 91]})");
  CHECK(third.shape.head == HeadInputs{.hidden_states = 4,
                                       .hidden_width = 5120,
                                       .wide_attention = true,
                                       .draft_vocabulary = 32000,
                                       .own_vocabulary = true});
  CHECK(third.shape.layers == 1);
  CHECK(third.notes ==
        std::vector<std::string>{"num_hidden_layers is 40: read as 1, the layers of every EAGLE-3 head"});
  CHECK(third.weights == NumberFormat::fp16);

  const HuggingFaceModel speculators = parse_hugging_face(
      R"({"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3", "draft_vocab_size": 32000,
          "target_hidden_size": null, "transformer_layer_config": {)" +
          llama_8b + R"(, "num_hidden_layers": 1}})",
      "config.json");
  check_like_shipped(speculators.shape, "eagle3-llama-3.1-8b");
}

TEST_CASE("omissions and assumptions are notes") {
  CHECK(parsed(deepseek_v3).notes ==
        std::vector<std::string>{
            "num_nextn_predict_layers: 1 layer for drafting (MTP): not part of the target, but the draft \"mtp\""});
  CHECK(parsed(gpt_oss_20b).notes.empty());
  CHECK(parsed(minimax_m2).notes == std::vector<std::string>{"num_mtp_modules: 3 layers for drafting (MTP): not part "
                                                             "of the target, but the draft \"mtp\""});
}

TEST_CASE("formats of weights and KV cache are those of the quantization, else of the type") {
  const auto weights = [](const std::string& quantization) {
    return parsed(llama_8b, "\"quantization_config\": " + quantization).weights;
  };
  CHECK(parsed(llama_8b).weights == NumberFormat::bf16);
  CHECK(parsed(llama_8b, "\"dtype\": \"float32\"").weights == NumberFormat::fp32);
  CHECK_FALSE(parsed(mixtral).weights);
  CHECK(parsed(deepseek_v3).weights == NumberFormat::fp8);
  CHECK(to_text(parsed(gpt_oss_20b).weights.value()) == "mxfp4; attention bf16");
  CHECK(weights(R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": false})") == NumberFormat::int4);
  CHECK(weights(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})") == NumberFormat::int8);
  CHECK(weights(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})") == NumberFormat::int8);
  const auto compressed = [&weights](const std::string& scheme) {
    return weights(R"({"quant_method": "compressed-tensors", "kv_cache_scheme": null, "config_groups": {"group_0":
        {"targets": ["Linear"], "input_activations": null, "weights": {)" +
                   scheme + "}}}}");
  };
  CHECK(compressed(R"("num_bits": 8, "type": "float")") == NumberFormat::fp8);
  CHECK(compressed(R"("num_bits": 8, "type": "int")") == NumberFormat::int8);
  CHECK(compressed(R"("num_bits": 4, "type": "int", "group_size": 128)") == NumberFormat::int4);
  CHECK(compressed(R"("num_bits": 4, "type": "float", "group_size": 16)") == NumberFormat::nvfp4);
  CHECK(compressed(R"("num_bits": 4, "type": "float", "group_size": 32)") == NumberFormat::mxfp4);
  const HuggingFaceModel modelopt = parsed(llama_8b, R"("quantization_config": {"quant_method": "modelopt",
      "quant_algo": "NVFP4", "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  CHECK(modelopt.weights == NumberFormat::nvfp4);
  CHECK(modelopt.kv_cache == NumberFormat::fp8);
  CHECK(parsed(llama_8b, R"("quantization_config": {"quant_algo": "FP8", "kv_cache_scheme": "FP8"})").kv_cache ==
        NumberFormat::fp8);
}

TEST_CASE("a hf_quant_config.json gives the formats of a config without any") {
  HuggingFaceModel model = parsed(llama_8b);
  add_quantization(model, R"({"producer": {}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})",
                   "hf_quant_config.json");
  CHECK(model.weights == NumberFormat::fp8);
  CHECK(model.kv_cache == NumberFormat::fp8);
  CHECK_THROWS_MATCHES(add_quantization(model, "{}", "hf_quant_config.json"), DomainError,
                       Says("hf_quant_config.json: quantization: missing"));
}

TEST_CASE("a quantization that a model cannot have is named with what to do") {
  const auto rejected = [](const std::string& quantization) {
    return problems_of(config_of(llama_8b, "\"quantization_config\": " + quantization));
  };
  CHECK(rejected(R"({"quant_method": "gguf-ish"})") ==
        "config.json: quantization_config.quant_method: \"gguf-ish\" is not known");
  CHECK(rejected(R"({"quant_method": "awk", "bits": 3})") ==
        "config.json: quantization_config.quant_method: \"awk\" is not known");
  CHECK(rejected(R"({"quant_method": "gptq", "bits": 3})") == "config.json: quantization_config.bits: is 3");
  CHECK(rejected(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})") ==
        "config.json: quantization_config.quant_algo: \"MIXED_PRECISION\" is not known");
  CHECK(rejected(R"({"quant_method": "bitsandbytes"})") ==
        "config.json: quantization_config.load_in_4bit: is not true");
  CHECK(rejected("7") == "config.json: quantization_config: is 7");
  CHECK_THROWS_WITH(
      parse_hugging_face(config_of(llama_8b, R"("quantization_config": {"quant_method": "gptq", "bits": 3})"),
                         "config.json"),
      Catch::Contains("--target-format"));
}

TEST_CASE("an unknown architecture or layer is named with the nearest known one") {
  CHECK(problems_of(config_of(deepseek_v3, "\"model_type\": \"glm5_moe\"")) ==
        "config.json: model_type: unknown architecture \"glm5_moe\"");
  CHECK_THROWS_WITH(parsed(deepseek_v3, R"("model_type": "glm5_moe", "topk_method": "noaux_tc")"),
                    Catch::Contains("--assume deepseek_v3"));
  CHECK(
      problems_of("{\"model_type\": \"bert\"}").starts_with("config.json: model_type: unknown architecture \"bert\""));
  CHECK(problems_of("{}") == "config.json: model_type: missing");
  CHECK(problems_of(config_of(llama_8b, "\"hidden_act\": \"gelu_tan\"")) ==
        "config.json: hidden_act: unknown activation \"gelu_tan\"");
  CHECK(problems_of(config_of(nemotron_3, "\"hybrid_override_pattern\": \"ME*X\"")) ==
        "config.json: hybrid_override_pattern: has a layer \"X\"\n"
        "config.json: num_hidden_layers: is 52");
  CHECK(problems_of(config_of(gpt_oss_20b, "\"layer_types\": [\"full_attention\", \"chunked_attention\"]")) ==
        "config.json: layer_types: names 2 layers\n"
        "config.json: layer_types: \"chunked_attention\" is not known");
}

TEST_CASE("all problems of a config are reported at once, under its own keys") {
  CHECK(problems_of(R"({"model_type": "llama", "num_hidden_layers": "32", "hidden_size": -4096,
      "num_attention_heads": 32.5, "num_key_value_heads": [8], "intermediate_size": 99999999999999999999999,
      "tie_word_embeddings": "yes", "hidden_act": 7, "quantization_config": {"quant_method": 3}})") ==
        "config.json: num_hidden_layers: is \"32\"\n"
        "config.json: hidden_size: is -4096\n"
        "config.json: num_attention_heads: is 32.5\n"
        "config.json: num_key_value_heads: is an array\n"
        "config.json: intermediate_size: is 9.999999999999999e+22\n"
        "config.json: vocab_size: missing\n"
        "config.json: tie_word_embeddings: is \"yes\"\n"
        "config.json: hidden_act: is 7\n"
        "config.json: quantization_config.quant_method: is 3");
  CHECK(problems_of(config_of(llama_8b, "\"num_key_value_heads\": 5, \"hidden_size\": 0")) ==
        "config.json: hidden_size: is 0\n"
        "config.json: head_dim: is 0\n"
        "config.json: num_key_value_heads: is 5");
  CHECK(problems_of(config_of(mixtral, "\"num_experts_per_tok\": 9")) == "config.json: num_experts_per_tok: is 9");
}

TEST_CASE("hostile configs end in an error message") {
  CHECK(problems_of("") == "config.json:1: syntax: invalid JSON at column 1");
  CHECK(problems_of("[]") == "config.json: no config.json");
  CHECK(problems_of("{\"model_type\": \"llama\xff\"}").starts_with("config.json:1: syntax: invalid JSON"));
  CHECK(problems_of(std::string(100, '[')).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(problems_of("{\"a\": \"Infinity \\\" NaN\", \"model_type\": NaN}")
            .starts_with("config.json: model_type: missing"));
  // Every number at its maximum: rejected or counted, without overflow of any sum.
  for (const std::string& members : {deepseek_v3, qwen3_next, nemotron_3, gpt_oss_20b, minimax_m2, glm_45, qwen3_30b}) {
    std::string large;
    for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "head_dim", "vocab_size",
                            "num_experts", "n_routed_experts", "num_local_experts", "moe_intermediate_size",
                            "intermediate_size", "linear_num_value_heads", "linear_value_head_dim", "mamba_num_heads",
                            "mamba_head_dim", "ssm_state_size", "n_shared_experts", "num_nextn_predict_layers"}) {
      large += std::string(large.empty() ? "" : ", ") + "\"" + key + "\": 10000000";
    }
    const std::string text = config_of(members, large);
    const std::string problems = problems_of(text);
    CHECK((problems.empty() || problems.starts_with("config.json: ")));
    if (problems.empty()) CHECK(std::isfinite(parameters(parse_hugging_face(text, "config.json").shape)));
  }
}

TEST_CASE("the supported architectures are sorted") {
  const std::vector<std::string> known = hugging_face_architectures();
  CHECK(std::is_sorted(known.begin(), known.end()));
  CHECK(std::find(known.begin(), known.end(), "qwen3_moe") != known.end());
}

}  // namespace foredraft::latency
