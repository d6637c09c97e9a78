// SPDX-License-Identifier: Apache-2.0
#include "latency/models/model_registry.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <sstream>

#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

bool before(const ModelShape& a, const ModelShape& b) { return a.name < b.name; }

std::vector<ModelShape> shipped_models() {
  std::vector<ModelShape> models;
  for (const ModelText& file : model_texts()) {
    std::vector<ModelShape> family = parse_models(file.text, fmt::format("latency/models/{}.toml", file.name));
    std::move(family.begin(), family.end(), std::back_inserter(models));
  }
  std::sort(models.begin(), models.end(), before);
  return models;
}

}  // namespace

const std::vector<ModelShape>& model_registry() {
  static const std::vector<ModelShape> models = shipped_models();
  return models;
}

const ModelShape& find_model(const std::vector<ModelShape>& models, std::string_view name) {
  std::vector<std::string> known;
  for (const ModelShape& model : models) {
    if (model.name == name) return model;
    known.push_back(model.name);
  }
  throw DomainError(fmt::format("unknown model \"{}\" - {}", name, suggestion_for(name, known)));
}

namespace {

enum class Presence { required, optional };

template <typename Owner, typename Value>
struct Key {
  std::string_view key;
  Value Owner::*member;
  Presence presence = Presence::optional;
};
template <typename Value>
using ShapeKey = Key<ModelShape, Value>;

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
    ShapeKey<std::int64_t>{"encoder_layers", &ModelShape::encoder_layers},
    ShapeKey<std::int64_t>{"layers", &ModelShape::layers, Presence::required},
    ShapeKey<std::int64_t>{"d_model", &ModelShape::d_model, Presence::required},
    ShapeKey<std::int64_t>{"heads", &ModelShape::heads, Presence::required},
    ShapeKey<std::int64_t>{"kv_heads", &ModelShape::kv_heads, Presence::required},
    ShapeKey<std::int64_t>{"head_dim", &ModelShape::head_dim, Presence::required},
    ShapeKey<std::int64_t>{"d_ff", &ModelShape::d_ff},
    ShapeKey<std::int64_t>{"vocabulary", &ModelShape::vocabulary, Presence::required},
    ShapeKey<std::int64_t>{"learned_positions", &ModelShape::learned_positions},
    ShapeKey<std::int64_t>{"source_length", &ModelShape::source_length},
    ShapeKey<std::int64_t>{"max_context", &ModelShape::max_context},
    ShapeKey<std::int64_t>{"norms_per_layer", &ModelShape::norms_per_layer},
    ShapeKey<std::int64_t>{"further_parameters", &ModelShape::further_parameters},
};
constexpr std::array layer_keys{
    ShapeKey<std::optional<std::int64_t>>{"attention_layers", &ModelShape::attention_layers},
    ShapeKey<std::optional<std::int64_t>>{"feed_forward_layers", &ModelShape::feed_forward_layers},
};
constexpr std::array flag_keys{
    ShapeKey<bool>{"gated", &ModelShape::gated},
    ShapeKey<bool>{"tied", &ModelShape::tied},
    ShapeKey<bool>{"attention_bias", &ModelShape::attention_bias},
    ShapeKey<bool>{"bias", &ModelShape::bias},
    ShapeKey<bool>{"query_key_norm", &ModelShape::query_key_norm},
    ShapeKey<bool>{"attention_gate", &ModelShape::attention_gate},
    ShapeKey<bool>{"values_are_keys", &ModelShape::values_are_keys},
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

// Tables within a model's.
constexpr std::array expert_keys{
    Key<Experts, std::int64_t>{"count", &Experts::count, Presence::required},
    Key<Experts, std::int64_t>{"per_token", &Experts::per_token, Presence::required},
    Key<Experts, std::int64_t>{"d_ff", &Experts::d_ff, Presence::required},
    Key<Experts, std::int64_t>{"shared_d_ff", &Experts::shared_d_ff},
    Key<Experts, std::int64_t>{"dense_layers", &Experts::dense_layers},
};
constexpr std::array latent_keys{
    Key<LatentAttention, std::int64_t>{"kv_rank", &LatentAttention::kv_rank, Presence::required},
    Key<LatentAttention, std::int64_t>{"query_rank", &LatentAttention::query_rank},
    Key<LatentAttention, std::int64_t>{"rope_dim", &LatentAttention::rope_dim, Presence::required},
    Key<LatentAttention, std::int64_t>{"nope_dim", &LatentAttention::nope_dim, Presence::required},
    Key<LatentAttention, std::int64_t>{"value_dim", &LatentAttention::value_dim, Presence::required},
};
constexpr std::array window_keys{
    Key<SlidingWindow, std::int64_t>{"tokens", &SlidingWindow::tokens, Presence::required},
    Key<SlidingWindow, std::int64_t>{"layers", &SlidingWindow::layers, Presence::required},
    Key<SlidingWindow, std::int64_t>{"kv_heads", &SlidingWindow::kv_heads},
    Key<SlidingWindow, std::int64_t>{"head_dim", &SlidingWindow::head_dim},
};
constexpr std::array linear_keys{
    Key<LinearAttention, std::int64_t>{"layers", &LinearAttention::layers, Presence::required},
    Key<LinearAttention, std::int64_t>{"layer_parameters", &LinearAttention::layer_parameters, Presence::required},
    Key<LinearAttention, std::int64_t>{"state_elements", &LinearAttention::state_elements, Presence::required},
};
constexpr std::array head_keys{
    Key<HeadInputs, std::int64_t>{"hidden_states", &HeadInputs::hidden_states},
    Key<HeadInputs, std::int64_t>{"hidden_width", &HeadInputs::hidden_width},
    Key<HeadInputs, std::int64_t>{"draft_vocabulary", &HeadInputs::draft_vocabulary},
};
constexpr std::array head_flags{
    Key<HeadInputs, bool>{"wide_attention", &HeadInputs::wide_attention},
    Key<HeadInputs, bool>{"own_vocabulary", &HeadInputs::own_vocabulary},
};

/// Keys that users may expect here but that belong elsewhere.
struct Elsewhere {
  std::string_view key, why, suggestion;
};
constexpr std::string_view stored = "a model can be stored in any format";
constexpr std::string_view split_meaning = "a model can be split over any number of devices";
constexpr std::string_view write_format = "use --target-format and --draft-format";
constexpr std::string_view write_degree = "use --target-tp and --draft-tp";
constexpr std::string_view write_experts = "write experts = {count = 8, per_token = 2, d_ff = 14336}";
constexpr std::array elsewhere_keys{
    Elsewhere{"quantization", stored, write_format},
    Elsewhere{"quantisation", stored, write_format},
    Elsewhere{"weight_bits", stored, write_format},
    Elsewhere{"dtype", stored, write_format},
    Elsewhere{"fp8", stored, write_format},
    Elsewhere{"tensor_parallel", split_meaning, write_degree},
    Elsewhere{"tensor_parallel_size", split_meaning, write_degree},
    Elsewhere{"num_experts", "experts are a table", write_experts},
    Elsewhere{"experts_per_token", "experts are a table", write_experts},
};

std::int64_t line_of(const toml::source_region& region) { return static_cast<std::int64_t>(region.begin.line); }

template <typename Value>
struct Bare {
  using type = Value;
};
template <typename Value>
struct Bare<std::optional<Value>> {
  using type = Value;
};

/// Reads one table and records which keys it knows.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems, bool& sound)
      : table_(&table), name_(std::move(name)), line_(line), problems_(&problems), sound_(&sound) {}

  template <typename Owner, typename Value, std::size_t size>
  void read(Owner& owner, const std::array<Key<Owner, Value>, size>& keys, std::string_view kind) {
    for (const Key<Owner, Value>& key : keys) {
      const toml::node* node = take(key.key, key.presence);
      if (node == nullptr) continue;
      if (const auto value = node->value_exact<typename Bare<Value>::type>()) {
        owner.*key.member = *value;
      } else {
        refuse_type(key.key, *node, kind);
      }
    }
  }

  template <typename Owner, typename Value, std::size_t size>
  void read_word(Owner& owner, std::string_view key, const std::array<Word<Value>, size>& words, Value Owner::*member,
                 Presence presence) {
    const toml::node* node = take(key, presence);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    if (!text) return refuse_type(key, *node, "a string");
    std::vector<std::string> known;
    for (const Word<Value>& word : words) {
      if (word.word == *text) {
        owner.*member = word.value;
        return;
      }
      known.emplace_back(word.word);
    }
    add(line_of(node->source()), key, fmt::format("unknown {} \"{}\"", key, *text), "", suggestion_for(*text, known));
  }

  /// The nested table, if there is one.
  [[nodiscard]] std::optional<TableReader> read_table(std::string_view key) {
    const toml::node* node = take(key, Presence::optional);
    if (node == nullptr) return std::nullopt;
    if (const toml::table* table = node->as_table()) {
      return TableReader(*table, fmt::format("{}.{}", name_, key), line_of(node->source()), *problems_, *sound_);
    }
    refuse_type(key, *node, "a table");
    return std::nullopt;
  }

  /// A count may be written 1.3e9, so this accepts integers and other numbers.
  [[nodiscard]] std::optional<double> take_number(std::string_view key) {
    const toml::node* node = take(key, Presence::optional);
    if (node == nullptr) return std::nullopt;
    if (!node->is_number()) refuse_type(key, *node, "a number");
    return node->value<double>();
  }

  void refuse_unknown_keys() {
    for (const auto& [key, node] : *table_) {
      const std::string_view name = key.str();
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      const auto* place = std::find_if(elsewhere_keys.begin(), elsewhere_keys.end(),
                                       [name](const Elsewhere& entry) { return entry.key == name; });
      if (place != elsewhere_keys.end()) {
        add(line_of(key.source()), name, "not a key of model files", std::string(place->why),
            std::string(place->suggestion));
      } else {
        add(line_of(key.source()), name, "unknown key", "", suggestion_for(name, known_));
      }
    }
  }

  /// A key as in shape_problems: "experts.count".
  void refuse(const ShapeProblem& problem) {
    const std::string_view key = problem.key;
    const std::size_t dot = key.find('.');
    const toml::node* node = table_->get(key.substr(0, dot));
    std::int64_t line = node == nullptr ? line_ : line_of(node->source());
    if (dot != std::string_view::npos && node != nullptr && node->is_table()) {
      const toml::node* inner = node->as_table()->get(key.substr(dot + 1));
      if (inner != nullptr) line = line_of(inner->source());
    }
    add(line, key, problem.text, problem.why, "");
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

  void add(std::int64_t line, std::string_view key, std::string text, std::string why, std::string suggestion) {
    problems_->add({line, fmt::format("{}.{}", name_, key), std::move(text), std::move(why), std::move(suggestion)});
    *sound_ = false;
  }

  const toml::table* table_;
  std::string name_;
  std::int64_t line_;
  ProblemList* problems_;
  bool* sound_;
  std::vector<std::string> known_;
};

constexpr std::string_view whole_word = "a whole number";
constexpr std::string_view flag = "true or false";

template <typename Part, std::size_t size>
void read_part(TableReader& reader, std::string_view key, Part& part,
               const std::array<Key<Part, std::int64_t>, size>& keys) {
  if (auto table = reader.read_table(key)) {
    table->read(part, keys, whole_word);
    table->refuse_unknown_keys();
  }
}

ModelShape read_shape(const toml::table& table, std::string name, std::int64_t line, ProblemList& problems) {
  bool sound = true;
  TableReader reader(table, name, line, problems, sound);
  ModelShape shape;
  shape.name = std::move(name);
  reader.read(shape, text_keys, "a string");
  reader.read_word(shape, "architecture", architectures, &ModelShape::architecture, Presence::optional);
  reader.read(shape, integer_keys, whole_word);
  reader.read(shape, layer_keys, whole_word);
  reader.read(shape, flag_keys, flag);
  reader.read_word(shape, "norm", norms, &ModelShape::norm, Presence::required);
  reader.read_word(shape, "activation", activations, &ModelShape::activation, Presence::required);
  reader.read_word(shape, "positions", position_kinds, &ModelShape::positions, Presence::required);
  read_part(reader, "experts", shape.experts, expert_keys);
  read_part(reader, "latent", shape.latent, latent_keys);
  read_part(reader, "window", shape.window, window_keys);
  read_part(reader, "linear", shape.linear, linear_keys);
  if (auto head = reader.read_table("head")) {
    head->read(shape.head, head_keys, whole_word);
    head->read(shape.head, head_flags, flag);
    head->refuse_unknown_keys();
  }
  shape.published_parameters = reader.take_number("published_parameters");
  shape.published_rounding = reader.take_number("published_rounding").value_or(0.0);
  reader.refuse_unknown_keys();
  // Further problems would follow from what is missing or mistyped.
  if (sound) {
    for (const ShapeProblem& problem : shape_problems(shape)) reader.refuse(problem);
  }
  return shape;
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
