// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "analytic/tokens/token_law.hpp"
#include "experiments/predict/prediction.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json gamma_json(const std::optional<std::int64_t>& gamma) { return gamma ? Json(*gamma) : Json("unbounded"); }

}  // namespace

Json to_json(const Prediction& prediction) {
  const Question& question = prediction.question;
  const AtGamma& asked = prediction.asked;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(question.convention)},
            {"drafter", question.drafter.empty() ? std::string(to_string(question.drafting)) : question.drafter}};
  if (question.marginal.empty()) {
    json["alpha"] = question.alpha;
    if (question.acceptance_length) json["acceptance_length"] = *question.acceptance_length;
  } else {
    json["conditional"] = analytic::conditional_from_marginal(question.marginal);
    json["marginal"] = question.marginal;
  }
  json["c"] = question.cost.draft_pass;
  if (!question.measured.empty()) json["cost"] = cost_json("block", question.measured);
  json["operations_ratio"] = or_null(question.operations_ratio);
  json["gamma"] = gamma_json(asked.gamma);
  json["tokens_per_iteration"] = or_null(asked.tokens);
  json["tokens_variance"] = or_null(asked.variance);
  json["speedup"] = or_null(asked.speedup);
  json["operations_factor"] = or_null(asked.operations);
  json["memory_access_factor"] = or_null(asked.memory);
  json["best_gamma"] = gamma_json(prediction.best.gamma);
  json["best_speedup"] = or_null(prediction.best.speedup);
  json["real_gamma"] = or_null(prediction.real_gamma);
  json["oracle_speedup"] = or_null(prediction.oracle_speedup);
  return json;
}

}  // namespace foredraft::experiments
