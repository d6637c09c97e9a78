// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "analytic/answer/prediction.hpp"
#include "analytic/observed/acceptance_fit.hpp"
#include "core/digest.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/server.hpp"

/// Closed forms of one scenario, and of what a log says of its acceptance.
namespace foredraft::answers {

/// Fit to the counts of a log.
struct FittedAcceptance {
  FileDigest file;
  analytic::AcceptanceFit fit;  ///< with a model
};

struct Question {
  Scenario scenario;
  std::optional<std::int64_t> gamma = {};                 ///< nothing: the best one
  std::optional<double> acceptance_length = {};           ///< what alpha was inferred from
  std::optional<double> accepted_over_drafted = {};       ///< likewise
  std::shared_ptr<const FittedAcceptance> observed = {};  ///< the log that the acceptance is of

  [[nodiscard]] const AcceptanceProcess& acceptance() const {
    return std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  }
};

/// A question and its answer.
struct Answered {
  Question question;
  analytic::Prediction prediction;
};

/// Schema foredraft.predict/1.
[[nodiscard]] nlohmann::ordered_json to_json(const Answered& answered);
/// Of several: the first, and `cells` with one document each.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const Answered> all);

/// Sets "process" and the parameters of a process without the "process." of their names.
void add_acceptance(const AcceptanceProcess& acceptance, nlohmann::ordered_json& json);

/// Of i.i.d. acceptance "alpha" and what it was inferred from, where `marginal` has entries "conditional" and
/// "marginal", else as add_acceptance().
void add_stated_acceptance(const AcceptanceProcess& acceptance, std::span<const double> marginal,
                           const std::optional<double>& acceptance_length,
                           const std::optional<double>& accepted_over_drafted, nlohmann::ordered_json& json);

/// {"model": ..., and the parameters that are required or not at their defaults, without the "cost." of their names}.
[[nodiscard]] nlohmann::ordered_json cost_json(const Cost& cost);

/// Rows [from batch, to batch, gamma].
[[nodiscard]] nlohmann::ordered_json schedule_json(std::span<const GammaRange> schedule);

/// Null if the drafter has an acceptance of its own, and for other processes.
[[nodiscard]] const Iid* iid_of(const Scenario& scenario);

/// Of a scenario whose drafts differ in length, under a policy or of a copying drafter, in process fidelity with a
/// known cost. Schema foredraft.predict/1, with `policy` and `mean_gamma`; `gamma` is the maximum draft length,
/// `best_gamma` the best constant one.
[[nodiscard]] nlohmann::ordered_json varying_prediction_json(const Scenario& scenario);

// ---- What a log's acceptance predicts at every draft length.

/// Tokens per iteration with their interval at gamma 1 to 12, and at `asked`.
[[nodiscard]] std::vector<analytic::TokensAtGamma> tokens_by_gamma(const analytic::AcceptanceFit& fit,
                                                                   std::optional<std::int64_t> asked);

/// What a fit rests on.
struct LoggedSteps {
  std::vector<std::int64_t> gammas = {};
  double steps = 0.0;
};
[[nodiscard]] LoggedSteps logged_steps(const analytic::AcceptanceFit& fit);

[[nodiscard]] nlohmann::ordered_json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked);

}  // namespace foredraft::answers
