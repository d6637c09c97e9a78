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

/// Closed-form predictions of a scenario, also with the acceptance of a log.
namespace foredraft::answers {

/// Fit to the counts of a log.
struct FittedAcceptance {
  FileDigest file;
  analytic::AcceptanceFit fit;  ///< with a model
};

struct Question {
  Scenario scenario;
  std::optional<std::int64_t> gamma = {};                 ///< empty: the best one
  std::optional<double> acceptance_length = {};           ///< if alpha was inferred from it
  std::optional<double> accepted_over_drafted = {};       ///< likewise
  std::shared_ptr<const FittedAcceptance> observed = {};  ///< the log, if the acceptance comes from one

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
/// For several: the document of the first, and `cells` with all of them.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const Answered> all);

/// Adds "process" and its parameters, named without the prefix "process.".
void add_acceptance(const AcceptanceProcess& acceptance, nlohmann::ordered_json& json);

/// Adds "alpha" and what it was inferred from for i.i.d. acceptance; "conditional" and "marginal" if `marginal` is not
/// empty; else as add_acceptance().
void add_stated_acceptance(const AcceptanceProcess& acceptance, std::span<const double> marginal,
                           const std::optional<double>& acceptance_length,
                           const std::optional<double>& accepted_over_drafted, nlohmann::ordered_json& json);

/// {"model": ...} with the parameters that are required or not at their defaults, named without the prefix "cost.".
[[nodiscard]] nlohmann::ordered_json cost_json(const Cost& cost);

/// Rows [from batch, to batch, gamma].
[[nodiscard]] nlohmann::ordered_json schedule_json(std::span<const GammaRange> schedule);

/// The i.i.d. acceptance of a scenario; null for other processes, and if the drafter has an acceptance of its own.
[[nodiscard]] const Iid* iid_of(const Scenario& scenario);

/// The answer for a scenario whose draft length varies, because of a policy or a drafter that copies, in fidelity
/// "process" with a known cost. Schema foredraft.predict/1, with `policy` and `mean_gamma`. `gamma` is the maximum
/// draft length, `best_gamma` the best constant one.
[[nodiscard]] nlohmann::ordered_json varying_prediction_json(const Scenario& scenario);

// ---- Predictions from the acceptance of a log, at every draft length.

/// Tokens per iteration with their intervals, at gamma = 1 to 12, and at `asked` if that is longer.
[[nodiscard]] std::vector<analytic::TokensAtGamma> tokens_by_gamma(const analytic::AcceptanceFit& fit,
                                                                   std::optional<std::int64_t> asked);

/// The logged draft lengths of a fit, and all of its verification steps.
struct LoggedSteps {
  std::vector<std::int64_t> gammas = {};
  double steps = 0.0;
};
[[nodiscard]] LoggedSteps logged_steps(const analytic::AcceptanceFit& fit);

/// Precondition: the fit has a model.
[[nodiscard]] nlohmann::ordered_json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked);

}  // namespace foredraft::answers
