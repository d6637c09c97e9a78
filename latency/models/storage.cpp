// SPDX-License-Identifier: Apache-2.0
#include "latency/models/storage.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "core/names.hpp"

namespace foredraft::latency {
namespace {

/// Aliases in checkpoints and engines.
constexpr std::array<Word<NumberFormat>, 21> further_words{{
    {"float32", NumberFormat::fp32},       {"float", NumberFormat::fp32},   {"bfloat16", NumberFormat::bf16},
    {"float16", NumberFormat::fp16},       {"half", NumberFormat::fp16},    {"float8", NumberFormat::fp8},
    {"fp8_e4m3", NumberFormat::fp8},       {"fp8_e5m2", NumberFormat::fp8}, {"e4m3", NumberFormat::fp8},
    {"e5m2", NumberFormat::fp8},           {"w8a8", NumberFormat::int8},    {"w8a8_int8", NumberFormat::int8},
    {"awq", NumberFormat::int4},           {"gptq", NumberFormat::int4},    {"awq_marlin", NumberFormat::int4},
    {"gptq_marlin", NumberFormat::int4},   {"w4a16", NumberFormat::int4},   {"fp4", NumberFormat::nvfp4},
    {"modelopt_fp4", NumberFormat::nvfp4}, {"w8a8_fp8", NumberFormat::fp8}, {"fp8_block", NumberFormat::fp8},
}};

}  // namespace

const std::vector<NumberFormat>& number_formats() {
  static const std::vector<NumberFormat> all = [] {
    std::vector<NumberFormat> formats;
    for (std::size_t i = 0; i < WordsOf<NumberFormat>::list.size(); ++i)
      formats.push_back(static_cast<NumberFormat>(i));
    return formats;
  }();
  return all;
}

std::optional<NumberFormat> number_format(std::string_view word) {
  const std::string lower = lower_case(word);
  if (const auto format = value_of<NumberFormat>(lower)) return format;
  return meaning_of(lower, further_words);
}

double bits_of(NumberFormat format) {
  // llama.cpp: bytes of a block / number of values, see static_asserts in ggml-common.h: q6_k has 210 bytes for 256
  // values.
  static constexpr std::array<double, WordsOf<NumberFormat>::list.size()> bits{32.0,
                                                                               16.0,
                                                                               16.0,
                                                                               8.0,
                                                                               8.0,
                                                                               4.0 + 16.0 / 128.0,
                                                                               4.0 + 8.0 / 16.0,
                                                                               4.0 + 8.0 / 32.0,
                                                                               8.5,
                                                                               6.5625,
                                                                               5.5,
                                                                               6.0,
                                                                               5.5,
                                                                               4.5,
                                                                               5.0,
                                                                               4.5,
                                                                               4.5,
                                                                               4.25,
                                                                               3.4375,
                                                                               3.4375,
                                                                               3.0625,
                                                                               2.625,
                                                                               2.5625,
                                                                               2.3125,
                                                                               2.0625,
                                                                               1.75,
                                                                               1.5625,
                                                                               2.0625,
                                                                               1.6875};
  return bits.at(static_cast<std::size_t>(format));
}

NumberFormat compute_format(NumberFormat format) {
  const bool weight_only = format == NumberFormat::int4 || format == NumberFormat::mxfp4 || is_gguf(format);
  return weight_only ? NumberFormat::bf16 : format;
}

NumberFormat default_cache_format(NumberFormat weights) {
  return bits_of(weights) < bits_of(NumberFormat::fp16) ? NumberFormat::bf16 : weights;
}

NumberFormat unquantized_format(NumberFormat weights) {
  return weights == NumberFormat::fp32 || weights == NumberFormat::fp16 ? weights : NumberFormat::bf16;
}

WeightFormat weight_format(NumberFormat format) { return {.format = format, .bits = bits_of(format)}; }

WeightFormats::WeightFormats(NumberFormat layers) : WeightFormats(weight_format(layers)) {}

WeightFormats::WeightFormats(const WeightFormat& layers) : layers_(layers) {
  parts_.fill(layers);
  for (const ModelPart table : {ModelPart::embedding, ModelPart::vocabulary}) {
    parts_.at(static_cast<std::size_t>(table)) = weight_format(unquantized());
  }
}

void WeightFormats::set(ModelPart part, const WeightFormat& format) {
  parts_.at(static_cast<std::size_t>(part)) = format;
  name_.clear();
}

WeightFormats WeightFormats::named(std::string name) const {
  WeightFormats formats = *this;
  formats.name_ = std::move(name);
  return formats;
}

namespace {

using Nf = NumberFormat;

/// A fraction `share` of the layers has more bits than the others.
struct Mixed {
  Nf usual;
  Nf more = usual;
  double share = 0.0;
};

/// A kind of file of llama.cpp. [llama_tensor_get_type in llama-quant.cpp]
struct Recipe {
  std::string_view word;
  Nf layers;  ///< gate and up
  Nf query_key;
  Mixed value;
  Nf output;
  Mixed down;
  Nf embedding, vocabulary;
};

/// Fraction of layers by use_more_bits(): an eighth at each end and every third in between.
constexpr double half_of_them = 0.5;

constexpr std::array recipes{
    Recipe{"q8_0", Nf::q8_0, Nf::q8_0, {Nf::q8_0}, Nf::q8_0, {Nf::q8_0}, Nf::q8_0, Nf::q8_0},
    Recipe{"q6_k", Nf::q6_k, Nf::q6_k, {Nf::q6_k}, Nf::q6_k, {Nf::q6_k}, Nf::q6_k, Nf::q6_k},
    Recipe{"q5_k_m",
           Nf::q5_k,
           Nf::q5_k,
           {Nf::q5_k, Nf::q6_k, half_of_them},
           Nf::q5_k,
           {Nf::q5_k, Nf::q6_k, half_of_them},
           Nf::q5_k,
           Nf::q6_k},
    Recipe{"q5_k_s", Nf::q5_k, Nf::q5_k, {Nf::q5_k}, Nf::q5_k, {Nf::q5_k}, Nf::q5_k, Nf::q6_k},
    Recipe{"q5_1", Nf::q5_1, Nf::q5_1, {Nf::q5_1}, Nf::q5_1, {Nf::q5_1}, Nf::q5_1, Nf::q6_k},
    Recipe{"q5_0", Nf::q5_0, Nf::q5_0, {Nf::q5_0}, Nf::q5_0, {Nf::q5_0}, Nf::q5_0, Nf::q6_k},
    Recipe{"q4_k_m",
           Nf::q4_k,
           Nf::q4_k,
           {Nf::q4_k, Nf::q6_k, half_of_them},
           Nf::q4_k,
           {Nf::q4_k, Nf::q6_k, half_of_them},
           Nf::q4_k,
           Nf::q6_k},
    Recipe{"q4_k_s",
           Nf::q4_k,
           Nf::q4_k,
           {Nf::q4_k, Nf::q5_k, 0.125},
           Nf::q4_k,
           {Nf::q4_k, Nf::q5_k, 0.125},
           Nf::q4_k,
           Nf::q6_k},
    Recipe{"q4_1", Nf::q4_1, Nf::q4_1, {Nf::q4_1}, Nf::q4_1, {Nf::q4_1}, Nf::q4_1, Nf::q6_k},
    Recipe{"q4_0", Nf::q4_0, Nf::q4_0, {Nf::q4_0}, Nf::q4_0, {Nf::q4_0}, Nf::q4_0, Nf::q6_k},
    Recipe{"iq4_nl", Nf::iq4_nl, Nf::iq4_nl, {Nf::q5_k}, Nf::iq4_nl, {Nf::iq4_nl}, Nf::iq4_nl, Nf::q6_k},
    Recipe{"iq4_xs", Nf::iq4_xs, Nf::iq4_xs, {Nf::q5_k}, Nf::iq4_xs, {Nf::iq4_xs}, Nf::iq4_xs, Nf::q6_k},
    Recipe{"q3_k_l", Nf::q3_k, Nf::q3_k, {Nf::q5_k}, Nf::q5_k, {Nf::q5_k}, Nf::q3_k, Nf::q6_k},
    Recipe{"q3_k_m",
           Nf::q3_k,
           Nf::q3_k,
           {Nf::q4_k, Nf::q5_k, 0.0625},
           Nf::q4_k,
           {Nf::q4_k, Nf::q5_k, 0.0625},
           Nf::q3_k,
           Nf::q6_k},
    Recipe{"q3_k_s", Nf::q3_k, Nf::q3_k, {Nf::q3_k}, Nf::q3_k, {Nf::q3_k}, Nf::q3_k, Nf::q6_k},
    Recipe{"iq3_m", Nf::iq3_s, Nf::iq3_s, {Nf::q4_k}, Nf::q4_k, {Nf::iq3_s, Nf::q4_k, 0.125}, Nf::iq3_s, Nf::q6_k},
    Recipe{"iq3_s", Nf::iq3_s, Nf::iq3_s, {Nf::q4_k}, Nf::iq3_s, {Nf::iq3_s}, Nf::iq3_s, Nf::q6_k},
    Recipe{"iq3_xxs", Nf::iq3_xxs, Nf::iq2_s, {Nf::q4_k}, Nf::iq3_s, {Nf::iq3_xxs}, Nf::iq3_s, Nf::q5_k},
    Recipe{"q2_k", Nf::q2_k, Nf::q2_k, {Nf::q4_k}, Nf::q3_k, {Nf::q3_k}, Nf::q2_k, Nf::q6_k},
    Recipe{"iq2_m", Nf::iq2_s, Nf::iq2_s, {Nf::q4_k}, Nf::iq3_s, {Nf::iq2_s, Nf::iq3_s, 0.125}, Nf::iq3_s, Nf::q5_k},
    Recipe{"iq2_s", Nf::iq2_xs, Nf::iq2_xs, {Nf::q4_k}, Nf::iq3_s, {Nf::iq2_xs, Nf::iq3_s, 0.125}, Nf::iq3_s, Nf::q5_k},
    Recipe{"iq2_xs", Nf::iq2_xs, Nf::iq2_xs, {Nf::q4_k}, Nf::iq2_xs, {Nf::iq2_xs, Nf::q2_k, 0.125}, Nf::q2_k, Nf::q5_k},
    Recipe{"iq2_xxs",
           Nf::iq2_xxs,
           Nf::iq2_xxs,
           {Nf::q4_k},
           Nf::iq2_xxs,
           {Nf::iq2_xxs, Nf::q2_k, 0.125},
           Nf::q2_k,
           Nf::q5_k},
    Recipe{"iq1_m", Nf::iq1_m, Nf::iq1_m, {Nf::q4_k}, Nf::iq2_xxs, {Nf::iq1_m, Nf::q2_k, 0.125}, Nf::q2_k, Nf::q5_k},
    Recipe{"iq1_s", Nf::iq1_s, Nf::iq1_s, {Nf::q4_k}, Nf::iq2_xxs, {Nf::iq1_s, Nf::q2_k, 0.125}, Nf::q2_k, Nf::q5_k},
    Recipe{"tq2_0", Nf::tq2_0, Nf::tq2_0, {Nf::tq2_0}, Nf::tq2_0, {Nf::tq2_0}, Nf::q4_k, Nf::q6_k},
    Recipe{"tq1_0", Nf::tq1_0, Nf::tq1_0, {Nf::tq1_0}, Nf::tq1_0, {Nf::tq1_0}, Nf::q4_k, Nf::q6_k},
};

/// Other names, from llama.cpp and from Unsloth, whose files choose types by layer and model.
constexpr std::array recipe_aliases{
    Word<std::string_view>{"q3_k", "q3_k_m"},       Word<std::string_view>{"q4_k", "q4_k_m"},
    Word<std::string_view>{"q5_k", "q5_k_m"},       Word<std::string_view>{"ud-q2_k_xl", "q2_k"},
    Word<std::string_view>{"ud-q3_k_xl", "q3_k_m"}, Word<std::string_view>{"ud-q4_k_xl", "q4_k_m"},
    Word<std::string_view>{"ud-q5_k_xl", "q5_k_m"}, Word<std::string_view>{"ud-q6_k_xl", "q6_k"},
};

/// Formats with nonstandard group sizes.
constexpr std::array grouped_words{
    Word{"int4_g32", WeightFormat{Nf::int4, 4.0 + 16.0 / 32.0}},
    Word{"int4_g64", WeightFormat{Nf::int4, 4.0 + 16.0 / 64.0}},
    Word{"nf4", WeightFormat{Nf::int4, 4.0 + 32.0 / 64.0}},
    // MLX: a scale and a bias of 16 bits for 64 values.
    Word{"4bit", WeightFormat{Nf::int4, 4.0 + 32.0 / 64.0}},
    Word{"8bit", WeightFormat{Nf::int8, 8.0 + 32.0 / 64.0}},
    Word{"mxfp8", WeightFormat{Nf::fp8, 8.0 + 8.0 / 32.0}},
};
/// llama.cpp: experts mxfp4, everything else q8_0.
constexpr std::string_view mxfp4_moe = "mxfp4_moe";

double mean_bits(const Mixed& mixed) {
  return bits_of(mixed.usual) + mixed.share * (bits_of(mixed.more) - bits_of(mixed.usual));
}

WeightFormats formats_of(const Recipe& recipe) {
  // Queries and output have 40 % of attention's weights each; the down projection has a third of a block's weights.
  const double attention =
      0.5 * bits_of(recipe.query_key) + 0.1 * mean_bits(recipe.value) + 0.4 * bits_of(recipe.output);
  const double block = (2.0 * bits_of(recipe.layers) + mean_bits(recipe.down)) / 3.0;
  WeightFormats formats(WeightFormat{recipe.layers, block});
  formats.set(ModelPart::attention, {recipe.layers, attention});
  formats.set(ModelPart::linear_attention, {recipe.layers, attention});
  formats.set(ModelPart::embedding, weight_format(recipe.embedding));
  formats.set(ModelPart::vocabulary, weight_format(recipe.vocabulary));
  return formats;
}

std::optional<WeightFormats> named_formats(std::string_view word) {
  if (word == mxfp4_moe) {
    WeightFormats formats(weight_format(Nf::q8_0));
    formats.set(ModelPart::experts, weight_format(Nf::mxfp4));
    formats.set(ModelPart::embedding, weight_format(Nf::q8_0));
    formats.set(ModelPart::vocabulary, weight_format(Nf::q8_0));
    return formats;
  }
  if (const auto grouped = meaning_of(word, grouped_words)) return WeightFormats(*grouped);
  const std::string_view recipe_word = meaning_of(word, recipe_aliases).value_or(word);
  const auto* const recipe = std::ranges::find(recipes, recipe_word, &Recipe::word);
  return recipe == recipes.end() ? std::nullopt : std::optional(formats_of(*recipe));
}

}  // namespace

std::optional<WeightFormats> weight_formats(std::string_view word) {
  const std::string lower = lower_case(word);
  if (const auto named = named_formats(lower)) return named->named(lower);
  const auto format = number_format(lower);
  return format ? std::optional<WeightFormats>(*format) : std::nullopt;
}

const std::vector<std::string>& weight_format_words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> words;
    for (const NumberFormat format : number_formats()) {
      if (format < NumberFormat::q8_0) words.emplace_back(to_string(format));
    }
    for (const auto& grouped : grouped_words) words.emplace_back(grouped.word);
    for (const Recipe& recipe : recipes) words.emplace_back(recipe.word);
    words.emplace_back(mxfp4_moe);
    return words;
  }();
  return all;
}

bool has_gguf(const WeightFormats& formats) {
  for (std::size_t i = 0; i < model_parts; ++i) {
    if (is_gguf(formats.of(static_cast<ModelPart>(i)).format)) return true;
  }
  return false;
}

std::string to_text(const WeightFormats& formats) {
  if (!formats.name().empty()) return formats.name();
  const auto text_of = [](const WeightFormat& format) {
    const bool whole = format == weight_format(format.format);
    return whole ? std::string(to_string(format.format))
                 : fmt::format("{} of {:.4g} bits", to_string(format.format), format.bits);
  };
  std::string text = text_of(formats.layers_);
  const WeightFormats implied(formats.layers_);
  const char* separator = "; ";
  for (std::size_t i = 0; i < model_parts; ++i) {
    const auto part = static_cast<ModelPart>(i);
    if (formats.of(part) == implied.of(part)) continue;
    text += fmt::format("{}{} {}", separator, to_string(part), text_of(formats.of(part)));
    separator = ", ";
  }
  return text;
}

}  // namespace foredraft::latency
