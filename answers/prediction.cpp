// SPDX-License-Identifier: Apache-2.0
#include "answers/prediction.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analytic/answer/answer.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "core/json_values.hpp"
#include "core/marginals.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;
using analytic::AcceptanceFit;
using analytic::DrafterClass;
using analytic::TokensAtGamma;

Json gamma_json(const std::optional<std::int64_t>& gamma) { return gamma ? Json(*gamma) : Json("unbounded"); }

std::string_view word_of(DrafterClass drafter) {
  constexpr std::array<std::string_view, 4> words{"text", "feature_head", "parallel_heads", "unknown"};
  return words.at(static_cast<std::size_t>(drafter));
}

}  // namespace

const Iid* iid_of(const Scenario& scenario) {
  const auto* heads = std::get_if<Heads>(&scenario.drafter);
  const bool own =
      std::holds_alternative<InputCopy>(scenario.drafter) || (heads != nullptr && !heads->accuracies.empty());
  return own ? nullptr : std::get_if<Iid>(&std::get<ProcessFidelity>(scenario.fidelity).acceptance);
}

std::vector<TokensAtGamma> tokens_by_gamma(const AcceptanceFit& fit, std::optional<std::int64_t> asked) {
  constexpr std::int64_t last = 12;
  std::vector<TokensAtGamma> tokens;
  for (std::int64_t gamma = 1; gamma <= last; ++gamma) tokens.push_back(analytic::tokens_at(fit, gamma));
  if (asked.value_or(0) > last) tokens.push_back(analytic::tokens_at(fit, *asked));
  return tokens;
}

LoggedSteps logged_steps(const AcceptanceFit& fit) {
  LoggedSteps logged;
  for (const analytic::PooledCounts& counts : fit.counts) {
    logged.gammas.push_back(counts.gamma);
    logged.steps += counts.steps;
  }
  return logged;
}

Json to_json(const Answered& answered) {
  const auto& [question, prediction] = answered;
  const Scenario& scenario = question.scenario;
  const analytic::AtGamma& asked = prediction.asked;
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)}};
  add_stated_acceptance(question.acceptance(), prediction.marginal, question.acceptance_length,
                        question.accepted_over_drafted, json);
  json["c"] = scenario::draft_step(scenario).value();
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
  for (const Answered& answered : all) json["cells"].emplace_back(to_json(answered)).erase("schema");
  return json;
}

void add_acceptance(const AcceptanceProcess& acceptance, Json& json) {
  const auto& member = entry_of(scenario::processes(), acceptance);
  json["process"] = member.name;
  constexpr std::string_view prefix = "process.";
  for (const auto& parameter : member.parameters) {
    if (const auto value = parameter.get(acceptance))
      json[parameter.name.substr(prefix.size())] = scenario::to_json(*value);
  }
}

void add_stated_acceptance(const AcceptanceProcess& acceptance, std::span<const double> marginal,
                           const std::optional<double>& acceptance_length,
                           const std::optional<double>& accepted_over_drafted, Json& json) {
  const auto* iid = std::get_if<Iid>(&acceptance);
  if (!marginal.empty()) {
    json["conditional"] = conditional_from_marginal(marginal);
    json["marginal"] = marginal;
  } else if (iid == nullptr) {
    add_acceptance(acceptance, json);
  } else {
    json["alpha"] = iid->alpha;
    if (acceptance_length) json["acceptance_length"] = *acceptance_length;
    if (accepted_over_drafted) json["accepted_over_drafted"] = *accepted_over_drafted;
  }
}

Json cost_json(const Cost& cost) {
  const auto& member = entry_of(scenario::costs(), cost);
  Json json{{"model", member.name}};
  for (const auto& parameter : member.parameters) {
    const auto value = parameter.get(cost);
    if (!value || value == parameter.default_value()) continue;
    constexpr std::string_view prefix = "cost.";
    json[parameter.name.starts_with(prefix) ? parameter.name.substr(prefix.size()) : parameter.name] =
        scenario::to_json(*value);
  }
  return json;
}

Json schedule_json(std::span<const GammaRange> schedule) {
  return list_json(schedule, [](const GammaRange& range) -> Json {
    return {range.from_batch, range.to_batch, range.gamma};
  });
}

nlohmann::ordered_json varying_prediction_json(const Scenario& scenario) {
  const ClosedForm answer = analytic::answer(scenario);
  Json json{{"schema", "foredraft.predict/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)},
            {"policy", scenario::name_of(std::get<ProcessFidelity>(scenario.fidelity).policy)}};
  const Iid* iid = iid_of(scenario);
  if (iid != nullptr) json["alpha"] = iid->alpha;
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(scenario.fidelity).acceptance;
  if (!std::holds_alternative<Iid>(acceptance) && !std::holds_alternative<Positional>(acceptance)) {
    add_acceptance(acceptance, json);
  }
  for (const auto& parameter : entry_of(scenario::drafters(), scenario.drafter).parameters) {
    constexpr std::string_view prefix = "drafter.";
    const auto value = parameter.get(scenario.drafter);
    if (value && parameter.type != scenario::ValueType::reals)
      json[parameter.name.substr(prefix.size())] = scenario::to_json(*value);
  }
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  json["c"] = scenario::draft_step(scenario).value();
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = cost_json(scenario.cost);
  json["operations_ratio"] = value_or_null(scenario.operations_ratio);
  json["gamma"] = scenario.gamma;
  json["mean_gamma"] = finite_json(answer.mean_gamma);
  json["tokens_per_iteration"] = finite_json(answer.tokens_per_iteration);
  json["tokens_variance"] = finite_json(answer.tokens_variance);
  json["speedup"] = finite_json(answer.speedup);
  json["operations_factor"] = finite_json(answer.operations_factor);
  json["memory_access_factor"] = finite_json(answer.memory_access_factor);
  json["best_gamma"] = std::isinf(answer.best_gamma)   ? Json("unbounded")
                       : std::isnan(answer.best_gamma) ? Json(nullptr)
                                                       : Json(static_cast<std::int64_t>(answer.best_gamma));
  json["best_speedup"] = finite_json(answer.best_speedup);
  if (!std::isnan(answer.optimal_speedup)) {
    json["optimal_speedup"] = finite_json(answer.optimal_speedup);
    json["loss"] = finite_json(answer.loss);
  }
  json["real_gamma"] = nullptr;
  const bool has_oracle = iid != nullptr && scenario.convention == Convention::bonus &&
                          scenario::drafting(scenario.drafter) == Drafting::autoregressive;
  json["oracle_speedup"] = has_oracle ? finite_json(analytic::oracle_speedup(iid->alpha, cost)) : nullptr;
  return json;
}

Json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  const AcceptanceFit& fit = observed.fit;
  const Runs runs = fit.model.value();
  const auto [gammas, steps] = logged_steps(fit);
  Json json{{"file", observed.file.path},
            {"sha256", observed.file.sha256},
            {"gamma_observed", gammas},
            {"verification_steps", steps},
            {"drafter_class", word_of(fit.drafter)}};
  json["model"] = {{"name", "runs"},
                   {"a", runs.a},
                   {"b", runs.b},
                   {"spread", runs.spread},
                   {"rho", runs.rho},
                   {"chi_squared", fit.chi_squared},
                   {"degrees_of_freedom", fit.degrees_of_freedom},
                   {"interval_is_lower_bound", fit.interval_is_lower_bound},
                   {"text_changed", fit.text_changed},
                   {"collapsed_position", value_or_null(fit.collapsed_position)}};
  json["tokens_per_iteration_by_gamma"] = Json::array();
  for (const TokensAtGamma& tokens : tokens_by_gamma(fit, asked)) {
    json["tokens_per_iteration_by_gamma"].push_back({{"gamma", tokens.gamma},
                                                     {"value", tokens.value},
                                                     {"low", tokens.low},
                                                     {"high", tokens.high},
                                                     {"extrapolated", tokens.extrapolated}});
  }
  return json;
}

}  // namespace foredraft::answers
