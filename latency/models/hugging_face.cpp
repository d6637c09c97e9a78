// SPDX-License-Identifier: Apache-2.0
#include "latency/models/hugging_face.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/documents.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/config_object.hpp"
#include "latency/models/heads.hpp"
#include "latency/models/quantization.hpp"
#include "latency/models/storage.hpp"

namespace foredraft::latency {
namespace {

/// Replaces numbers that Python writes but JSON does not have ("time_step_limit": [0.0, Infinity]); they are not needed
/// here.
std::string without_python_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    if (quoted && text[at] == '\\') {
      out += text.substr(at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    std::size_t length = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (!quoted && length == 0 && text.substr(at, word.size()) == word) length = word.size();
    }
    if (length > 0) {
      out += "null";
      at += length;
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// Parses the document. Quantizations may list each expert of each layer, so the number of keys is not limited.
nlohmann::ordered_json parse_document(std::string_view json, ProblemList& problems) {
  nlohmann::ordered_json document = parse_large_json(without_python_numbers(json), problems);
  if (problems.empty() && !document.is_object()) problems.add({.text = "no config.json", .why = "must be an object"});
  if (!problems.empty()) throw DomainError(problems.text());
  return document;
}

struct ConfigKey {
  std::string_view shape, config;
};
/// The usual config key of each member of the shape.
constexpr std::array config_keys{
    ConfigKey{"layers", "num_hidden_layers"},
    ConfigKey{"d_model", "hidden_size"},
    ConfigKey{"heads", "num_attention_heads"},
    ConfigKey{"kv_heads", "num_key_value_heads"},
    ConfigKey{"d_ff", "intermediate_size"},
    ConfigKey{"vocabulary", "vocab_size"},
    ConfigKey{"max_context", "max_position_embeddings"},
    ConfigKey{"experts.per_token", "num_experts_per_tok"},
    ConfigKey{"experts.dense_layers", "first_k_dense_replace"},
    ConfigKey{"window.tokens", "sliding_window"},
    ConfigKey{"head.draft_vocabulary", "draft_vocab_size"},
};

std::string_view config_key(std::string_view shape_key) {
  const auto* found = std::find_if(config_keys.begin(), config_keys.end(),
                                   [shape_key](const ConfigKey& entry) { return entry.shape == shape_key; });
  return found == config_keys.end() ? shape_key : found->config;
}

/// The nested config of the text model: of multimodal models, of the thinker of speaking models, of the layers of
/// heads.
std::optional<ConfigObject> nested_config(const ConfigObject& root, std::vector<std::string>& notes) {
  if (root.is_object("transformer_layer_config")) return root.object("transformer_layer_config");
  if (root.is_object("thinker_config")) return nested_config(*root.object("thinker_config"), notes);
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (!root.is_object(key)) continue;
    notes.push_back(fmt::format("{}: only the text model; vision and audio are ignored", key));
    return root.object(key);
  }
  return std::nullopt;
}

/// DeepSeek-V4 states the format of routed experts separately: fp4 with an exponent per 32 values.
std::optional<WeightFormat> experts_format(const ConfigObject& config) {
  const auto word = config.text("expert_dtype");
  if (!word) return std::nullopt;
  const auto format = *word == "fp4" ? NumberFormat::mxfp4 : number_format(*word);
  if (!format) config.reject("expert_dtype", fmt::format("\"{}\" is not known", *word), "", "e.g. fp4");
  return format ? std::optional(weight_format(*format)) : std::nullopt;
}

void read_formats(const ConfigObject& root, const ConfigObject& config, HuggingFaceModel& model) {
  for (const ConfigObject* place : {&config, &root}) {
    for (const std::string_view key : {"quantization_config", "compression_config"}) {
      const auto quantization = place->object(key);
      if (!quantization) continue;
      const ConfigFormats formats = read_quantization(*quantization, model.shape, experts_format(config), model.notes);
      model.weights = formats.weights;
      model.drafting_weights = formats.drafting;
      model.kv_cache = formats.kv_cache;
      model.quantized = true;
      return;
    }
  }
  for (const ConfigObject* place : {&config, &root}) {
    for (const std::string_view key : {"dtype", "torch_dtype"}) {
      const auto word = place->text(key);
      if (!word || *word == "auto") continue;
      model.weights = number_format(*word);
      if (!model.weights) place->reject(key, fmt::format("\"{}\" is not known", *word), "", "e.g. bfloat16");
      return;
    }
  }
}

const ConfigFamily* family_of(std::string_view type) {
  const std::string text = "_text";
  const auto& families = config_families();
  const auto found = std::find_if(families.begin(), families.end(), [&](const ConfigFamily& family) {
    // "gemma3" with an untyped text model means "gemma3_text"; "minimax_m3_text" means "minimax_m3".
    return family.model_type == type || family.model_type == std::string(type) + text ||
           std::string(family.model_type) + text == type;
  });
  return found == families.end() ? nullptr : &*found;
}

/// The architecture whose reader reads the most keys of the config without a problem; empty if there is none.
std::string_view closest_family(const ConfigObject& config) {
  constexpr std::size_t most_keys = 1000;  // of any model; limits the time
  if (config.size() > most_keys) return {};
  std::string_view closest;
  std::size_t most = 0;
  for (const ConfigFamily& family : config_families()) {
    if (!family.named) continue;
    ProblemList listed("");
    ConfigProblems problems(listed);
    ModelShape shape;
    shape.name = "tried";
    std::vector<std::string> notes;
    std::int64_t drafting_layers = 0;
    FamilyReading reading{config.reporting_to(problems), shape, notes, drafting_layers};
    family.read(reading);
    const std::size_t keys = problems.read().size();
    const bool plainest = family.model_type == "llama";  // among equals
    const bool better = keys > most || (keys == most && plainest);
    if (!better || problems.count() > 0 || !shape_problems(shape).empty()) continue;
    most = keys;
    closest = family.model_type;
  }
  return closest;
}

/// Calls the reader of a model_type, or adds a problem that suggests the family with the same keys.
void read_family(const ConfigObject& root, std::string_view assume, FamilyReading& reading) {
  const ConfigObject& config = reading.config;
  const std::string outer = root.text("model_type").value_or("");
  const std::string stated = config.text("model_type").value_or(outer);
  const ConfigObject& place = config.has("model_type") ? config : root;
  if (!assume.empty()) {
    const ConfigFamily* family = family_of(assume);
    if (family == nullptr) {
      return place.reject("model_type", fmt::format("unknown architecture \"{}\"", assume), "of --assume",
                          suggestion_for(std::string(assume), hugging_face_architectures()));
    }
    reading.notes.push_back(fmt::format("model_type: \"{}\" is read as {}, which is assumed", stated, assume));
    return family->read(reading);
  }
  if (stated.empty()) {
    return root.reject("model_type", "missing", "it names the architecture",
                       "is this the config.json of a Hugging Face checkpoint?");
  }
  if (const ConfigFamily* family = family_of(stated)) return family->read(reading);
  const std::string_view closest = closest_family(config);
  if (closest.empty()) {
    return place.reject("model_type", fmt::format("unknown architecture \"{}\"", stated),
                        "no known one has all keys that it needs here",
                        suggestion_for(stated, hugging_face_architectures()));
  }
  place.reject("model_type", fmt::format("unknown architecture \"{}\"", stated),
               fmt::format("its keys are those of {}", closest), fmt::format("--assume {} reads it so", closest));
}

}  // namespace

std::vector<std::string> hugging_face_architectures() {
  std::vector<std::string> names;
  for (const ConfigFamily& family : config_families()) names.emplace_back(family.model_type);
  return names;
}

void add_quantization(HuggingFaceModel& model, std::string_view json, const std::string& name) {
  ProblemList problems(name);
  ConfigProblems config_problems(problems);
  const nlohmann::ordered_json document = parse_document(json, problems);
  const ConfigObject root(document, "", config_problems);
  if (const auto quantization = root.object("quantization")) {
    const ConfigFormats formats = read_quantization(*quantization, model.shape, std::nullopt, model.notes);
    if (formats.weights && !model.quantized) {
      model.weights = formats.weights;
      model.drafting_weights = formats.drafting;
    }
    if (formats.kv_cache) model.kv_cache = formats.kv_cache;
  } else {
    root.reject("quantization", "missing", "it states the formats");
  }
  if (!problems.empty()) throw DomainError(problems.text());
}

HuggingFaceModel parse_hugging_face(std::string_view json, const std::string& name, std::string_view assume) {
  ProblemList problems(name);
  HuggingFaceModel model;
  model.shape.name = name;
  model.shape.source = name;
  const nlohmann::ordered_json document = parse_document(json, problems);
  ConfigProblems config_problems(problems);
  const ConfigObject root(document, "", config_problems);
  const std::optional<ConfigObject> nested = nested_config(root, model.notes);
  FamilyReading reading{nested.value_or(root), model.shape, model.notes, model.shape.drafting.layers};
  if (assume.empty() && is_head(root)) {
    read_head(reading, root);
  } else {
    read_family(root, assume, reading);
  }
  // Multimodal configs may state it at the top level.
  if (nested && !reading.config.has("tie_word_embeddings") && root.has("tie_word_embeddings")) {
    model.shape.tied = root.flag("tie_word_embeddings", model.shape.tied);
  }
  read_formats(root, reading.config, model);
  const bool head = model.shape.architecture == Architecture::head;
  model.shape.summary = fmt::format("{} of a config.json", head ? "a head" : root.text("model_type").value_or("model"));
  // Otherwise further problems would only be consequences.
  if (problems.empty()) {
    for (const ShapeProblem& problem : shape_problems(model.shape)) {
      root.reject(config_key(problem.key), problem.text, problem.why);
    }
  }
  if (!problems.empty()) throw DomainError(problems.text());
  return model;
}

}  // namespace foredraft::latency
