// SPDX-License-Identifier: Apache-2.0
#include "latency/models/quantization.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::latency {
namespace {

const char* const say_format = "use --target-format or --draft-format on a config without it";

std::string lower_case(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

double as_double(std::int64_t value) { return static_cast<double>(value); }

/// No entry: in 16 bits.
using Stored = std::optional<WeightFormat>;

// ---- Which modules a word of a list means.

/// The prefixes of layers in checkpoints, longer ones first: text models lie inside multimodal ones.
constexpr std::array<std::string_view, 7> layer_prefixes{
    "model.language_model.", "language_model.model.", "language_model.", "model.model.", "model.", "backbone.", ""};

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : layer_prefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

/// Whether a glob with * and ? matches the name, or a module that it is in.
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

/// Limits of untrusted lists: a model has below 200 layers, and a config lists modules by layer but a handful of globs.
constexpr std::int64_t max_layers = 512;
constexpr std::size_t max_pattern = 1024, max_expressions = 4096, max_globs = 65'536, max_general_globs = 1024;

/// "12" of "layers.12.mlp*"; "" of globs that may mean several layers.
std::string_view layer_of(std::string_view name) {
  constexpr std::string_view layers = "layers.";
  if (!name.starts_with(layers)) return "";
  const std::size_t end = name.find_first_not_of("0123456789", layers.size());
  return end == std::string_view::npos || name[end] != '.' ? "" : name.substr(layers.size(), end - layers.size());
}

/// Words of lists, each with the format of the modules that it means.
class ModuleRules {
 public:
  /// `word`: a name or a part of one, whole components (self_attn, model.layers.0.mlp); a glob; re: with an expression.
  /// Returns why it cannot be used, "" if it can.
  std::string add(std::string_view word, const Stored& format) {
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

  /// After the last add(). Returns why the expressions cannot be used, "" if they can.
  std::string compile() { return expressions_.empty() || set_.Compile() ? "" : "are too large"; }

  /// The format of a module, "layers.0.mlp.gate_proj"; nullopt if no word means it.
  [[nodiscard]] std::optional<Stored> find(const std::string& name) const {
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

  [[nodiscard]] bool empty() const { return names_.empty() && globs_ == 0 && expressions_.empty(); }

 private:
  struct Glob {
    std::string glob;
    Stored format;
  };

  /// Any run of components of the name.
  [[nodiscard]] std::optional<Stored> find_name(std::string_view name) const {
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

  static RE2::Options bounded() {
    RE2::Options options(RE2::Quiet);
    constexpr std::int64_t max_memory = 16 << 20;
    options.set_max_mem(max_memory);
    return options;
  }

  std::string add_expression(std::string_view text, const Stored& format) {
    if (expressions_.size() == max_expressions) return "is one of too many expressions";
    if (set_.Add(re2::StringPiece(text.data(), text.size()), nullptr) < 0)
      return "is no expression without looking ahead or back";
    expressions_.push_back(format);
    return "";
  }

  std::unordered_map<std::string, Stored> names_;
  std::size_t globs_ = 0;
  std::unordered_map<std::string, std::vector<Glob>> globs_by_layer_;  ///< "": of any
  std::vector<Stored> expressions_;
  RE2::Set set_{bounded(), RE2::ANCHOR_START};
};

// ---- The modules of a shape.

/// Modules of one name in some of the layers.
struct Module {
  ModelPart part;
  double weights;                  ///< in one layer
  double layers;                   ///< that have it
  std::int64_t first, end;         ///< layers that may have it
  std::vector<std::string> names;  ///< in checkpoints, after "layers.0."
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
    // Mixtures begin after some dense layers; where layers are one block each, only lists say which is which.
    const std::int64_t first_mixture =
        mixture && !one_block() ? std::min<std::int64_t>(shape_.experts.dense_layers, layers_) : 0;
    const std::vector<std::string> roots =
        one_block() ? std::vector<std::string>{"mixer"}
                    : std::vector<std::string>{"mlp", "block_sparse_moe", "feed_forward", "ffn", "moe"};
    write_block(ModelPart::feed_forward, roots, {0, mixture && !one_block() ? first_mixture : layers_}, dense,
                as_double(shape_.d_ff));
    if (!mixture) return std::move(modules_);
    const std::pair<std::int64_t, std::int64_t> range{first_mixture, layers_};
    // Gemma 4 has its experts beside a dense block.
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

  /// Half of the weights project to queries, keys and values, a quarter each to the gate and from the output.
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

/// What a quantization says of modules.
struct QuantizedModules {
  Stored layers;    ///< of what no list names
  Stored experts;   ///< the same, of routed experts
  Stored left_out;  ///< of what `excluded` names
  ModuleRules excluded;
  ModuleRules named;
  std::optional<WeightFormat> vocabulary = {};  ///< stated by a switch of its own
};

/// Weights by their format, in the order of appearance.
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

  /// The format of most of them, with the mean bits of all.
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

/// Nullopt if no list names it.
std::optional<Stored> stated_format(const QuantizedModules& modules, const std::string& name) {
  if (modules.excluded.find(name)) return modules.left_out;
  return modules.named.find(name);
}

/// `layers`: the names of one layer in checkpoints.
std::optional<Stored> stated_format(const QuantizedModules& modules, const Module& module,
                                    const std::vector<std::string>& layers) {
  for (const std::string& layer : layers) {
    for (const std::string& name : module.names) {
      if (auto stored = stated_format(modules, fmt::format("{}.{}", layer, name))) return stored;
    }
  }
  return std::nullopt;
}

/// Of the layers of the model, or of one that drafts (MTP), which lies behind them or in a module of its own.
enum class LayersOf { model, drafting };

/// A list may name a module in more layers than have it: each counts less then.
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
  const double named = as_double(static_cast<std::int64_t>(stated.size()));
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

// ---- Schemes.

/// Integers of `bits`, or floating-point numbers, in groups with a scale of 16 bits, of 8 for 32 floating-point
/// numbers. Group 0: one scale a row.
Stored format_of(std::int64_t bits, const std::string& type, std::int64_t group) {
  const bool floating = type == "float";
  const double scale = group > 0 ? (floating && group == 32 ? 8.0 : 16.0) / as_double(group) : 0.0;
  if (bits == 8) return WeightFormat{floating ? NumberFormat::fp8 : NumberFormat::int8, 8.0 + scale};
  if (bits != 4) return std::nullopt;
  if (!floating) return WeightFormat{NumberFormat::int4, 4.0 + scale};
  return weight_format(group == 32 ? NumberFormat::mxfp4 : NumberFormat::nvfp4);
}

void reject_bits(const ConfigObject& place, std::string_view key, std::int64_t bits) {
  place.reject(key, fmt::format("is {}", bits), "only 4 and 8 bits are supported", say_format);
}

/// group_size, which is -1 for one group a row; nullopt if it is not stated.
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
  if (format && !symmetric && group > 0) format->bits += as_double(bits) / as_double(group);
  return format;
}

void add_rule(const ConfigObject& place, std::string_view key, const std::string& word, const Stored& format,
              ModuleRules& rules) {
  const std::string why = rules.add(word, format);
  if (!why.empty()) place.reject(key, fmt::format("\"{}\" {}", word.substr(0, max_pattern), why), "", say_format);
}

/// Lists of what is left out, under the names of all methods.
void read_excluded(const ConfigObject& quantization, QuantizedModules& modules) {
  for (const std::string_view key :
       {"modules_to_not_convert", "exclude_modules", "ignore", "ignored_layers", "llm_int8_skip_modules", "exclude"}) {
    const auto words = quantization.texts(key);
    if (!words) continue;
    for (const std::string& word : *words) add_rule(quantization, key, word, modules.left_out, modules.excluded);
  }
}

/// Groups of compressed-tensors: those of a class of modules ("Linear") are of all that no other names.
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

/// modelopt's quant_algo. W4A16 computes in 16 bits: nvfp4 counts as nvfp4 there, which matters for large batches only.
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

/// `group`: that of the whole, where the scheme has none of its own.
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
  if (*format == NumberFormat::int4 && size > 0) return WeightFormat{NumberFormat::int4, 4.0 + 16.0 / as_double(size)};
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

/// fp8 in blocks; a few published checkpoints add layers in another format.
void read_fp8(const ConfigObject& quantization, QuantizedModules& modules) {
  WeightFormat format = weight_format(NumberFormat::fp8);
  const auto block = quantization.wholes("weight_block_size");
  double weights = block && !block->empty() ? 1.0 : 0.0;
  for (const std::int64_t extent : block.value_or(std::vector<std::int64_t>{})) weights *= as_double(extent);
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
Stored read_integers(const ConfigObject& scheme, const Stored& usual, std::int64_t usual_group, bool zero_points) {
  const std::string_view key = scheme.has("w_bit") ? "w_bit" : "bits";
  const std::int64_t bits = scheme.whole_or(key, usual ? static_cast<std::int64_t>(usual->bits) : 4);
  constexpr std::int64_t unquantized = 16;
  if (bits >= unquantized) return std::nullopt;
  const std::string_view group_key = scheme.has("q_group_size") ? "q_group_size" : "group_size";
  std::int64_t group = scheme.is_negative(group_key) ? 0 : scheme.whole_or(group_key, usual_group);
  auto format = format_of(bits, "int", group);
  if (!format) reject_bits(scheme, key, bits);
  if (format && zero_points && group > 0) format->bits += as_double(bits) / as_double(group);
  return format;
}

void read_groups_of_integers(const ConfigObject& quantization, bool zero_points, QuantizedModules& modules) {
  constexpr std::int64_t usual_group = 128;
  const std::int64_t group =
      quantization.is_negative("group_size") ? 0 : quantization.whole_or("group_size", usual_group);
  const Stored format = read_integers(quantization, std::nullopt, usual_group, zero_points);
  modules.layers = modules.experts = format;
  if (quantization.flag("lm_head", false)) modules.vocabulary = format;
  // GPTQModel: "+:expression" with other numbers, "-:expression" left out. auto-round: names with other numbers.
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

/// nf4 and fp4 in blocks of 64 with an fp32 scale; scales themselves in 8 bits, in blocks of 256, if quantized twice.
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

/// {"dtype": "fp4", "group_size": 32}; of two levels of scales the weights' own come first.
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
  const auto usual = types && types->entries().size() == 1 ? types->object("default") : std::nullopt;
  if (usual) {
    type = usual->text("_type").value_or("");
    if (const auto data = usual->object("_data")) group = group_of(*data);
  }
  type = lower_case(type);
  constexpr std::int64_t usual_group = 128;
  Stored format;
  if (type.starts_with("int4")) format = format_of(4, "int", group.value_or(usual_group));
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
    Method{"auto-round", [](const ConfigObject& quantization,
                            QuantizedModules& modules) { read_groups_of_integers(quantization, true, modules); }},
    Method{"awq",
           [](const ConfigObject& quantization, QuantizedModules& modules) {
             read_groups_of_integers(quantization, quantization.flag("zero_point", true), modules);
           }},
    Method{"bitsandbytes", read_bitsandbytes},
    Method{"compressed-tensors", read_groups},
    Method{"fbgemm_fp8", read_fp8},
    Method{"fp8", read_fp8},
    Method{"gptq",  // which stores zero points also where all are the same
           [](const ConfigObject& quantization, QuantizedModules& modules) {
             read_groups_of_integers(quantization, true, modules);
           }},
    Method{"modelopt", read_modelopt},
    Method{
        "mxfp4",  // of routed experts alone
        [](const ConfigObject&, QuantizedModules& modules) { modules.experts = weight_format(NumberFormat::mxfp4); }},
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
