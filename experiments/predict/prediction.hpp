// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "analytic/answer/prediction.hpp"
#include "experiments/inputs/observed_acceptance.hpp"

/// What `foredraft predict` answers without a profile.
namespace foredraft::experiments {

struct Question {
  Scenario scenario;
  std::optional<std::int64_t> gamma = {};                 ///< nothing: the best one
  std::optional<double> acceptance_length = {};           ///< what alpha was inferred from
  std::optional<double> accepted_over_drafted = {};       ///< likewise
  std::shared_ptr<const FittedAcceptance> observed = {};  ///< the log that the acceptance is of
};

/// A question and its answer.
struct Answered {
  Question question;
  analytic::Prediction prediction;
};

/// The answer first, then the table, then what it rests on.
[[nodiscard]] std::string to_text(const Answered& answered);
/// Of several that differ in alpha or c: a row each.
[[nodiscard]] std::string to_text(std::span<const Answered> all);

/// Schema foredraft.predict/1.
[[nodiscard]] nlohmann::ordered_json to_json(const Answered& answered);
/// Of several: the first, and `cells` with one document each.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const Answered> all);

/// Acceptance in words: "i.i.d. acceptance".
[[nodiscard]] std::string acceptance_words(const AcceptanceProcess& acceptance);

/// Sets "process" and the parameters of a process without the "process." of their names.
void add_acceptance(const AcceptanceProcess& acceptance, nlohmann::ordered_json& json);

/// {"model": ..., and the parameters that are required or not at their defaults, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(const Cost& cost);

}  // namespace foredraft::experiments
