// SPDX-License-Identifier: Apache-2.0
#include "latency/models/storage.hpp"

#include <fmt/format.h>
#include <algorithm>

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

std::string lower_case(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

}  // namespace

const std::vector<NumberFormat>& number_formats() {
  static const std::vector<NumberFormat> all{NumberFormat::fp32,  NumberFormat::bf16, NumberFormat::fp16,
                                             NumberFormat::fp8,   NumberFormat::int8, NumberFormat::int4,
                                             NumberFormat::nvfp4, NumberFormat::mxfp4};
  return all;
}

std::optional<NumberFormat> number_format(std::string_view word) {
  const std::string lower = lower_case(word);
  if (const auto format = value_of<NumberFormat>(lower)) return format;
  return meaning_of(lower, further_words);
}

double bits_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return 32.0;
    case NumberFormat::bf16:
    case NumberFormat::fp16:
      return 16.0;
    case NumberFormat::fp8:
    case NumberFormat::int8:
      return 8.0;
    case NumberFormat::int4:
      return 4.0 + 16.0 / 128.0;
    case NumberFormat::nvfp4:
      return 4.0 + 8.0 / 16.0;
    case NumberFormat::mxfp4:
      break;
  }
  return 4.0 + 8.0 / 32.0;
}

NumberFormat compute_format(NumberFormat format) {
  return format == NumberFormat::int4 || format == NumberFormat::mxfp4 ? NumberFormat::bf16 : format;
}

NumberFormat default_cache_format(NumberFormat weights) {
  return bits_of(weights) < bits_of(NumberFormat::fp16) ? NumberFormat::bf16 : weights;
}

NumberFormat unquantized_format(NumberFormat weights) {
  return weights == NumberFormat::fp32 || weights == NumberFormat::fp16 ? weights : NumberFormat::bf16;
}

WeightFormat weight_format(NumberFormat format) { return {.format = format, .bits = bits_of(format)}; }

WeightFormats::WeightFormats(NumberFormat layers) : layers_(layers) {
  parts_.fill(weight_format(layers));
  for (const ModelPart table : {ModelPart::embedding, ModelPart::vocabulary}) {
    set(table, weight_format(unquantized_format(layers)));
  }
}

std::optional<WeightFormats> weight_formats(std::string_view word) {
  const auto format = number_format(word);
  return format ? std::optional<WeightFormats>(*format) : std::nullopt;
}

std::string to_text(const WeightFormats& formats) {
  std::string text(to_string(formats.layers()));
  const WeightFormats implied(formats.layers());
  const char* separator = "; ";
  for (std::size_t i = 0; i < model_parts; ++i) {
    const auto part = static_cast<ModelPart>(i);
    const WeightFormat& format = formats.of(part);
    if (format == implied.of(part)) continue;
    const bool whole = format == weight_format(format.format);
    text += fmt::format("{}{} {}", separator, to_string(part),
                        whole ? std::string(to_string(format.format)) : fmt::format("{:.4g} bits", format.bits));
    separator = ", ";
  }
  return text;
}

}  // namespace foredraft::latency
