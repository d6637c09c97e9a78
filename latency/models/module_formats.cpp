// SPDX-License-Identifier: Apache-2.0
#include "latency/models/module_formats.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

// ---- Matching words of lists with modules.

/// Prefixes of layers in checkpoints, longest first, because text models are nested in multimodal ones.
constexpr std::array<std::string_view, 7> layer_prefixes{
    "model.language_model.", "language_model.model.", "language_model.", "model.model.", "model.", "backbone.", ""};

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : layer_prefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

/// True if a glob with * and ? matches the name or an enclosing module.
bool matches_glob(std::string_view glob, std::string_view name) {
  std::size_t at = 0, in_name = 0, star = std::string_view::npos, after_star = 0;
  const auto ended = [&] { return at == glob.size() && (in_name == name.size() || name[in_name] == '.'); };
  while (!ended()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      after_star = in_name;
    } else if (at < glob.size() && in_name < name.size() && (glob[at] == '?' || glob[at] == name[in_name])) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos && after_star < name.size()) {
      at = star + 1;
      in_name = ++after_star;
    } else {
      return false;
    }
  }
  return true;
}

/// Limits of untrusted lists. Models have fewer than 200 layers, and configs have few globs that are not specific to a
/// layer.
constexpr std::int64_t max_layers = 512;
constexpr std::size_t max_expressions = 4096, max_globs = 65'536, max_general_globs = 1024;

/// "12" for "layers.12.mlp*"; "" for globs that may match several layers.
std::string_view layer_of(std::string_view name) {
  constexpr std::string_view layers = "layers.";
  if (!name.starts_with(layers)) return "";
  const std::size_t end = name.find_first_not_of("0123456789", layers.size());
  return end == std::string_view::npos || name[end] != '.' ? "" : name.substr(layers.size(), end - layers.size());
}

}  // namespace

std::string ModuleRules::add(std::string_view word, const Stored& format) {
  if (word.size() > max_pattern) return "is longer than any name of a module";
  for (const std::string_view sign : {"re:", "+:", "-:"}) {
    if (word.starts_with(sign)) return add_expression(word.substr(sign.size()), format);
  }
  const std::string_view name = without_prefix(word);
  if (name.find_first_of("*?") == std::string_view::npos) {
    names_.emplace(name, format);
    return "";
  }
  const std::string_view layer = layer_of(name);
  if (++globs_ > max_globs || (layer.empty() && globs_by_layer_[""].size() == max_general_globs)) {
    return "is one of too many with a *";
  }
  globs_by_layer_[std::string(layer)].push_back({std::string(name), format});
  return "";
}

std::string ModuleRules::compile() { return expressions_.empty() || set_.Compile() ? "" : "are too large"; }

std::optional<Stored> ModuleRules::find(const std::string& name) const {
  if (const auto stored = find_name(name)) return stored;
  for (const std::string_view layer : {layer_of(name), std::string_view()}) {
    const auto bucket = globs_by_layer_.find(std::string(layer));
    if (bucket == globs_by_layer_.end()) continue;
    for (const auto& [glob, format] : bucket->second) {
      if (matches_glob(glob, name)) return format;
    }
  }
  if (expressions_.empty()) return std::nullopt;
  for (const std::string_view prefix : layer_prefixes) {
    std::vector<int> matching;
    RE2::Set::ErrorInfo error{RE2::Set::kNoError};
    if (set_.Match(std::string(prefix) + name, &matching, &error)) {
      return expressions_.at(static_cast<std::size_t>(*std::ranges::min_element(matching)));
    }
    if (error.kind == RE2::Set::kOutOfMemory) {
      throw DomainError(fmt::format("the expressions of a quantization are too large - {}", say_format));
    }
  }
  return std::nullopt;
}

/// Finds any sequence of components of the name.
std::optional<Stored> ModuleRules::find_name(std::string_view name) const {
  if (names_.empty()) return std::nullopt;
  for (std::size_t begin = 0; begin < name.size(); begin = std::min(name.find('.', begin), name.size() - 1) + 1) {
    for (std::size_t end = name.find('.', begin);; end = name.find('.', end + 1)) {
      const auto found = names_.find(std::string(name.substr(begin, end == name.npos ? end : end - begin)));
      if (found != names_.end()) return found->second;
      if (end == name.npos) break;
    }
  }
  return std::nullopt;
}

RE2::Options ModuleRules::bounded() {
  RE2::Options options(RE2::Quiet);
  constexpr std::int64_t max_memory = 16 << 20;
  options.set_max_mem(max_memory);
  return options;
}

std::string ModuleRules::add_expression(std::string_view text, const Stored& format) {
  if (expressions_.size() == max_expressions) return "is one of too many expressions";
  if (set_.Add(re2::StringPiece(text.data(), text.size()), nullptr) < 0)
    return "is no expression without looking ahead or back";
  expressions_.push_back(format);
  return "";
}

namespace {

// ---- The modules of a shape.

/// A module that some of the layers have.
struct Module {
  ModelPart part;
  double weights;                  ///< in one layer
  double layers;                   ///< number of layers that have it
  std::int64_t first, end;         ///< layers that may have it
  std::vector<std::string> names;  ///< names in checkpoints, after "layers.0."
};

std::vector<std::string> module_names(const std::vector<std::string>& roots, const std::vector<std::string>& leaves) {
  std::vector<std::string> names;
  for (const std::string& root : roots) {
    for (const std::string& leaf : leaves) names.push_back(root.empty() ? leaf : fmt::format("{}.{}", root, leaf));
  }
  return names;
}

class ModuleWriter {
 public:
  explicit ModuleWriter(const ModelShape& shape)
      : shape_(shape),
        layers_(std::clamp<std::int64_t>(shape.layers, 1, max_layers)),
        width_(as_double(shape.d_model)) {}

  [[nodiscard]] std::vector<Module> modules() && {
    shape_.latent.kv_rank > 0 ? write_latent_attention() : write_attention();
    write_linear_attention();
    const bool mixture = shape_.experts.count > 0;
    const double blocks = as_double(feed_forward_layers(shape_));
    const double dense = mixture ? std::min(as_double(shape_.experts.dense_layers), blocks) : blocks;
    // Mixtures start after some dense layers. If each layer is a single block, only lists tell the kinds apart.
    const std::int64_t first_mixture =
        mixture && !one_block() ? std::min<std::int64_t>(shape_.experts.dense_layers, layers_) : 0;
    const std::vector<std::string> roots =
        one_block() ? std::vector<std::string>{"mixer"}
                    : std::vector<std::string>{"mlp", "block_sparse_moe", "feed_forward", "ffn", "moe"};
    write_block(ModelPart::feed_forward, roots, {0, mixture && !one_block() ? first_mixture : layers_}, dense,
                as_double(shape_.d_ff));
    if (!mixture) return std::move(modules_);
    const std::pair<std::int64_t, std::int64_t> range{first_mixture, layers_};
    // Gemma 4 has experts in parallel with a dense block.
    const bool beside = shape_.norms_per_layer > 2;
    write_block(ModelPart::shared_experts,
                beside ? std::vector<std::string>{"mlp"} : module_names(roots, {"shared_experts", "shared_expert"}),
                range, blocks - dense, as_double(shape_.experts.shared_d_ff));
    write_block(ModelPart::experts,
                beside ? std::vector<std::string>{"experts.0", "moe.experts.0"} : module_names(roots, {"experts.0"}),
                range, blocks - dense, as_double(shape_.experts.d_ff) * as_double(shape_.experts.count));
    return std::move(modules_);
  }

 private:
  using Range = std::pair<std::int64_t, std::int64_t>;

  [[nodiscard]] bool one_block() const { return shape_.norms_per_layer == 1; }

  void add(Module module) {
    if (module.weights > 0.0 && module.layers > 0.0) modules_.push_back(std::move(module));
  }

  void write_block(ModelPart part, const std::vector<std::string>& roots, Range range, double layers, double d_ff) {
    const double weights = d_ff * width_;
    const auto [first, end] = range;
    if (shape_.gated) add({part, weights, layers, first, end, module_names(roots, {"gate_proj", "w1"})});
    add({part, weights, layers, first, end, module_names(roots, {"up_proj", "w3"})});
    add({part, weights, layers, first, end, module_names(roots, {"down_proj", "w2"})});
  }

  void attention(double weights, const std::vector<std::string>& leaves) {
    const std::vector<std::string> roots =
        one_block() ? std::vector<std::string>{"mixer"} : std::vector<std::string>{"self_attn", "attn"};
    add({ModelPart::attention, weights, as_double(attention_layers(shape_)), 0, layers_, module_names(roots, leaves)});
  }

  void write_attention() {
    const AttentionHeads heads = attention_heads(shape_);
    const double queries = as_double(heads.heads) * as_double(heads.key_dim) * (shape_.attention_gate ? 2.0 : 1.0);
    const double keys = as_double(heads.kv_heads) * as_double(heads.key_dim);
    const double values = as_double(heads.kv_heads) * as_double(heads.value_dim);
    const double attended = as_double(heads.heads) * as_double(heads.value_dim), rank = as_double(shape_.query_rank);
    attention(width_ * rank, {"q_a_proj", "wq_a"});
    attention((rank > 0.0 ? rank : width_) * queries, {"q_proj", "wq_b"});
    attention(width_ * keys, {"k_proj", "wkv"});
    attention(shape_.single_cache || shape_.values_are_keys ? 0.0 : width_ * values, {"v_proj"});
    if (shape_.output_groups > 0) {
      const double projected = as_double(shape_.output_groups) * as_double(shape_.output_rank);
      attention(attended * as_double(shape_.output_rank), {"wo_a"});
      attention(projected * width_, {"wo_b"});
    } else {
      attention(attended * width_, {"o_proj"});
    }
  }

  void write_latent_attention() {
    const LatentAttention& latent = shape_.latent;
    const double heads = as_double(shape_.heads), rank = as_double(latent.query_rank);
    const double queries = heads * as_double(latent.nope_dim + latent.rope_dim);
    attention(width_ * rank, {"q_a_proj"});
    attention((rank > 0.0 ? rank : width_) * queries, {"q_b_proj", "q_proj"});
    attention(width_ * as_double(latent.kv_rank + latent.rope_dim), {"kv_a_proj_with_mqa"});
    attention(as_double(latent.kv_rank) * heads * as_double(latent.nope_dim + latent.value_dim), {"kv_b_proj"});
    attention(heads * as_double(latent.value_dim) * width_, {"o_proj"});
  }

  /// Half of the weights project to queries, keys and values, a quarter to the gate and a quarter from the output.
  void write_linear_attention() {
    const double quarter = 0.25 * as_double(shape_.linear.layer_parameters), layers = as_double(shape_.linear.layers);
    const bool delta_rule = shape_.attention_gate && shape_.latent.kv_rank == 0;
    const std::vector<std::string> root{one_block() ? "mixer" : delta_rule ? "linear_attn" : "self_attn"};
    const auto linear = [&](double weights, const std::vector<std::string>& leaves) {
      add({ModelPart::linear_attention, weights, layers, 0, layers_, module_names(root, leaves)});
    };
    linear(2.0 * quarter, {"in_proj_qkv", "in_proj_qkvz", "in_proj", "q_proj"});
    linear(quarter, {"in_proj_z", "in_proj_qkvz", "in_proj", "g_proj"});
    linear(quarter, {"out_proj", "o_proj"});
  }

  const ModelShape& shape_;
  std::int64_t layers_;
  double width_;
  std::vector<Module> modules_;
};

// ---- The format of each part.

/// Weights by format, in order of appearance.
class FormatShares {
 public:
  void add(const WeightFormat& format, double weights) {
    if (weights <= 0.0) return;
    const auto found = std::ranges::find(shares_, format, &Share::format);
    if (found == shares_.end()) {
      shares_.push_back({format, weights});
    } else {
      found->weights += weights;
    }
  }
  void add(const FormatShares& other) {
    for (const Share& one : other.shares_) add(one.format, one.weights);
  }

  [[nodiscard]] std::optional<WeightFormat> most() const {
    const auto found = std::ranges::max_element(shares_, {}, &Share::weights);
    return found == shares_.end() ? std::nullopt : std::optional(found->format);
  }

  /// The format of most weights, with the mean bits of all.
  [[nodiscard]] std::optional<WeightFormat> mean() const {
    std::optional<WeightFormat> mean = most();
    if (!mean || shares_.size() < 2) return mean;
    double bits = 0.0, weights = 0.0;
    for (const Share& one : shares_) {
      bits += one.weights * one.format.bits;
      weights += one.weights;
    }
    mean->bits = bits / weights;
    return mean;
  }

 private:
  struct Share {
    WeightFormat format;
    double weights;
  };
  std::vector<Share> shares_;
};

/// nullopt if no list names it.
std::optional<Stored> stated_format(const QuantizedModules& modules, const std::string& name) {
  if (modules.excluded.find(name)) return modules.left_out;
  return modules.named.find(name);
}

/// `layers`: names of one layer in checkpoints.
std::optional<Stored> stated_format(const QuantizedModules& modules, const Module& module,
                                    const std::vector<std::string>& layers) {
  for (const std::string& layer : layers) {
    for (const std::string& name : module.names) {
      if (auto stored = stated_format(modules, fmt::format("{}.{}", layer, name))) return stored;
    }
  }
  return std::nullopt;
}

/// A list may name a module in more layers than have it; each layer then has a smaller weight.
FormatShares shares_of(const QuantizedModules& modules, const Module& module, const ModelShape& shape, LayersOf which) {
  const WeightFormat plain = weight_format(NumberFormat::bf16);
  FormatShares shares;
  std::vector<WeightFormat> stated;
  const auto look_at = [&](const std::vector<std::string>& layers) {
    if (const auto stored = stated_format(modules, module, layers)) stated.push_back(stored->value_or(plain));
  };
  if (which == LayersOf::drafting) {
    look_at({fmt::format("layers.{}", shape.layers), "mtp.layers.0", "mtp.0"});
  } else if (!modules.excluded.empty() || !modules.named.empty()) {
    for (std::int64_t layer = module.first; layer < module.end; ++layer) look_at({fmt::format("layers.{}", layer)});
  }
  const double layers = which == LayersOf::drafting ? 1.0 : module.layers;
  const double named = static_cast<double>(stated.size());
  const double each = module.weights * std::min(1.0, layers / std::max(named, 1.0));
  for (const WeightFormat& format : stated) shares.add(format, each);
  const Stored& usual = module.part == ModelPart::experts ? modules.experts : modules.layers;
  shares.add(usual.value_or(plain), module.weights * std::max(layers - named, 0.0));
  return shares;
}

std::optional<WeightFormat> listed_format(const QuantizedModules& modules, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (modules.excluded.find(name)) return std::nullopt;
    if (const auto stored = modules.named.find(name)) return *stored;
  }
  return std::nullopt;
}

}  // namespace

WeightFormats part_formats(const QuantizedModules& modules, const ModelShape& shape, LayersOf which) {
  std::array<FormatShares, model_parts> parts;
  FormatShares all;
  for (const Module& module : ModuleWriter(shape).modules()) {
    const FormatShares shares = shares_of(modules, module, shape, which);
    parts.at(static_cast<std::size_t>(module.part)).add(shares);
    all.add(shares);
  }
  WeightFormats formats(all.most().value_or(modules.layers.value_or(weight_format(NumberFormat::bf16))));
  for (std::size_t i = 0; i < model_parts; ++i) {
    if (const auto format = parts.at(i).mean()) formats.set(static_cast<ModelPart>(i), *format);
  }
  if (which == LayersOf::drafting) formats.set(ModelPart::inputs, weight_format(formats.unquantized()));
  if (const auto table = listed_format(modules, {"embed_tokens", "embeddings"})) {
    formats.set(ModelPart::embedding, *table);
  }
  if (const auto vocabulary = listed_format(modules, {"lm_head", "head"})) {
    formats.set(ModelPart::vocabulary, *vocabulary);
  } else if (modules.vocabulary) {
    formats.set(ModelPart::vocabulary, *modules.vocabulary);
  }
  return formats;
}

}  // namespace foredraft::latency
