#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoding_cost.hpp"

/// The cost models, one file each: what an iteration takes in the time of a plain step.
namespace foredraft::experiments {

/// A number that a cost model takes; a sweep axis.
struct CostParameter {
  std::string_view name;                ///< as in a configuration: "c", "cost.draft_ms"
  std::optional<double> default_value;  ///< nothing: must be given, or is optional
  bool optional;                        ///< without it there is no speedup, and no error
  double minimum;
  double maximum;
  bool once_a_sequence;  ///< paid once a sequence: means nothing in endless text
  std::string_view summary;
};

/// By the names of the model's parameters.
using CostValues = std::map<std::string, double, std::less<>>;

struct CostEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::vector<CostParameter> parameters;
  /// What decoding costs; every parameter is there.
  DecodingCost (*cost)(const CostValues& values);
};

/// Every cost model, the default first.
[[nodiscard]] const std::vector<CostEntry>& cost_registry();

/// Throws std::logic_error for an unknown name.
[[nodiscard]] const CostEntry& find_cost(std::string_view name);

/// The cost of `model` from what was given and the defaults; nothing where a parameter without default is missing.
/// Values of other models may be among them.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values);

/// {"model": ..., and the model's own values that were given, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(std::string_view model, const CostValues& values);

}  // namespace foredraft::experiments
