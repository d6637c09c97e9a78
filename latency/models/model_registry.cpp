// SPDX-License-Identifier: Apache-2.0
#include "latency/models/model_registry.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <tuple>

#include "core/files.hpp"
#include "latency/toml_tables.hpp"

namespace foredraft::latency {
namespace {

bool before(const ModelShape& a, const ModelShape& b) { return a.name < b.name; }

std::vector<ModelShape> shipped_models() {
  std::vector<ModelShape> models;
  for (const EmbeddedFile& file : model_texts()) {
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

const ModelShape* shape_named(const std::vector<ModelShape>& models, std::string_view name) {
  const auto found = std::ranges::find(models, name, &ModelShape::name);
  return found == models.end() ? nullptr : &*found;
}

const ModelShape& find_model(const std::vector<ModelShape>& models, std::string_view name) {
  if (const ModelShape* shape = shape_named(models, name)) return *shape;
  std::vector<std::string> known;
  for (const ModelShape& model : models) known.push_back(model.name);
  throw DomainError(fmt::format("unknown model \"{}\" - {}", name, suggestion_for(name, known, "models")));
}

namespace {

/// The keys of a table in the order of reading and suggestions.
template <typename Owner>
constexpr std::tuple<> keys_of{};
template <>
constexpr std::tuple keys_of<Experts>{
    Key{"count", &Experts::count, Presence::required}, Key{"per_token", &Experts::per_token, Presence::required},
    Key{"d_ff", &Experts::d_ff, Presence::required},   Key{"shared_d_ff", &Experts::shared_d_ff},
    Key{"dense_layers", &Experts::dense_layers},       Key{"latent_dim", &Experts::latent_dim}};
template <>
constexpr std::tuple keys_of<LatentAttention>{Key{"kv_rank", &LatentAttention::kv_rank, Presence::required},
                                              Key{"query_rank", &LatentAttention::query_rank},
                                              Key{"rope_dim", &LatentAttention::rope_dim, Presence::required},
                                              Key{"nope_dim", &LatentAttention::nope_dim, Presence::required},
                                              Key{"value_dim", &LatentAttention::value_dim, Presence::required}};
template <>
constexpr std::tuple keys_of<SlidingWindow>{Key{"tokens", &SlidingWindow::tokens, Presence::required},
                                            Key{"layers", &SlidingWindow::layers, Presence::required},
                                            Key{"heads", &SlidingWindow::heads},
                                            Key{"kv_heads", &SlidingWindow::kv_heads},
                                            Key{"head_dim", &SlidingWindow::head_dim},
                                            Key{"value_dim", &SlidingWindow::value_dim}};
template <>
constexpr std::tuple keys_of<SparseAttention>{Key{"layers", &SparseAttention::layers, Presence::required},
                                              Key{"selected_entries", &SparseAttention::selected_entries},
                                              Key{"tokens_per_entry", &SparseAttention::tokens_per_entry},
                                              Key{"local_tokens", &SparseAttention::local_tokens},
                                              Key{"index_heads", &SparseAttention::index_heads},
                                              Key{"index_dim", &SparseAttention::index_dim},
                                              Key{"layer_parameters", &SparseAttention::layer_parameters}};
template <>
constexpr std::tuple keys_of<LinearAttention>{
    Key{"layers", &LinearAttention::layers, Presence::required},
    Key{"layer_parameters", &LinearAttention::layer_parameters, Presence::required},
    Key{"state_elements", &LinearAttention::state_elements, Presence::required}};
template <>
constexpr std::tuple keys_of<HeadInputs>{Key{"hidden_states", &HeadInputs::hidden_states},
                                         Key{"hidden_width", &HeadInputs::hidden_width},
                                         Key{"draft_vocabulary", &HeadInputs::draft_vocabulary},
                                         Key{"wide_attention", &HeadInputs::wide_attention},
                                         Key{"own_vocabulary", &HeadInputs::own_vocabulary},
                                         Key{"block_size", &HeadInputs::block_size},
                                         Key{"anchor_drafts", &HeadInputs::anchor_drafts},
                                         Key{"correction_parameters", &HeadInputs::correction_parameters},
                                         Key{"stages", &HeadInputs::stages}};
template <>
constexpr std::tuple keys_of<DraftingLayers>{Key{"layers", &DraftingLayers::layers, Presence::required},
                                             Key{"windowed", &DraftingLayers::windowed},
                                             Key{"dense", &DraftingLayers::dense}};
template <>
constexpr std::tuple keys_of<ModelShape>{Key{"summary", &ModelShape::summary, Presence::required},
                                         Key{"source", &ModelShape::source, Presence::required},
                                         Key{"aliases", &ModelShape::aliases},
                                         Key{"architecture", &ModelShape::architecture},
                                         Key{"encoder_layers", &ModelShape::encoder_layers},
                                         Key{"layers", &ModelShape::layers, Presence::required},
                                         Key{"d_model", &ModelShape::d_model, Presence::required},
                                         Key{"heads", &ModelShape::heads, Presence::required},
                                         Key{"kv_heads", &ModelShape::kv_heads, Presence::required},
                                         Key{"head_dim", &ModelShape::head_dim, Presence::required},
                                         Key{"value_dim", &ModelShape::value_dim},
                                         Key{"query_rank", &ModelShape::query_rank},
                                         Key{"output_groups", &ModelShape::output_groups},
                                         Key{"output_rank", &ModelShape::output_rank},
                                         Key{"residual_streams", &ModelShape::residual_streams},
                                         Key{"d_ff", &ModelShape::d_ff},
                                         Key{"vocabulary", &ModelShape::vocabulary, Presence::required},
                                         Key{"learned_positions", &ModelShape::learned_positions},
                                         Key{"source_length", &ModelShape::source_length},
                                         Key{"max_context", &ModelShape::max_context},
                                         Key{"norms_per_layer", &ModelShape::norms_per_layer},
                                         Key{"further_parameters", &ModelShape::further_parameters},
                                         Key{"attention_layers", &ModelShape::attention_layers},
                                         Key{"feed_forward_layers", &ModelShape::feed_forward_layers},
                                         Key{"gated", &ModelShape::gated},
                                         Key{"tied", &ModelShape::tied},
                                         Key{"attention_bias", &ModelShape::attention_bias},
                                         Key{"bias", &ModelShape::bias},
                                         Key{"query_key_norm", &ModelShape::query_key_norm},
                                         Key{"wide_query_key_norm", &ModelShape::wide_query_key_norm},
                                         Key{"attention_gate", &ModelShape::attention_gate},
                                         Key{"values_are_keys", &ModelShape::values_are_keys},
                                         Key{"single_cache", &ModelShape::single_cache},
                                         Key{"norm", &ModelShape::norm, Presence::required},
                                         Key{"activation", &ModelShape::activation, Presence::required},
                                         Key{"positions", &ModelShape::positions, Presence::required},
                                         Key{"experts", &ModelShape::experts},
                                         Key{"latent", &ModelShape::latent},
                                         Key{"window", &ModelShape::window},
                                         Key{"sparse", &ModelShape::sparse},
                                         Key{"linear", &ModelShape::linear},
                                         Key{"head", &ModelShape::head},
                                         Key{"drafting", &ModelShape::drafting},
                                         Key{"formats", &ModelShape::native_formats},
                                         Key{"published_parameters", &ModelShape::published_parameters},
                                         Key{"published_rounding", &ModelShape::published_rounding}};

/// Keys that belong elsewhere, with where.
struct Elsewhere {
  std::string_view key, why, suggestion;
};
constexpr std::string_view published_format = "formats = \"fp8\" is that of the published checkpoint";
constexpr std::string_view split_meaning = "a model can be split over any number of devices";
constexpr std::string_view write_format = "write formats, or use --target-format and --draft-format";
constexpr std::string_view write_degree = "use --target-tp, --target-pp and --draft-tp";
constexpr std::string_view write_experts = "write experts = {count = 8, per_token = 2, d_ff = 14336}";
constexpr std::array elsewhere_keys{
    Elsewhere{"quantization", published_format, write_format},
    Elsewhere{"quantisation", published_format, write_format},
    Elsewhere{"weight_bits", published_format, write_format},
    Elsewhere{"dtype", published_format, write_format},
    Elsewhere{"fp8", published_format, write_format},
    Elsewhere{"tensor_parallel", split_meaning, write_degree},
    Elsewhere{"tensor_parallel_size", split_meaning, write_degree},
    Elsewhere{"num_experts", "experts are a table", write_experts},
    Elsewhere{"experts_per_token", "experts are a table", write_experts},
};

template <typename Value>
constexpr bool has_keys = !std::same_as<std::remove_const_t<decltype(keys_of<Value>)>, std::tuple<>>;

template <typename Value>
constexpr bool is_list = false;
template <typename Entry>
constexpr bool is_list<std::vector<Entry>> = true;

/// Reads the keys of one table.
class ShapeReader {
 public:
  ShapeReader(TomlTable& table, ProblemList& problems) : table_(table), problems_(problems) {}

  template <typename Owner>
  void read(Owner& owner) {
    table_.read_keys(owner, keys_of<Owner>, *this);
    table_.reject_unknown_keys([this](std::string_view key, std::int64_t line) {
      const auto* place = std::ranges::find(elsewhere_keys, key, &Elsewhere::key);
      if (place == elsewhere_keys.end()) return false;
      table_.reject(line, key, "not a key of model files", std::string(place->why), std::string(place->suggestion));
      return true;
    });
  }

  [[nodiscard]] bool sound() const { return sound_ && table_.sound(); }

  template <typename Value>
  std::optional<Value> value_at(std::string_view key, const toml::node& node, const NumberLimits& /*limits*/) {
    std::string_view kind = "a table";
    if constexpr (std::same_as<Value, WeightFormats>) {
      kind = "a string or a table";
      if (node.is_string()) return formats_at(key, node);
      if (const toml::table* table = node.as_table()) return part_formats(key, *table, line_of(node.source()));
    } else if constexpr (has_keys<Value>) {
      if (const toml::table* table = node.as_table()) return part_of<Value>(key, *table, line_of(node.source()));
    } else if constexpr (std::same_as<Value, std::string>) {
      kind = "a string";
      if (auto text = node.value_exact<std::string>()) return text;
    } else if constexpr (is_list<Value> && !std::same_as<Value, std::vector<std::string>>) {
      kind = "a list of tables";
      if (const toml::array* array = node.as_array(); array != nullptr && array->is_array_of_tables()) {
        Value parts;
        for (const toml::node& entry : *array) {
          parts.push_back(part_of<typename Value::value_type>(key, *entry.as_table(), line_of(entry.source())));
        }
        return parts;
      }
    } else {
      return table_.value_at<Value>(key, node);
    }
    table_.reject_type(key, node, kind);
    return std::nullopt;
  }

 private:
  std::optional<WeightFormats> formats_at(std::string_view key, const toml::node& node) {
    const auto word = node.value_exact<std::string_view>();
    if (!word) {
      table_.reject_type(key, node, "a string");
      return std::nullopt;
    }
    auto formats = weight_formats(*word);
    if (!formats) {
      table_.reject(line_of(node.source()), key, fmt::format("unknown format \"{}\"", *word), "",
                    suggestion_for(*word, weight_format_words()));
    }
    return formats;
  }

  /// {layers = "bf16", experts = "mxfp4"}
  WeightFormats part_formats(std::string_view key, const toml::table& table, std::int64_t line) {
    TomlTable inner(table, fmt::format("{}.{}", table_.name(), key), line, problems_);
    ShapeReader reader(inner, problems_);
    WeightFormats formats;
    if (const toml::node* layers = inner.take("layers")) {
      formats = reader.formats_at("layers", *layers).value_or(formats);
    } else {
      inner.reject_missing("layers", "the format of the parts that have none");
    }
    for (std::size_t i = 0; i < model_parts; ++i) {
      const auto part = static_cast<ModelPart>(i);
      std::string word(to_string(part));
      std::ranges::replace_if(
          word, [](char c) { return c == ' ' || c == '-'; }, '_');
      const toml::node* node = inner.take(word);
      const auto format = node == nullptr ? std::nullopt : reader.formats_at(word, *node);
      if (format) formats.set(part, format->of(ModelPart::feed_forward));
    }
    inner.reject_unknown_keys();
    sound_ = sound_ && reader.sound();
    return formats;
  }

  template <typename Part>
  Part part_of(std::string_view key, const toml::table& table, std::int64_t line) {
    TomlTable inner(table, fmt::format("{}.{}", table_.name(), key), line, problems_);
    ShapeReader reader(inner, problems_);
    Part part;
    reader.read(part);
    sound_ = sound_ && reader.sound();
    return part;
  }

  TomlTable& table_;
  ProblemList& problems_;
  bool sound_ = true;
};

ModelShape read_shape(TomlTable table, ProblemList& problems) {
  ModelShape shape;
  shape.name = table.name();
  ShapeReader reader(table, problems);
  reader.read(shape);
  // Further problems would follow from what is missing or mistyped.
  if (reader.sound()) {
    for (const ShapeProblem& problem : shape_problems(shape)) {
      table.reject(table.line_at(problem.key), problem.key, problem.text, problem.why);
    }
  }
  return shape;
}

}  // namespace

std::vector<ModelShape> parse_models(std::string_view text, const std::string& name) {
  return parse_tables<ModelShape>(text, name, "model", "write [\"{}\"]", read_shape);
}

std::vector<ModelShape> read_models(const std::string& path) { return parse_models(read_file(path), path); }

}  // namespace foredraft::latency
