// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <string>

#include "foredraft/errors.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

/// Attention of 2 x 64 x 64 + 2 x 64 x 32 weights and blocks of 3 x 64 x 128 in each of four layers.
const std::string dense = R"("model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128,
  "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16")";

/// One dense layer, then three mixtures of eight experts with a shared one.
const std::string mixture = R"("model_type": "glm4_moe", "hidden_act": "silu", "hidden_size": 64,
  "intermediate_size": 128, "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1,
  "num_experts_per_tok": 2, "first_k_dense_replace": 1, "num_hidden_layers": 4, "num_attention_heads": 4,
  "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100)";

HuggingFaceModel model_of(const std::string& members, const std::string& quantization) {
  return parse_hugging_face(fmt::format("{{{}, \"quantization_config\": {{{}}}}}", members, quantization),
                            "config.json");
}

WeightFormats formats_of(const std::string& members, const std::string& quantization) {
  return model_of(members, quantization).weights.value();
}

std::string text_of(const std::string& members, const std::string& quantization) {
  return to_text(formats_of(members, quantization));
}

/// compressed-tensors with groups and excluded words.
std::string compressed(const std::string& groups, const std::string& ignore) {
  return fmt::format(R"("quant_method": "compressed-tensors", "config_groups": {{{}}}, "ignore": [{}])", groups,
                     ignore);
}

const std::string int4_g32 =
    R"("group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}})";

}  // namespace

TEST_CASE("quantized groups and excluded attention of an int4 checkpoint have their own bits") {
  const std::string members = R"("model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600,
      "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "tie_word_embeddings": false, "hidden_act": "silu")";
  const HuggingFaceModel model = model_of(members, compressed(int4_g32, R"("lm_head", "re:.*self_attn.*")"));
  CHECK(to_text(model.weights.value()) == "int4 of 4.5 bits; attention bf16");
  const double blocks = 64.0 * 3 * 5120 * 25600, attention = 64.0 * (2 * 5120 * 8192 + 2 * 5120 * 1024);
  const double tables = 2.0 * 151936 * 5120, norms = 64.0 * (2 * 5120 + 2 * 128) + 5120;
  const Deployment deployment{.weights = model.weights.value()};
  CHECK(weight_bytes(model.shape, deployment) ==
        Approx(blocks * 4.5 / 8 + 2.0 * (attention + tables + norms)).epsilon(1e-12));
  CHECK(weight_bytes(model.shape, deployment) / 1e9 == Approx(29.4).margin(0.06));
}

TEST_CASE("words of a list match whole components of names, globs and expressions match as usual") {
  const auto left_out = [](const std::string& words) { return text_of(dense, compressed(int4_g32, words)); };
  const std::string all = "int4 of 4.5 bits";
  CHECK(left_out("\"lm_head\"") == all);
  CHECK(left_out("\"self_attn\"") == all + "; attention bf16");
  CHECK(left_out("\"gate\", \"model.layers.1\\u002e\", \"mlp.gate\"") == all);
  CHECK(left_out("\"model.layers.*.self_attn\"") == all + "; attention bf16");
  CHECK(left_out("\"model.language_model.layers.*.self_attn*\"") == all + "; attention bf16");
  CHECK(left_out("\"*.self_attn.*\"") == all + "; attention bf16");
  CHECK(left_out("\"re:.*self_attn.*\"") == all + "; attention bf16");
  CHECK(left_out("\"re:model\\\\.layers\\\\.\\\\d+\\\\.self_attn\\\\.[qkvo]_proj$\"") == all + "; attention bf16");
  CHECK(left_out("\"re:self_attn\"") == all);  // matched from the beginning
  CHECK(left_out("\"self_attn\", \"mlp\"") == "bf16");
}

TEST_CASE("layers that differ have the mean of their bits, weighted by their weights") {
  // Excludes one of four layers, and the value projection of the other three, which leaves 2 x 64 x 64 + 64 x 32 of
  // 12288 attention weights in int4.
  const WeightFormats formats = formats_of(dense, compressed(int4_g32, R"("model.layers.0*", "re:.*v_proj")"));
  const double attention = 0.75 * (10240.0 / 12288 * 4.5 + 2048.0 / 12288 * 16) + 0.25 * 16;
  CHECK(formats.of(ModelPart::attention).bits == Approx(attention).epsilon(1e-12));
  CHECK(formats.of(ModelPart::attention).format == NumberFormat::int4);
  CHECK(formats.of(ModelPart::feed_forward).bits == Approx(0.75 * 4.5 + 0.25 * 16).epsilon(1e-12));
  CHECK(formats.layers() == NumberFormat::int4);
}

TEST_CASE("each part of a mixture of experts has the format of the layers that contain it") {
  // As Kimi-K2.5: only routed experts are quantized.
  CHECK(text_of(mixture, compressed(int4_g32, R"("lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
                                              "re:.*mlp\\.(gate|up|gate_up|down)_proj.*")")) ==
        "int4 of 4.5 bits; attention bf16, feed-forward bf16, shared experts bf16");
  // The excluded layer is the dense one.
  CHECK(text_of(mixture, compressed(int4_g32, "\"model.layers.0*\", \"self_attn\"")) ==
        "int4 of 4.5 bits; attention bf16, feed-forward bf16");
  CHECK(text_of(mixture, "\"quant_method\": \"mxfp4\"") ==
        "mxfp4; attention bf16, feed-forward bf16, shared experts bf16");
}

TEST_CASE("groups with targets and listed layers have their own formats") {
  const std::string two = R"(
      "group_0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}},
      "group_1": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}})";
  CHECK(text_of(dense, compressed(two, "\"lm_head\"")) == "nvfp4; attention fp8");

  std::string listed;
  for (int layer = 0; layer < 4; ++layer) {
    for (const char* module : {"gate_proj", "up_proj", "down_proj"}) {
      listed +=
          fmt::format(R"("model.layers.{}.mlp.{}": {{"quant_algo": "NVFP4", "group_size": 16}}, )", layer, module);
    }
    listed += fmt::format(R"("model.layers.{}.self_attn.q_proj": {{"quant_algo": "MXFP8"}}, )", layer);
  }
  const WeightFormats formats =
      formats_of(dense, R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {)" +
                            listed + R"("lm_head": {"quant_algo": "W4A16_AWQ", "group_size": 64}})");
  CHECK(formats.layers() == NumberFormat::nvfp4);
  CHECK(formats.of(ModelPart::attention).bits == Approx(8.25 / 3 + 16.0 * 2 / 3).epsilon(1e-12));
  CHECK(formats.of(ModelPart::vocabulary) == WeightFormat{NumberFormat::int4, 4.25});
  CHECK(formats.of(ModelPart::embedding).bits == 16.0);

  // Like DeepSeek-V4: fp8 except for experts; quantizing them further leaves the rest in fp8.
  CHECK(text_of(mixture + ", \"expert_dtype\": \"fp4\"", R"("quant_method": "fp8", "weight_block_size": [128, 128])") ==
        "mxfp4; attention fp8, feed-forward fp8, shared experts fp8");
  CHECK(text_of(mixture + ", \"expert_dtype\": \"fp4\"",
                R"("quant_method": "fp8", "quant_algo": "MIXED_PRECISION", "ignore": ["*.self_attn.*", "head"],
                   "quantized_layers": {"layers.1.mlp.experts": {"quant_algo": "NVFP4"},
                   "layers.2.mlp.experts": {"quant_algo": "NVFP4"}, "layers.3.mlp.experts": {"quant_algo": "NVFP4"}})") ==
        "nvfp4; attention fp8, feed-forward fp8, shared experts fp8");
}

TEST_CASE("the bits of each method include its scales and zero points") {
  const auto bits = [](const std::string& quantization) {
    return formats_of(dense, quantization).of(ModelPart::feed_forward).bits;
  };
  CHECK(bits(R"("quant_method": "awq", "bits": 4, "group_size": 128)") == 4.0 + 20.0 / 128);
  CHECK(bits(R"("quant_method": "gptq", "bits": 4, "group_size": 32)") == 4.0 + 20.0 / 32);
  CHECK(bits(R"("quant_method": "gptq", "bits": 4, "group_size": -1)") == 4.0);
  CHECK(bits(R"("quant_method": "auto-round", "bits": 4, "group_size": 64)") == 4.0 + 20.0 / 64);
  CHECK(bits(R"("quant_method": "bitsandbytes", "load_in_4bit": true)") == 4.5);
  CHECK(bits(R"("quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true)") ==
        4.0 + 8.0 / 64 + 32.0 / (64 * 256));
  CHECK(bits(R"("quant_method": "fp8", "weight_block_size": [128, 128])") == 8.0);
  CHECK(bits(R"("quant_method": "fp8", "weight_block_size": [1, 32], "scale_fmt": "ue8m0")") == 8.25);
  CHECK(bits(compressed(R"("group_0": {"weights": {"num_bits": 4, "group_size": 32, "symmetric": false}})", "")) ==
        4.0 + 20.0 / 32);
  CHECK(
      bits(R"("quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 64})") ==
      4.25);
  CHECK(bits(R"("quant_method": "torchao",
                "quant_type": {"default": {"_type": "Float8WeightOnlyConfig", "_data": {}}})") == 8.0);
  CHECK(bits(R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}})") ==
        4.25);
}

TEST_CASE("single layers get a format by GPTQ's expressions, auto-round's names and quark's globs") {
  CHECK(text_of(dense, R"("quant_method": "gptq", "bits": 4, "group_size": 128,
      "dynamic": {"-:.*self_attn": {}, "+:.*mlp": {"bits": 8}})") == "int8 of 8.188 bits; attention bf16");
  CHECK(text_of(dense, R"("quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config": {
      "lm_head": {"bits": 16}, "self_attn": {"bits": 16}})") == "int4 of 4.156 bits; attention bf16");
  CHECK(
      text_of(dense, R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}},
      "layer_quant_config": {"*self_attn*": {"weight": {"dtype": "fp8_e4m3"}}}, "exclude": ["lm_head"])") ==
      "mxfp4; attention fp8");
  CHECK(formats_of(dense, R"("quant_method": "awq", "bits": 4, "lm_head": true)").of(ModelPart::vocabulary).bits < 5.0);
}

TEST_CASE("layers for drafting are in 16 bits if a list excludes them by any of their names") {
  const auto drafting = [](const std::string& quantization) {
    return to_text(model_of(mixture, quantization).drafting_weights.value());
  };
  CHECK(drafting(R"("quant_method": "fp8")") == "fp8; inputs bf16");
  for (const char* word : {"model.layers.4*", "mtp*", "mtp.layers.0*", "re:.*mtp.*", "mtp"}) {
    INFO(word);
    CHECK(drafting(compressed(int4_g32, fmt::format("\"{}\"", word))) == "bf16");
  }
  CHECK(drafting(compressed(int4_g32, "\"model.layers.3*\"")) == "int4 of 4.5 bits; inputs bf16");
  CHECK(drafting(R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
                    "quantized_layers": {"model.layers.3.mlp.experts": {"quant_algo": "NVFP4"}})") == "bf16");
}

TEST_CASE("the formats of config.json are kept if another file in the folder states different ones") {
  HuggingFaceModel model = model_of(dense, R"("quant_method": "fp8")");
  add_quantization(model, R"({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})", "beside.json");
  CHECK(model.weights == NumberFormat::fp8);
  CHECK(model.kv_cache == NumberFormat::fp8);
}

TEST_CASE("hostile lists end in a message or an answer, in time proportional to their size") {
  const auto said = [](const std::string& quantization) -> std::string {
    try {
      return text_of(dense, quantization);
    } catch (const DomainError& error) {
      return brief(error.what());
    }
  };
  CHECK(said(compressed(int4_g32, "\"re:(?!lm_head)\"")).find("ignore: \"re:(?!lm_head)\" is no expression") !=
        std::string::npos);
  CHECK(said(compressed(int4_g32, "\"re:((a*)*)*b\", \"" + std::string(5000, '*') + "\"")).find("is longer than") !=
        std::string::npos);
  CHECK(said(compressed(int4_g32, "\"re:((((.*)*)*)*)*Z\"")) == "int4 of 4.5 bits");
  std::string many = "\"lm_head\"";
  for (int i = 0; i < 30'000; ++i) many += fmt::format(R"(, "model.layers.{}.mlp.x{}*", "x.{}.y")", i % 100, i, i);
  CHECK(said(compressed(int4_g32, many)) == "int4 of 4.5 bits");
  std::string general;
  for (int i = 0; i < 2'000; ++i) general += fmt::format("{}\"*a*b*c{}*\"", i > 0 ? ", " : "", i);
  CHECK(said(compressed(int4_g32, general)).find("is one of too many with a *") != std::string::npos);
}

}  // namespace foredraft::latency
