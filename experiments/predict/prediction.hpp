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
#include "experiments/text/table.hpp"
#include "foredraft/scenario.hpp"

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

/// Of i.i.d. acceptance "alpha" and what it was inferred from, where `marginal` has entries "conditional" and
/// "marginal", else as add_acceptance().
void add_stated_acceptance(const AcceptanceProcess& acceptance, std::span<const double> marginal,
                           const std::optional<double>& acceptance_length,
                           const std::optional<double>& accepted_over_drafted, nlohmann::ordered_json& json);

/// {"model": ..., and the parameters that are required or not at their defaults, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(const Cost& cost);

/// Time of an iteration of `scenario.gamma` drafts in decode steps of the target.
[[nodiscard]] double iteration_steps(const Scenario& scenario);

// ---- Where the result is known: which alpha, c or overhead explains a measured speedup, which alpha a measured
// acceptance length.

enum class Sought { alpha, c, overhead };

/// Of constant drafts of `scenario.gamma` >= 1 tokens. The sought value is 0 in the scenario.
struct InverseQuestion {
  Scenario scenario = {};
  Sought sought = Sought::alpha;
  PrintedNumber measured = {};
  bool is_length = false;  ///< `measured` is the acceptance length, which says nothing of costs; else the speedup
};

/// In decode steps of the target where it is c or an overhead.
struct InverseAnswer {
  std::optional<double> value = {};       ///< nothing: none explains the measured number as it is printed
  std::optional<Interval> interval = {};  ///< of the numbers that round to the printed one; nothing: none of them
  double low = 0.0, high = 0.0;           ///< what any alpha in [0, 1], or any cost >= 0, gives
};

/// i.i.d. acceptance for Sought::alpha. Throws DomainError for an acceptance without a closed form, and for the
/// c of a drafter that takes no pass.
[[nodiscard]] InverseAnswer invert(const InverseQuestion& question);

[[nodiscard]] std::string to_text(const InverseQuestion& question);

/// Schema foredraft.predict.inverse/1.
[[nodiscard]] nlohmann::ordered_json to_json(const InverseQuestion& question);

// ---- Where drafts differ in length: under a gamma policy, or of a copying drafter.

/// The closed form of a point of process fidelity that knows its cost: the answer first, then a table, then what it
/// rests on.
[[nodiscard]] std::string varying_prediction_text(const Scenario& scenario);

/// Schema foredraft.predict/1, with `policy` and `mean_gamma`; `gamma` is the longest draft, `best_gamma` the best
/// constant one.
[[nodiscard]] nlohmann::ordered_json varying_prediction_json(const Scenario& scenario);

// ---- What a log's acceptance predicts at every draft length, shown beside an answer that rests on it.

/// Tokens per iteration with their interval at gamma 1 to 12, and at `asked`.
[[nodiscard]] std::string observed_text(const FittedAcceptance& observed, std::optional<std::int64_t> asked);
[[nodiscard]] nlohmann::ordered_json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked);

}  // namespace foredraft::experiments
