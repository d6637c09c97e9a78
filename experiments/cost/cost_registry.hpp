// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoding_cost.hpp"
#include "core/words.hpp"
#include "sim/system/step_time.hpp"

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
  bool whole = false;  ///< whole numbers alone
};

/// A text that a cost model takes, always given; a sweep axis.
struct CostText {
  std::string_view name;  ///< "cost.target"
  std::string_view summary;
};

/// By the names of the model's parameters.
using CostValues = std::map<std::string, double, std::less<>>;
using CostTexts = std::map<std::string, std::string, std::less<>>;

/// What a cost may depend on beyond numbers of its own.
struct CostSetting {
  const CostTexts& texts;
  std::string_view drafter;
  Drafting drafting;
  Convention convention;
  std::int64_t gamma;
};

/// Times of the passes of a server.
struct StepTimes {
  sim::StepTime target_us;
  sim::StepTime drafter_us;
};

struct CostEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::vector<CostParameter> parameters;
  std::vector<CostText> texts = {};
  /// What decoding costs, whatever the draft length; every parameter is there. Null where `cost_at` says it.
  DecodingCost (*cost)(const CostValues& values);
  /// The same where it depends on the draft length. Throws DomainError where it is not known.
  DecodingCost (*cost_at)(const CostValues& values, const CostSetting& setting) = nullptr;
  /// What passes take at any batch and context; null where the model does not know. The draft length does not count.
  /// Throws DomainError for models and devices that are not there, and so do the times where they are not known.
  StepTimes (*step_times)(const CostSetting& setting) = nullptr;
};

/// Every cost model, the default first.
[[nodiscard]] const std::vector<CostEntry>& cost_registry();

/// Throws std::logic_error for an unknown name.
[[nodiscard]] const CostEntry& find_cost(std::string_view name);

/// The cost of `model` from what was given and the defaults; nothing where a parameter without default is missing.
/// Values of other models may be among them.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values);

/// The same of any model at one draft length.
[[nodiscard]] std::optional<DecodingCost> decoding_cost(std::string_view model, const CostValues& values,
                                                        const CostSetting& setting);

/// {"model": ..., and the model's own texts and values that were given, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(std::string_view model, const CostValues& values,
                                               const CostTexts& texts = {});

}  // namespace foredraft::experiments
