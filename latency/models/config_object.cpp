// SPDX-License-Identifier: Apache-2.0
#include "latency/models/config_object.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::latency {

void ConfigProblems::add(Problem problem) {
  if (found_.emplace(problem.key, problem.text).second) problems_->add(std::move(problem));
}

ConfigObject::ConfigObject(const nlohmann::ordered_json& object, std::string prefix, ConfigProblems& problems)
    : object_(&object), prefix_(std::move(prefix)), problems_(&problems) {}

std::size_t ConfigObject::size() const { return object_->size(); }

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

bool ConfigObject::is_text(std::string_view key) const { return has(key) && find(key)->is_string(); }

bool ConfigObject::is_object(std::string_view key) const { return has(key) && find(key)->is_object(); }

bool ConfigObject::is_list(std::string_view key) const { return has(key) && find(key)->is_array(); }

std::optional<std::int64_t> ConfigObject::whole(std::string_view key, std::int64_t maximum) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number<std::int64_t>(*value, 0, maximum);
  if (!number) reject_type(key, *value, fmt::format("a whole number in [0, {}]", maximum));
  return number;
}

std::int64_t ConfigObject::whole_or(std::string_view key, std::int64_t fallback) const {
  return whole(key).value_or(fallback);
}

std::int64_t ConfigObject::required(std::string_view key) const {
  if (!has(key)) reject(key, "missing");
  return whole_or(key, 1);
}

std::optional<double> ConfigObject::real(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : -1.0;
  if (number >= 0.0 && number <= static_cast<double>(largest_config_number)) return number;
  reject_type(key, *value, fmt::format("a number in [0, {}]", largest_config_number));
  return std::nullopt;
}

bool ConfigObject::flag(std::string_view key, bool fallback) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  reject_type(key, *value, "true or false");
  return fallback;
}

std::optional<std::string> ConfigObject::text(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  reject_type(key, *value, "a string");
  return std::nullopt;
}

template <typename Entry>
std::optional<std::vector<Entry>> ConfigObject::list(
    std::string_view key, std::string_view kind, std::optional<Entry> (*read)(const nlohmann::ordered_json&)) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<Entry> all;
  bool sound = value->is_array();
  if (sound && value->size() > largest_config_list) {
    reject(key, fmt::format("has {} entries", value->size()), fmt::format("must be at most {}", largest_config_list));
    return std::nullopt;
  }
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    const std::optional<Entry> entry = read((*value)[i]);
    sound = entry.has_value();
    if (sound) all.push_back(*entry);
  }
  if (sound) return all;
  reject_type(key, *value, kind);
  return std::nullopt;
}

std::optional<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  return list<std::string>(key, "a list of strings", [](const nlohmann::ordered_json& entry) {
    return entry.is_string() ? std::optional(entry.get<std::string>()) : std::nullopt;
  });
}

std::optional<std::vector<std::int64_t>> ConfigObject::wholes(std::string_view key) const {
  return list<std::int64_t>(key, "a list of whole numbers", [](const nlohmann::ordered_json& entry) {
    return whole_number<std::int64_t>(entry, 0, largest_config_number);
  });
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return ConfigObject(*value, fmt::format("{}{}.", prefix_, key), *problems_);
  reject_type(key, *value, "an object");
  return std::nullopt;
}

std::optional<std::vector<ConfigObject>> ConfigObject::tables(std::string_view key) const {
  const nlohmann::ordered_json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<ConfigObject> all;
  bool sound = value->is_array();
  for (std::size_t i = 0; sound && i < value->size(); ++i) {
    sound = (*value)[i].is_object();
    if (sound) all.emplace_back((*value)[i], fmt::format("{}{}[{}].", prefix_, key, i), *problems_);
  }
  if (sound) return all;
  reject_type(key, *value, "a list of objects");
  return std::nullopt;
}

std::vector<ConfigObject> ConfigObject::objects() const {
  std::vector<ConfigObject> all;
  for (const auto& [key, value] : object_->items()) {
    if (value.is_object()) all.emplace_back(value, fmt::format("{}{}.", prefix_, key), *problems_);
  }
  return all;
}

void ConfigObject::reject(std::string_view key, std::string text, std::string why, std::string suggestion) const {
  problems_->add({.key = fmt::format("{}{}", prefix_, key),
                  .text = std::move(text),
                  .why = std::move(why),
                  .suggestion = std::move(suggestion)});
}

const nlohmann::ordered_json* ConfigObject::find(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  if (found == object_->end() || found->is_null()) return nullptr;
  problems_->add_read(fmt::format("{}{}", prefix_, key));
  return &*found;
}

void ConfigObject::reject_type(std::string_view key, const nlohmann::ordered_json& value, std::string_view kind) const {
  const bool list = value.is_structured();
  reject(key, list ? fmt::format("is an {}", value.type_name()) : fmt::format("is {}", value.dump()),
         fmt::format("must be {}", kind));
}

namespace {

const char* const say_format = "use --target-format or --draft-format on a config without it";

std::string lower_case(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

/// Integers of `bits`, or floating-point numbers in groups.
std::optional<NumberFormat> format_of(std::int64_t bits, const std::string& type, std::optional<std::int64_t> group) {
  if (bits == 8) return type == "float" ? NumberFormat::fp8 : NumberFormat::int8;
  if (bits != 4) return std::nullopt;
  if (type != "float") return NumberFormat::int4;
  return group == 32 ? NumberFormat::mxfp4 : NumberFormat::nvfp4;
}

/// A scheme of compressed-tensors or modelopt: {"num_bits": 8, "type": "float"}.
std::optional<NumberFormat> read_scheme(const ConfigObject& scheme) {
  const std::int64_t bits = scheme.required("num_bits");
  const std::string type = scheme.text("type").value_or("int");
  const auto format = format_of(bits, type, scheme.whole("group_size"));
  if (!format) {
    scheme.reject("num_bits", fmt::format("is {}", bits), "only 4 and 8 bits are supported", say_format);
  }
  return format;
}

/// The weights of all groups of layers, which must agree.
std::optional<NumberFormat> read_groups(const ConfigObject& quantization) {
  std::optional<NumberFormat> format;
  const auto groups = quantization.object("config_groups");
  if (!groups) return std::nullopt;
  for (const ConfigObject& group : groups->objects()) {
    const auto weights = group.object("weights");
    if (!weights) continue;
    const auto one = read_scheme(*weights);
    if (format && one && *one != *format) {
      quantization.reject("config_groups", fmt::format("{} and {} in one model", to_string(*format), to_string(*one)),
                          "all layers must have one format", say_format);
    }
    if (one) format = one;
  }
  return format;
}

/// modelopt's quant_algo.
constexpr std::array algorithms{
    Word{"fp8", NumberFormat::fp8},
    Word{"fp8_pb_wo", NumberFormat::fp8},
    Word{"fp8_pb_real", NumberFormat::fp8},
    Word{"nvfp4", NumberFormat::nvfp4},
    Word{"nvfp4_awq", NumberFormat::nvfp4},
    Word{"mxfp4", NumberFormat::mxfp4},
    Word{"w4a16_awq", NumberFormat::int4},
    Word{"w4a8_awq", NumberFormat::int4},
    Word{"w4a16_gptq", NumberFormat::int4},
    Word{"int8_sq", NumberFormat::int8},
    Word{"w8a8_sq_per_channel", NumberFormat::int8},
    Word{"w8a16", NumberFormat::int8},
};

std::optional<NumberFormat> read_algorithm(const ConfigObject& quantization) {
  const auto word = quantization.text("quant_algo");
  if (!word) return std::nullopt;
  if (const auto format = meaning_of(lower_case(*word), algorithms)) return format;
  const bool mixed = lower_case(*word) == "mixed_precision";
  quantization.reject("quant_algo", fmt::format("\"{}\" is not known", *word),
                      mixed ? "all layers must have one format" : "",
                      mixed ? say_format : suggestion_for(lower_case(*word), words_in(algorithms)));
  return std::nullopt;
}

std::optional<NumberFormat> read_bits(const ConfigObject& quantization) {
  const std::int64_t bits = quantization.whole_or("bits", quantization.whole_or("w_bit", 4));
  if (bits == 4) return NumberFormat::int4;
  if (bits == 8) return NumberFormat::int8;
  quantization.reject("bits", fmt::format("is {}", bits), "only 4 and 8 bits are supported", say_format);
  return std::nullopt;
}

std::optional<NumberFormat> read_bitsandbytes(const ConfigObject& quantization) {
  if (quantization.flag("load_in_8bit", false)) return NumberFormat::int8;
  quantization.reject("load_in_4bit", "is not known", "nf4 and fp4 by bitsandbytes have scales of their own",
                      say_format);
  return std::nullopt;
}

/// Some configs state the numbers of the scheme, some its name.
std::optional<NumberFormat> read_cache(const ConfigObject& quantization) {
  const std::string_view key = quantization.has("kv_cache_scheme") ? "kv_cache_scheme" : "kv_cache_quant_algo";
  if (!quantization.has(key)) return std::nullopt;
  if (!quantization.is_text(key)) {
    const auto scheme = quantization.object(key);
    return scheme ? read_scheme(*scheme) : std::nullopt;
  }
  const std::string word = quantization.text(key).value_or("");
  const auto format = number_format(word);
  if (!format) quantization.reject(key, fmt::format("\"{}\" is not known", word), "", "e.g. FP8");
  return format;
}

/// Adds a note that modules of the layers are not quantized, which a shape cannot express.
void note_left_out(const ConfigObject& quantization, NumberFormat format, std::vector<std::string>& notes) {
  for (const char* key : {"modules_to_not_convert", "exclude_modules", "ignore"}) {
    const auto modules = quantization.texts(key);
    if (!modules) continue;
    const bool attention = std::any_of(modules->begin(), modules->end(), [](const std::string& module) {
      return module.find("attn") != std::string::npos;
    });
    if (!attention) continue;
    notes.push_back(
        fmt::format("{}: unquantized attention is counted as {}, like the rest of the layers", key, to_string(format)));
  }
}

}  // namespace

ConfigFormats read_quantization(const ConfigObject& quantization, std::vector<std::string>& notes) {
  ConfigFormats formats;
  formats.kv_cache = read_cache(quantization);
  // Without a method, modelopt is recognized by its keys.
  const std::string method = lower_case(quantization.text("quant_method").value_or("modelopt"));
  if (method == "fp8" || method == "fbgemm_fp8") {
    formats.weights = NumberFormat::fp8;
  } else if (method == "awq" || method == "gptq") {
    formats.weights = read_bits(quantization);
  } else if (method == "compressed-tensors") {
    formats.weights = read_groups(quantization);
  } else if (method.starts_with("modelopt")) {
    formats.weights = quantization.has("quant_algo") ? read_algorithm(quantization) : read_groups(quantization);
  } else if (method == "mxfp4") {
    formats.weights = NumberFormat::mxfp4;
  } else if (method == "bitsandbytes") {
    formats.weights = read_bitsandbytes(quantization);
  } else {
    const std::vector<std::string> known{"awq", "bitsandbytes", "compressed-tensors", "fbgemm_fp8",
                                         "fp8", "gptq",         "modelopt",           "mxfp4"};
    quantization.reject("quant_method", fmt::format("\"{}\" is not known", method), "", suggestion_for(method, known));
  }
  if (formats.weights) note_left_out(quantization, *formats.weights, notes);
  return formats;
}

}  // namespace foredraft::latency
