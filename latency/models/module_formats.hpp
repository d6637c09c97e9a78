// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <re2/set.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"

/// The formats of a model's parts, from a config's rules for module names.
namespace foredraft::latency {

/// Maximum length of a module name in untrusted lists.
inline constexpr std::size_t max_pattern = 1024;

/// Empty: 16 bits.
using Stored = std::optional<WeightFormat>;

/// Words of lists, each with the format of the modules that it matches.
class ModuleRules {
 public:
  /// Adds a word: components of a name (self_attn, model.layers.0.mlp), a glob, or "re:" with an expression. Returns
  /// why it is invalid, or "".
  std::string add(std::string_view word, const Stored& format);

  /// Call after the last add(). Returns why the expressions are invalid, or "".
  std::string compile();

  /// The format of a module such as "layers.0.mlp.gate_proj"; nullopt if no word matches.
  [[nodiscard]] std::optional<Stored> find(const std::string& name) const;

  [[nodiscard]] bool empty() const { return names_.empty() && globs_ == 0 && expressions_.empty(); }

 private:
  struct Glob {
    std::string glob;
    Stored format;
  };

  [[nodiscard]] std::optional<Stored> find_name(std::string_view name) const;
  std::string add_expression(std::string_view text, const Stored& format);

  std::unordered_map<std::string, Stored> names_;
  std::size_t globs_ = 0;
  std::unordered_map<std::string, std::vector<Glob>> globs_by_layer_;  ///< "": of any
  std::vector<Stored> expressions_;
  RE2::Set set_{bounded(), RE2::ANCHOR_START};

  static RE2::Options bounded();
};

/// A quantization's formats by module.
struct QuantizedModules {
  Stored layers;    ///< modules that no list names
  Stored experts;   ///< routed experts that no list names
  Stored left_out;  ///< modules that `excluded` names
  ModuleRules excluded;
  ModuleRules named;
  std::optional<WeightFormat> vocabulary = {};  ///< if stated by a separate switch
};

/// The layers of the model, or an MTP layer, which follows them or is a separate module.
enum class LayersOf { model, drafting };

/// The format of most weights of each part, with the mean bits per weight.
[[nodiscard]] WeightFormats part_formats(const QuantizedModules& modules, const ModelShape& shape, LayersOf which);

inline constexpr const char* say_format = "use --target-format or --draft-format on a config without it";

}  // namespace foredraft::latency
