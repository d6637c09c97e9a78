// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "analytic/answer/prediction.hpp"

/// What `foredraft predict` answers without a profile.
namespace foredraft::experiments {

struct Question {
  Scenario scenario;
  std::optional<std::int64_t> gamma = {};        ///< nothing: the best one
  std::optional<double> acceptance_length = {};  ///< what alpha was inferred from
};

/// The answer first, then the table, then what it rests on.
[[nodiscard]] std::string to_text(const Question& question, const analytic::Prediction& prediction);

/// Schema foredraft.predict/1.
[[nodiscard]] nlohmann::ordered_json to_json(const Question& question, const analytic::Prediction& prediction);

/// {"model": ..., and the parameters that are required or not at their defaults, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(const Cost& cost);

}  // namespace foredraft::experiments
