// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/marginals.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/predict/observed_prediction.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/text/json_values.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json gamma_json(const std::optional<std::int64_t>& gamma) { return gamma ? Json(*gamma) : Json("unbounded"); }

}  // namespace

Json to_json(const Answered& answered) {
  const auto& [question, prediction] = answered;
  const Scenario& scenario = question.scenario;
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  const analytic::AtGamma& asked = prediction.asked;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)}};
  const auto* iid = std::get_if<Iid>(&acceptance);
  if (prediction.marginal.empty() && iid == nullptr) {
    add_acceptance(acceptance, json);
  } else if (prediction.marginal.empty()) {
    json["alpha"] = iid->alpha;
    if (question.acceptance_length) json["acceptance_length"] = *question.acceptance_length;
  } else {
    json["conditional"] = conditional_from_marginal(prediction.marginal);
    json["marginal"] = prediction.marginal;
  }
  json["c"] = scenario::decoding_cost(scenario).value().draft_pass;
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = cost_json(scenario.cost);
  if (const double growth = scenario::verify_growth(scenario.cost); growth > 0.0) json["verify_growth"] = growth;
  json["operations_ratio"] = value_or_null(scenario.operations_ratio);
  json["gamma"] = gamma_json(asked.gamma);
  json["tokens_per_iteration"] = value_or_null(asked.tokens);
  json["tokens_variance"] = value_or_null(asked.variance);
  json["speedup"] = value_or_null(asked.speedup);
  json["operations_factor"] = value_or_null(asked.operations);
  json["memory_access_factor"] = value_or_null(asked.memory);
  json["best_gamma"] = gamma_json(prediction.best.gamma);
  json["best_speedup"] = value_or_null(prediction.best.speedup);
  json["real_gamma"] = value_or_null(prediction.real_gamma);
  json["oracle_speedup"] = value_or_null(prediction.oracle_speedup);
  if (question.observed) json["acceptance"] = observed_json(*question.observed, asked.gamma);
  return json;
}

Json to_json(std::span<const Answered> all) {
  Json json = to_json(all.front());
  json["cells"] = Json::array();
  for (const Answered& answered : all) {
    Json& cell = json["cells"].emplace_back(to_json(answered));
    cell.erase("schema");
  }
  return json;
}

void add_acceptance(const AcceptanceProcess& acceptance, Json& json) {
  const auto& member = entry_of(scenario::processes(), acceptance);
  json["process"] = member.name;
  constexpr std::string_view prefix = "process.";
  for (const auto& parameter : member.parameters) {
    if (const auto value = parameter.get(acceptance)) json[parameter.name.substr(prefix.size())] = to_json(*value);
  }
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
