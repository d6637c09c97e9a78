// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/marginals.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/predict/prediction.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json gamma_json(const std::optional<std::int64_t>& gamma) { return gamma ? Json(*gamma) : Json("unbounded"); }

}  // namespace

Json to_json(const Question& question, const analytic::Prediction& prediction) {
  const Scenario& scenario = question.scenario;
  const analytic::AtGamma& asked = prediction.asked;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)}};
  if (prediction.marginal.empty()) {
    json["alpha"] = std::get<Iid>(std::get<ProcessFidelity>(scenario.fidelity).acceptance).alpha;
    if (question.acceptance_length) json["acceptance_length"] = *question.acceptance_length;
  } else {
    json["conditional"] = conditional_from_marginal(prediction.marginal);
    json["marginal"] = prediction.marginal;
  }
  json["c"] = scenario::decoding_cost(scenario).value().draft_pass;
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = cost_json(scenario.cost);
  json["operations_ratio"] = or_null(scenario.operations_ratio);
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

Json cost_json(const Cost& cost) {
  const auto& member = entry_of(scenario::costs(), cost);
  Json json{{"model", member.name}};
  for (const auto& parameter : member.parameters) {
    const auto value = parameter.get(cost);
    if (!value || value == parameter.default_value) continue;
    constexpr std::string_view prefix = "cost.";
    json[parameter.name.starts_with(prefix) ? parameter.name.substr(prefix.size()) : parameter.name] = to_json(*value);
  }
  return json;
}

}  // namespace foredraft::experiments
