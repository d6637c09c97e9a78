// SPDX-License-Identifier: Apache-2.0
#include "latency/models/deployment.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace foredraft::latency {
namespace {

struct FormatWord {
  std::string_view word;
  NumberFormat format;
};

/// Words of checkpoints and engines; the names of to_string are found without it.
constexpr std::array<FormatWord, 21> further_words{{
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

std::string_view to_string(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return "fp32";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::fp16:
      return "fp16";
    case NumberFormat::fp8:
      return "fp8";
    case NumberFormat::int8:
      return "int8";
    case NumberFormat::int4:
      return "int4";
    case NumberFormat::nvfp4:
      return "nvfp4";
    case NumberFormat::mxfp4:
      break;
  }
  return "mxfp4";
}

const std::vector<NumberFormat>& number_formats() {
  static const std::vector<NumberFormat> all{NumberFormat::fp32,  NumberFormat::bf16, NumberFormat::fp16,
                                             NumberFormat::fp8,   NumberFormat::int8, NumberFormat::int4,
                                             NumberFormat::nvfp4, NumberFormat::mxfp4};
  return all;
}

std::optional<NumberFormat> number_format(std::string_view word) {
  const std::string lower = lower_case(word);
  for (const NumberFormat format : number_formats()) {
    if (lower == to_string(format)) return format;
  }
  const auto* const found = std::find_if(further_words.begin(), further_words.end(),
                                         [&lower](const FormatWord& one) { return one.word == lower; });
  if (found == further_words.end()) return std::nullopt;
  return found->format;
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

NumberFormat usual_cache_format(NumberFormat weights) {
  return bits_of(weights) < bits_of(NumberFormat::fp16) ? NumberFormat::bf16 : weights;
}

NumberFormat unquantized_format(NumberFormat weights) {
  return weights == NumberFormat::fp32 || weights == NumberFormat::fp16 ? weights : NumberFormat::bf16;
}

}  // namespace foredraft::latency
