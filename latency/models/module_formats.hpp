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

/// The format of each part of a model, from what a config says of modules by their names.
namespace foredraft::latency {

/// Limit of untrusted lists: no name of a module is longer.
inline constexpr std::size_t max_pattern = 1024;

/// No entry: in 16 bits.
using Stored = std::optional<WeightFormat>;

/// Words of lists, each with the format of the modules that it means.
class ModuleRules {
 public:
  /// `word`: a name or a part of one, whole components (self_attn, model.layers.0.mlp); a glob; re: with an expression.
  /// Returns why it cannot be used, "" if it can.
  std::string add(std::string_view word, const Stored& format);

  /// After the last add(). Returns why the expressions cannot be used, "" if they can.
  std::string compile();

  /// The format of a module, "layers.0.mlp.gate_proj"; nullopt if no word means it.
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

/// What a quantization says of modules.
struct QuantizedModules {
  Stored layers;    ///< of what no list names
  Stored experts;   ///< the same, of routed experts
  Stored left_out;  ///< of what `excluded` names
  ModuleRules excluded;
  ModuleRules named;
  std::optional<WeightFormat> vocabulary = {};  ///< stated by a switch of its own
};

/// Of the layers of the model, or of one that drafts (MTP), which lies behind them or in a module of its own.
enum class LayersOf { model, drafting };

/// The format of most modules of each part, with the mean of their bits by weights.
[[nodiscard]] WeightFormats part_formats(const QuantizedModules& modules, const ModelShape& shape, LayersOf which);

inline constexpr const char* say_format = "use --target-format or --draft-format on a config without it";

}  // namespace foredraft::latency
