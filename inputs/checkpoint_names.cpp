// SPDX-License-Identifier: Apache-2.0
#include "inputs/checkpoint_names.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/names.hpp"
#include "latency/models/heads.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::inputs {
namespace {

enum class Variants { kept, dropped };

/// True for a word that does not change the shape: how a checkpoint was trained, its date, or who trained a head.
bool is_variant(const std::string& word) {
  constexpr std::array<std::string_view, 14> variants{"base",   "chat",     "hf",    "instruct",   "it",
                                                      "meta",   "thinking", "draft", "speculator", "specforge",
                                                      "sglang", "b16",      "rl",    "sft"};
  constexpr std::size_t date_digits = 4;  // 2507, 0528
  const bool is_number = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  return std::ranges::find(variants, word) != variants.end() || (is_number && word.size() == date_digits);
}

/// Normalizes a checkpoint's name to compare shapes: lower case, separators only between digits (Qwen2.5-7B is not
/// Qwen2-57B), the kind of a head first (Qwen3-8B-speculator.eagle3) and, if dropped, no variants: "llama3.1.8b".
std::string shape_name(std::string_view name, Variants variants) {
  const auto is_plain = [](char c) { return !plain_name({&c, 1}).empty(); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::vector<std::string> words;
  for (auto at = name.begin(); at != name.end();) {
    const auto end = std::find_if_not(at, name.end(), is_plain);
    const std::string word = plain_name(std::string(at, end));
    at = std::find_if(end, name.end(), is_plain);
    if (!word.empty() && !(variants == Variants::dropped && is_variant(word))) words.push_back(word);
  }
  std::stable_partition(words.begin(), words.end(), [](const std::string& word) {
    return std::ranges::find(latency::head_kinds, word) != latency::head_kinds.end();
  });
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty() && is_digit(joined.back()) && is_digit(word.front())) joined += '.';
    joined += word;
  }
  return joined;
}

std::string without_owner(const std::string& name) { return is_hub_id(name) ? name.substr(name.find('/') + 1) : name; }

}  // namespace

bool is_hub_id(std::string_view name) {
  const std::size_t slash = name.find('/');
  const auto allowed = [](char c) { return !plain_name({&c, 1}).empty() || c == '-' || c == '_' || c == '.'; };
  return slash != std::string_view::npos && slash > 0 && slash + 1 < name.size() && name.front() != '.' &&
         name[slash + 1] != '.' && std::ranges::all_of(name.substr(0, slash), allowed) &&
         std::ranges::all_of(name.substr(slash + 1), allowed) && !name.ends_with(".toml") && !name.ends_with(".json");
}

bool is_gguf_file(const std::string& name) { return lower_case(name).ends_with(".gguf"); }

std::string plain_checkpoint_name(const std::string& name) {
  return shape_name(without_owner(name), Variants::dropped);
}

bool has_shape_name(const latency::ModelShape& shape, const std::string& wanted) {
  const auto is_wanted = [&](const std::string& known) { return shape_name(known, Variants::kept) == wanted; };
  return is_wanted(shape.name) || std::ranges::any_of(shape.aliases, is_wanted);
}

const latency::ModelShape* shape_of_checkpoint(const std::string& name) {
  for (const Variants variants : {Variants::kept, Variants::dropped}) {
    const std::string wanted = shape_name(without_owner(name), variants);
    for (const latency::ModelShape& shape : latency::model_registry()) {
      if (has_shape_name(shape, wanted)) return &shape;
    }
  }
  return nullptr;
}

std::optional<QuantizedCheckpoint> quantized_checkpoint(const std::string& what) {
  constexpr std::array<std::string_view, 10> further{"v2",     "gguf",  "mlx",       "bnb",       "dynamic",
                                                     "static", "block", "quantized", "pertensor", "kv"};
  constexpr std::string_view separators = "-.:";
  std::optional<latency::WeightFormats> weights;
  bool gguf = false;
  for (std::string name = is_gguf_file(what) ? std::filesystem::path(what).filename().string() : what;;) {
    std::size_t end = name.find_last_of(separators);
    if (end == std::string::npos || end == 0) return std::nullopt;
    auto format = latency::weight_formats(name.substr(end + 1));
    const std::size_t before = name.find_last_of(separators, end - 1);
    if (before != std::string::npos && before > 0) {  // formats of two words: UD-Q4_K_XL
      if (const auto longer = latency::weight_formats(name.substr(before + 1))) {
        format = longer;
        end = before;
      }
    }
    const std::string word = lower_case(name.substr(end + 1));
    if (!format && std::ranges::find(further, word) == further.end()) return std::nullopt;
    if (!weights) weights = format;
    gguf = gguf || word == "gguf";
    name.resize(end);
    const latency::ModelShape* shape = shape_of_checkpoint(name);
    if (shape == nullptr) continue;
    if (!weights && gguf && !shape->native_formats) weights = latency::weight_formats("q4_k_m");
    return QuantizedCheckpoint{shape, weights};
  }
}

}  // namespace foredraft::inputs
