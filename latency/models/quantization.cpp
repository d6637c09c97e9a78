// SPDX-License-Identifier: Apache-2.0
#include "latency/models/quantization.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/names.hpp"
#include "core/problems.hpp"
#include "latency/models/module_formats.hpp"
#include "latency/words.hpp"

namespace foredraft::latency {
namespace {

// ---- Schemes.

/// The format of integers or floating-point numbers of `bits` in groups with a 16-bit scale (8 bits for groups of 32
/// floating-point numbers). Group 0: one scale per row.
Stored format_of(std::int64_t bits, const std::string& type, std::int64_t group) {
  const bool floating = type == "float";
  const double scale = group > 0 ? (floating && group == 32 ? 8.0 : 16.0) / static_cast<double>(group) : 0.0;
  if (bits == 8) return WeightFormat{floating ? NumberFormat::fp8 : NumberFormat::int8, 8.0 + scale};
  if (bits != 4) return std::nullopt;
  if (!floating) return WeightFormat{NumberFormat::int4, 4.0 + scale};
  return weight_format(group == 32 ? NumberFormat::mxfp4 : NumberFormat::nvfp4);
}

void reject_bits(const ConfigObject& place, std::string_view key, std::int64_t bits) {
  place.reject(key, fmt::format("is {}", bits), "only 4 and 8 bits are supported", say_format);
}

/// group_size; -1 means one group per row; nullopt if not stated.
std::optional<std::int64_t> group_of(const ConfigObject& scheme) {
  if (!scheme.has("group_size") || scheme.is_negative("group_size")) return std::nullopt;
  return scheme.whole("group_size");
}

/// A scheme of compressed-tensors or modelopt: {"num_bits": 8, "type": "float"}.
Stored read_scheme(const ConfigObject& scheme) {
  const std::int64_t bits = scheme.required("num_bits");
  const std::int64_t group = group_of(scheme).value_or(0);
  auto format = format_of(bits, scheme.text("type").value_or("int"), group);
  if (!format) reject_bits(scheme, "num_bits", bits);
  const bool symmetric = scheme.flag("symmetric", true);
  if (format && !symmetric && group > 0) format->bits += static_cast<double>(bits) / static_cast<double>(group);
  return format;
}

void add_rule(const ConfigObject& place, std::string_view key, const std::string& word, const Stored& format,
              ModuleRules& rules) {
  const std::string why = rules.add(word, format);
  if (!why.empty()) place.reject(key, fmt::format("\"{}\" {}", word.substr(0, max_pattern), why), "", say_format);
}

/// Reads lists of excluded modules, with the key names of all methods.
void read_excluded(const ConfigObject& quantization, QuantizedModules& modules) {
  for (const std::string_view key :
       {"modules_to_not_convert", "exclude_modules", "ignore", "ignored_layers", "llm_int8_skip_modules", "exclude"}) {
    const auto words = quantization.texts(key);
    if (!words) continue;
    for (const std::string& word : *words) add_rule(quantization, key, word, modules.left_out, modules.excluded);
  }
}

/// Reads groups of compressed-tensors. Groups of a class of modules ("Linear") apply to all modules that no other group
/// names.
void read_groups(const ConfigObject& quantization, QuantizedModules& modules) {
  const auto groups = quantization.object("config_groups");
  if (!groups) return;
  for (const auto& [name, group] : groups->entries()) {
    const auto weights = group.object("weights");
    if (!weights) continue;
    const Stored format = read_scheme(*weights);
    for (const std::string& target : group.texts("targets").value_or(std::vector<std::string>{"Linear"})) {
      const bool is_class = !target.empty() && target.front() >= 'A' && target.front() <= 'Z';
      if (is_class) {
        modules.layers = modules.experts = format;
      } else {
        add_rule(group, "targets", target, format, modules.named);
      }
    }
  }
}

// ---- Methods.

/// modelopt's quant_algo. W4A16 computes in 16 bits, but its nvfp4 counts as nvfp4, which matters only for large
/// batches.
constexpr std::array algorithms{
    Word{"fp8", NumberFormat::fp8},
    Word{"fp8_pb_wo", NumberFormat::fp8},
    Word{"fp8_pb_real", NumberFormat::fp8},
    Word{"fp8_pc_pt", NumberFormat::fp8},
    Word{"fp8_per_channel_per_token", NumberFormat::fp8},
    Word{"mxfp8", NumberFormat::fp8},
    Word{"nvfp4", NumberFormat::nvfp4},
    Word{"nvfp4_awq", NumberFormat::nvfp4},
    Word{"w4a16_nvfp4", NumberFormat::nvfp4},
    Word{"w4a8_nvfp4_fp8", NumberFormat::nvfp4},
    Word{"mxfp4", NumberFormat::mxfp4},
    Word{"w4a8_mxfp4_fp8", NumberFormat::mxfp4},
    Word{"w4a16_awq", NumberFormat::int4},
    Word{"w4a8_awq", NumberFormat::int4},
    Word{"w4a16_gptq", NumberFormat::int4},
    Word{"int8_sq", NumberFormat::int8},
    Word{"w8a8_sq_per_channel", NumberFormat::int8},
    Word{"w8a16", NumberFormat::int8},
};

/// `group`: default group size.
Stored read_algorithm(const ConfigObject& scheme, std::optional<std::int64_t> group) {
  const std::string word = scheme.text("quant_algo").value_or("");
  const auto format = meaning_of(lower_case(word), algorithms);
  if (!format) {
    scheme.reject("quant_algo", fmt::format("\"{}\" is not known", word), "",
                  suggestion_for(lower_case(word), words_in(algorithms)));
    return std::nullopt;
  }
  if (lower_case(word) == "mxfp8") return WeightFormat{NumberFormat::fp8, 8.0 + 8.0 / 32.0};
  const std::int64_t size = group_of(scheme).value_or(group.value_or(0));
  if (*format == NumberFormat::int4 && size > 0)
    return WeightFormat{NumberFormat::int4, 4.0 + 16.0 / static_cast<double>(size)};
  return weight_format(*format);
}

void read_quantized_layers(const ConfigObject& quantization, QuantizedModules& modules) {
  const auto layers = quantization.object("quantized_layers");
  if (!layers) return;
  const auto group = group_of(quantization);
  for (const auto& [name, scheme] : layers->entries()) {
    if (const Stored format = read_algorithm(scheme, group)) {
      add_rule(*layers, name, name, format, modules.named);
    }
  }
}

void read_modelopt(const ConfigObject& quantization, QuantizedModules& modules) {
  const std::string word = lower_case(quantization.text("quant_algo").value_or(""));
  const bool mixed = word == "mixed_precision";
  if (!word.empty() && !mixed) {
    modules.layers = modules.experts = read_algorithm(quantization, std::nullopt);
  } else if (mixed && quantization.has("quantized_layers")) {
    read_quantized_layers(quantization, modules);
  } else if (!mixed || quantization.has("config_groups")) {
    read_groups(quantization, modules);
  } else {
    quantization.reject("quant_algo", fmt::format("\"{}\" is not known", quantization.text("quant_algo").value_or("")),
                        "no quantized_layers say which layers have which format", say_format);
  }
}

/// fp8 in blocks; a few published checkpoints have layers in other formats.
void read_fp8(const ConfigObject& quantization, QuantizedModules& modules) {
  WeightFormat format = weight_format(NumberFormat::fp8);
  const auto block = quantization.wholes("weight_block_size");
  double weights = block && !block->empty() ? 1.0 : 0.0;
  for (const std::int64_t extent : block.value_or(std::vector<std::int64_t>{})) weights *= static_cast<double>(extent);
  constexpr double negligible = 1024.0;
  const bool exponents = lower_case(quantization.text("scale_fmt").value_or("")) == "ue8m0";
  if (weights >= 1.0 && weights < negligible) format.bits += (exponents ? 8.0 : 32.0) / weights;
  modules.layers = format;
  if (!modules.experts) modules.experts = format;
  if (!quantization.has("quantized_layers")) return;
  modules.left_out = format;
  read_quantized_layers(quantization, modules);
}

/// Integers in groups: {"bits": 4, "group_size": 128}. Zero points are stored unless `symmetric`.
Stored read_integers(const ConfigObject& scheme, const Stored& fallback, std::int64_t default_group, bool zero_points) {
  const std::string_view key = scheme.has("w_bit") ? "w_bit" : "bits";
  const std::int64_t bits = scheme.whole_or(key, fallback ? static_cast<std::int64_t>(fallback->bits) : 4);
  constexpr std::int64_t unquantized = 16;
  if (bits >= unquantized) return std::nullopt;
  const std::string_view group_key = scheme.has("q_group_size") ? "q_group_size" : "group_size";
  std::int64_t group = scheme.is_negative(group_key) ? 0 : scheme.whole_or(group_key, default_group);
  auto format = format_of(bits, "int", group);
  if (!format) reject_bits(scheme, key, bits);
  if (format && zero_points && group > 0) format->bits += static_cast<double>(bits) / static_cast<double>(group);
  return format;
}

void read_groups_of_integers(const ConfigObject& quantization, bool zero_points, QuantizedModules& modules) {
  constexpr std::int64_t default_group = 128;
  const std::int64_t group =
      quantization.is_negative("group_size") ? 0 : quantization.whole_or("group_size", default_group);
  const Stored format = read_integers(quantization, std::nullopt, default_group, zero_points);
  modules.layers = modules.experts = format;
  if (quantization.flag("lm_head", false)) modules.vocabulary = format;
  // GPTQModel: "+:expression" has other numbers, "-:expression" is excluded. auto-round: names with other numbers.
  for (const std::string_view key : {"dynamic", "extra_config"}) {
    const auto others = quantization.is_object(key) ? quantization.object(key) : std::nullopt;
    if (!others) continue;
    for (const auto& [word, scheme] : others->entries()) {
      const bool out = word.starts_with("-:");
      const bool names = key == "extra_config" || word.starts_with("+:") || out;
      const Stored other = out ? std::nullopt : read_integers(scheme, format, group, zero_points);
      add_rule(*others, word, names ? word : "re:" + word, other, modules.named);
    }
  }
}

/// GPTQ stores zero points even if all are the same.
void read_gptq(const ConfigObject& quantization, QuantizedModules& modules) {
  read_groups_of_integers(quantization, true, modules);
}

void read_awq(const ConfigObject& quantization, QuantizedModules& modules) {
  read_groups_of_integers(quantization, quantization.flag("zero_point", true), modules);
}

/// mxfp4 applies only to routed experts.
void read_mxfp4(const ConfigObject& /*quantization*/, QuantizedModules& modules) {
  modules.experts = weight_format(NumberFormat::mxfp4);
}

/// nf4 and fp4 in blocks of 64 with an fp32 scale; with double quantization, scales have 8 bits in blocks of 256.
/// [Dettmers2023]
void read_bitsandbytes(const ConfigObject& quantization, QuantizedModules& modules) {
  if (quantization.flag("load_in_8bit", false)) {
    modules.layers = modules.experts = weight_format(NumberFormat::int8);
  } else if (quantization.flag("load_in_4bit", false)) {
    const bool twice = quantization.flag("bnb_4bit_use_double_quant", false);
    modules.layers = modules.experts =
        WeightFormat{NumberFormat::int4, 4.0 + (twice ? 8.0 / 64.0 + 32.0 / (64.0 * 256.0) : 32.0 / 64.0)};
  } else {
    quantization.reject("load_in_4bit", "is not true", "nor is load_in_8bit: no format is stated", say_format);
  }
}

/// {"dtype": "fp4", "group_size": 32}; with two levels of scales, the weights' scales come first.
Stored read_quark_weights(const ConfigObject& scheme) {
  const auto weights = scheme.is_object("weight") ? scheme.object("weight") : std::nullopt;
  if (!weights) return std::nullopt;
  const std::string word = lower_case(weights->text("dtype").value_or(""));
  const bool floating = word.starts_with("fp");
  const std::size_t digit = word.find_first_of("0123456789");
  const std::int64_t bits = digit == std::string::npos ? 0 : word[digit] - '0';
  const Stored format = format_of(bits, floating ? "float" : "int", group_of(*weights).value_or(0));
  if (!format) weights->reject("dtype", fmt::format("\"{}\" is not known", word), "", say_format);
  return format;
}

void read_quark(const ConfigObject& quantization, QuantizedModules& modules) {
  const auto whole = quantization.object("global_quant_config");
  if (!whole) return quantization.reject("global_quant_config", "missing", "it states the formats");
  modules.layers = modules.experts = read_quark_weights(*whole);
  if (!modules.layers) whole->reject("weight", "states no format", "", say_format);
  if (const auto others = quantization.object("layer_quant_config")) {
    for (const auto& [word, scheme] : others->entries()) {
      add_rule(*others, word, word, read_quark_weights(scheme), modules.named);
    }
  }
}

/// "int4_weight_only" or {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}
void read_torchao(const ConfigObject& quantization, QuantizedModules& modules) {
  std::string type = quantization.is_text("quant_type") ? quantization.text("quant_type").value_or("") : "";
  std::optional<std::int64_t> group;
  if (const auto numbers = quantization.object("quant_type_kwargs")) group = group_of(*numbers);
  const auto types = quantization.is_object("quant_type") ? quantization.object("quant_type") : std::nullopt;
  const auto defaults = types && types->entries().size() == 1 ? types->object("default") : std::nullopt;
  if (defaults) {
    type = defaults->text("_type").value_or("");
    if (const auto data = defaults->object("_data")) group = group_of(*data);
  }
  type = lower_case(type);
  constexpr std::int64_t default_group = 128;
  Stored format;
  if (type.starts_with("int4")) format = format_of(4, "int", group.value_or(default_group));
  if (type.starts_with("int8")) format = weight_format(NumberFormat::int8);
  if (type.starts_with("float8")) format = weight_format(NumberFormat::fp8);
  if (!format) quantization.reject("quant_type", "is not known", "its layers differ or its type is new", say_format);
  modules.layers = modules.experts = format;
}

/// Some configs state the numbers of the scheme, some its name.
std::optional<NumberFormat> read_cache(const ConfigObject& quantization) {
  const std::string_view key = quantization.has("kv_cache_scheme") ? "kv_cache_scheme" : "kv_cache_quant_algo";
  if (!quantization.has(key)) return std::nullopt;
  if (!quantization.is_text(key)) {
    const auto scheme = quantization.object(key);
    const Stored format = scheme ? read_scheme(*scheme) : std::nullopt;
    return format ? std::optional(format->format) : std::nullopt;
  }
  const std::string word = quantization.text(key).value_or("");
  const auto format = number_format(word);
  if (!format) quantization.reject(key, fmt::format("\"{}\" is not known", word), "", "e.g. FP8");
  return format;
}

struct Method {
  std::string_view word;
  void (*read)(const ConfigObject& quantization, QuantizedModules& modules);
};
constexpr std::array methods{
    Method{"auto-round", read_gptq},
    Method{"awq", read_awq},
    Method{"bitsandbytes", read_bitsandbytes},
    Method{"compressed-tensors", read_groups},
    Method{"fbgemm_fp8", read_fp8},
    Method{"fp8", read_fp8},
    Method{"gptq", read_gptq},
    Method{"modelopt", read_modelopt},
    Method{"mxfp4", read_mxfp4},
    Method{"quark", read_quark},
    Method{"torchao", read_torchao},
};

/// Without a method, modelopt is recognized by its keys.
std::string method_of(const ConfigObject& quantization) {
  std::string word = lower_case(quantization.text("quant_method").value_or("modelopt"));
  std::ranges::replace(word, '_', '-');
  if (word.starts_with("modelopt")) return "modelopt";
  if (word == "intel/auto-round") return "auto-round";
  return word == "fbgemm-fp8" ? "fbgemm_fp8" : word;
}

}  // namespace

ConfigFormats read_quantization(const ConfigObject& quantization, const ModelShape& shape,
                                const std::optional<WeightFormat>& experts, std::vector<std::string>& notes) {
  ConfigFormats formats;
  formats.kv_cache = read_cache(quantization);
  const std::string method = method_of(quantization);
  const auto* const found = std::ranges::find(methods, method, &Method::word);
  if (found == methods.end()) {
    quantization.reject("quant_method",
                        fmt::format("\"{}\" is not known", quantization.text("quant_method").value_or("")), "",
                        suggestion_for(method, words_in(methods)));
    return formats;
  }
  QuantizedModules modules;
  modules.experts = experts;
  found->read(quantization, modules);
  read_excluded(quantization, modules);
  for (ModuleRules* rules : {&modules.excluded, &modules.named}) {
    const std::string why = rules->compile();
    if (!why.empty()) quantization.reject("ignore", "expressions " + why, "", say_format);
  }
  formats.weights = part_formats(modules, shape, LayersOf::model);
  formats.drafting = part_formats(modules, shape, LayersOf::drafting);
  if (quantization.is_text("format") && quantization.text("format").value_or("").find("24") != std::string::npos) {
    notes.emplace_back("weights with two of four zero are counted as all others");
  }
  return formats;
}

}  // namespace foredraft::latency
