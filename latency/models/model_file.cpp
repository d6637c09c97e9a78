// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <sstream>

#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::latency {
namespace {

enum class Presence { required, optional };

template <typename Value>
struct ShapeKey {
  std::string_view key;
  Value ModelShape::*member;
  Presence presence;
};

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};

constexpr std::array text_keys{
    ShapeKey<std::string>{"summary", &ModelShape::summary, Presence::required},
    ShapeKey<std::string>{"source", &ModelShape::source, Presence::required},
};
constexpr std::array integer_keys{
    ShapeKey<std::int64_t>{"encoder_layers", &ModelShape::encoder_layers, Presence::optional},
    ShapeKey<std::int64_t>{"layers", &ModelShape::layers, Presence::required},
    ShapeKey<std::int64_t>{"d_model", &ModelShape::d_model, Presence::required},
    ShapeKey<std::int64_t>{"heads", &ModelShape::heads, Presence::required},
    ShapeKey<std::int64_t>{"kv_heads", &ModelShape::kv_heads, Presence::required},
    ShapeKey<std::int64_t>{"head_dim", &ModelShape::head_dim, Presence::required},
    ShapeKey<std::int64_t>{"d_ff", &ModelShape::d_ff, Presence::required},
    ShapeKey<std::int64_t>{"vocabulary", &ModelShape::vocabulary, Presence::required},
    ShapeKey<std::int64_t>{"learned_positions", &ModelShape::learned_positions, Presence::optional},
    ShapeKey<std::int64_t>{"source_length", &ModelShape::source_length, Presence::optional},
    ShapeKey<std::int64_t>{"further_parameters", &ModelShape::further_parameters, Presence::optional},
};
constexpr std::array flag_keys{
    ShapeKey<bool>{"gated", &ModelShape::gated, Presence::optional},
    ShapeKey<bool>{"tied", &ModelShape::tied, Presence::optional},
    ShapeKey<bool>{"attention_bias", &ModelShape::attention_bias, Presence::optional},
    ShapeKey<bool>{"bias", &ModelShape::bias, Presence::optional},
};
constexpr std::array architectures{
    Word<Architecture>{"decoder", Architecture::decoder},
    Word<Architecture>{"encoder_decoder", Architecture::encoder_decoder},
    Word<Architecture>{"head", Architecture::head},
};
constexpr std::array norms{Word<Norm>{"rms", Norm::rms}, Word<Norm>{"layer", Norm::layer}};
constexpr std::array activations{
    Word<Activation>{"silu", Activation::silu},
    Word<Activation>{"gelu", Activation::gelu},
    Word<Activation>{"relu", Activation::relu},
};
constexpr std::array position_kinds{
    Word<Positions>{"rotary", Positions::rotary},
    Word<Positions>{"learned", Positions::learned},
    Word<Positions>{"sinusoidal", Positions::sinusoidal},
    Word<Positions>{"relative_bias", Positions::relative_bias},
};

/// What a newcomer may ask for and the passes do not have.
constexpr std::array unsupported_keys{
    Word<std::string_view>{"quantization", "quantised weights are"},
    Word<std::string_view>{"quantisation", "quantised weights are"},
    Word<std::string_view>{"weight_bits", "quantised weights are"},
    Word<std::string_view>{"fp8", "quantised weights are"},
    Word<std::string_view>{"experts", "mixtures of experts are"},
    Word<std::string_view>{"num_experts", "mixtures of experts are"},
    Word<std::string_view>{"experts_per_token", "mixtures of experts are"},
    Word<std::string_view>{"tensor_parallel", "tensor parallelism is"},
    Word<std::string_view>{"tensor_parallel_size", "tensor parallelism is"},
};

std::int64_t line_of(const toml::source_region& region) { return static_cast<std::int64_t>(region.begin.line); }

/// Reads one table into a shape and notes which keys it knows.
class ShapeReader {
 public:
  ShapeReader(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems)
      : table_(&table), line_(line), problems_(&problems) {
    shape_.name = std::move(name);
  }

  template <typename Value, std::size_t size>
  void read(const std::array<ShapeKey<Value>, size>& keys, std::string_view kind) {
    for (const ShapeKey<Value>& key : keys) {
      const toml::node* node = take(key.key, key.presence);
      if (node == nullptr) continue;
      if (const auto value = node->value_exact<Value>()) {
        shape_.*key.member = *value;
      } else {
        refuse_type(key.key, *node, kind);
      }
    }
  }

  template <typename Value, std::size_t size>
  void read_word(std::string_view key, const std::array<Word<Value>, size>& words, Value ModelShape::*member,
                 Presence presence) {
    const toml::node* node = take(key, presence);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    if (!text) return refuse_type(key, *node, "a string");
    std::vector<std::string> known;
    for (const Word<Value>& word : words) {
      if (word.word == *text) {
        shape_.*member = word.value;
        return;
      }
      known.emplace_back(word.word);
    }
    add(line_of(node->source()), key, fmt::format("unknown {} \"{}\"", key, *text), "", suggestion_for(*text, known));
  }

  /// A count may be written 1.3e9, so this takes whole numbers and others.
  [[nodiscard]] std::optional<double> take_number(std::string_view key) {
    const toml::node* node = take(key, Presence::optional);
    if (node == nullptr) return std::nullopt;
    if (!node->is_number()) refuse_type(key, *node, "a number");
    return node->value<double>();
  }

  ModelShape finish() {
    shape_.published_parameters = take_number("published_parameters");
    shape_.published_rounding = take_number("published_rounding").value_or(0.0);
    refuse_unknown_keys();
    // The rest would follow from what is missing or mistyped.
    if (sound_) {
      for (const ShapeProblem& problem : shape_problems(shape_)) {
        add(line_of_key(problem.key), problem.key, problem.text, problem.why, "");
      }
    }
    return shape_;
  }

 private:
  const toml::node* take(std::string_view key, Presence presence) {
    known_.emplace_back(key);
    const toml::node* node = table_->get(key);
    if (node == nullptr && presence == Presence::required) add(line_, key, "missing", "", "");
    return node;
  }

  void refuse_type(std::string_view key, const toml::node& node, std::string_view kind) {
    std::ostringstream is;
    is << node.type();
    add(line_of(node.source()), key, "wrong type", fmt::format("must be {}, is {}", kind, is.str()), "");
  }

  void refuse_unknown_keys() {
    for (const auto& [key, node] : *table_) {
      const std::string_view name = key.str();
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      const auto* feature = std::find_if(unsupported_keys.begin(), unsupported_keys.end(),
                                         [name](const auto& word) { return word.word == name; });
      if (feature != unsupported_keys.end()) {
        add(line_of(key.source()), name, "not supported", fmt::format("{} not measured", feature->value), "");
      } else {
        add(line_of(key.source()), name, "unknown key", "", suggestion_for(name, known_));
      }
    }
  }

  [[nodiscard]] std::int64_t line_of_key(std::string_view key) const {
    const toml::node* node = table_->get(key);
    return node == nullptr ? line_ : line_of(node->source());
  }

  void add(std::int64_t line, std::string_view key, std::string text, std::string why, std::string suggestion) {
    problems_->add(
        {line, fmt::format("{}.{}", shape_.name, key), std::move(text), std::move(why), std::move(suggestion)});
    sound_ = false;
  }

  const toml::table* table_;
  std::int64_t line_;
  ProblemList* problems_;
  ModelShape shape_;
  std::vector<std::string> known_;
  bool sound_ = true;
};

ModelShape read_shape(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems) {
  ShapeReader reader(table, std::move(name), line, problems);
  reader.read(text_keys, "a string");
  reader.read_word("architecture", architectures, &ModelShape::architecture, Presence::optional);
  reader.read(integer_keys, "a whole number");
  reader.read(flag_keys, "true or false");
  reader.read_word("norm", norms, &ModelShape::norm, Presence::required);
  reader.read_word("activation", activations, &ModelShape::activation, Presence::required);
  reader.read_word("positions", position_kinds, &ModelShape::positions, Presence::required);
  return reader.finish();
}

}  // namespace

std::vector<ModelShape> parse_models(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  std::vector<ModelShape> shapes;
  if (!check_toml_limits(text, problems)) throw DomainError(problems.text());
  try {
    for (const auto& [key, node] : toml::parse(text, name)) {
      const std::int64_t line = line_of(key.source());
      const std::string model(key.str());
      if (const toml::table* table = node.as_table()) {
        shapes.push_back(read_shape(*table, model, line, problems));
      } else {
        problems.add({line, model, "unknown key", "a model is a table", fmt::format("write [\"{}\"]", model)});
      }
    }
    if (shapes.empty() && problems.empty()) problems.add({.text = "no models", .why = "a model is a table"});
  } catch (const toml::parse_error& error) {
    problems.add({line_of(error.source()), "syntax", std::string(error.description())});
  }
  if (!problems.empty()) throw DomainError(problems.text());
  return shapes;
}

std::vector<ModelShape> read_models(const std::string& path) { return parse_models(read_file(path), path); }

}  // namespace foredraft::latency
