// SPDX-License-Identifier: Apache-2.0
#include "latency/models/storage.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "latency/models/model_registry.hpp"
#include "latency/operations/model_bytes.hpp"

namespace foredraft::latency {

TEST_CASE("files of llama.cpp have the sizes that were published") {
  // In GB as Hugging Face prints them: bartowski, Qwen, ggml-org and unsloth.
  struct File {
    const char* model;
    const char* word;
    double published_gb;
  };
  const std::vector<File> files{
      {"llama-3.1-8b", "Q8_0", 8.54},    {"llama-3.1-8b", "Q6_K", 6.60},     {"llama-3.1-8b", "Q5_K_M", 5.73},
      {"llama-3.1-8b", "Q5_K_S", 5.60},  {"llama-3.1-8b", "Q4_K_M", 4.92},   {"llama-3.1-8b", "Q4_K_S", 4.69},
      {"llama-3.1-8b", "IQ4_XS", 4.45},  {"llama-3.1-8b", "Q3_K_L", 4.32},   {"llama-3.1-8b", "Q3_K_M", 4.02},
      {"llama-3.1-8b", "IQ3_M", 3.78},   {"llama-3.1-8b", "Q3_K_S", 3.66},   {"llama-3.1-8b", "Q2_K", 3.18},
      {"llama-3.1-8b", "IQ2_M", 2.95},   {"qwen3-8b", "Q4_K_M", 5.03},       {"qwen3-8b", "Q8_0", 8.71},
      {"llama-3.2-1b", "Q8_0", 1.32},    {"llama-3.2-1b", "Q4_K_M", 0.81},   {"llama-3.3-70b", "Q4_K_M", 42.52},
      {"llama-3.3-70b", "Q8_0", 74.98},  {"qwen3-30b-a3b", "Q4_K_M", 18.56}, {"gpt-oss-120b", "mxfp4_moe", 63.4},
      {"gpt-oss-20b", "mxfp4_moe", 12.1}};
  for (const File& file : files) {
    INFO(file.model << " " << file.word);
    const WeightFormats formats = weight_formats(file.word).value();
    const double bytes = weight_bytes(find_model(model_registry(), file.model), {.weights = formats});
    CHECK(bytes / 1e9 == Approx(file.published_gb).epsilon(0.02));
  }
}

TEST_CASE("words of formats: each listed one, its aliases, and the text that reads back to it") {
  for (const std::string& word : weight_format_words()) {
    INFO(word);
    REQUIRE(weight_formats(word));
    CHECK(to_text(*weight_formats(word)) == word);
  }
  CHECK(weight_formats("Q4_K") == weight_formats("q4_k_m")->named("q4_k"));
  CHECK(to_text(weight_formats("UD-Q4_K_XL").value()) == "ud-q4_k_xl");
  CHECK_FALSE(weight_formats("q4_k_xxl"));
  CHECK(weight_formats("int4_g32")->of(ModelPart::attention) == WeightFormat{NumberFormat::int4, 4.5});
  CHECK(number_format("q8_0") == NumberFormat::q8_0);
  CHECK_FALSE(number_format("q4_k_m"));  // of a file, not of values
  CHECK(compute_format(NumberFormat::q6_k) == NumberFormat::bf16);
  CHECK(default_cache_format(NumberFormat::q4_k) == NumberFormat::bf16);

  WeightFormats formats = weight_formats("q4_k_m").value();
  formats.set(ModelPart::vocabulary, weight_format(NumberFormat::bf16));
  CHECK(to_text(formats) ==
        "q4_k of 4.844 bits; attention q4_k of 4.603 bits, linear attention q4_k of 4.603 bits, embedding q4_k");
}

TEST_CASE("bits of llama.cpp's types are bytes of a block over its values") {
  CHECK(bits_of(NumberFormat::q8_0) == 34.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::q6_k) == 210.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::q5_k) == 176.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::q5_1) == 24.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::q5_0) == 22.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::q4_k) == 144.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::q4_1) == 20.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::q4_0) == 18.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::iq4_nl) == 18.0 * 8 / 32);
  CHECK(bits_of(NumberFormat::iq4_xs) == 136.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::q3_k) == 110.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq3_s) == 110.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq3_xxs) == 98.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::q2_k) == 84.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq2_s) == 82.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq2_xs) == 74.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq2_xxs) == 66.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq1_m) == 56.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::iq1_s) == 50.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::tq2_0) == 66.0 * 8 / 256);
  CHECK(bits_of(NumberFormat::tq1_0) == 54.0 * 8 / 256);
}

TEST_CASE("shipped models know the formats of their checkpoints if these are not 16 bits") {
  const auto native = [](const char* name) {
    const auto& formats = find_model(model_registry(), name).native_formats;
    return formats ? to_text(*formats) : std::string();
  };
  CHECK(native("gpt-oss-120b") == "mxfp4; attention bf16");
  CHECK(native("deepseek-v3") == "fp8");
  CHECK(native("kimi-k2") == "fp8");
  CHECK(native("minimax-m2") == "fp8");
  CHECK(native("llama-3.1-8b").empty());
}

}  // namespace foredraft::latency
