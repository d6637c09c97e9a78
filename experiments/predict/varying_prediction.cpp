// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/varying_prediction.hpp"

#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analytic/answer/answer.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "core/numbers.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/text/json_values.hpp"
#include "scenario/cost.hpp"
#include "scenario/metrics.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

const ProcessFidelity& process_of(const Scenario& scenario) { return std::get<ProcessFidelity>(scenario.fidelity); }

const Iid* iid_of(const Scenario& scenario) {
  const auto* heads = std::get_if<Heads>(&scenario.drafter);
  const bool own =
      std::holds_alternative<InputCopy>(scenario.drafter) || (heads != nullptr && !heads->accuracies.empty());
  return own ? nullptr : std::get_if<Iid>(&process_of(scenario).acceptance);
}

/// Of heads whose accuracies stand in for the process, by position.
std::string varying_acceptance_words(const Scenario& scenario) {
  const AcceptanceProcess& acceptance = process_of(scenario).acceptance;
  return std::holds_alternative<Iid>(acceptance) ? "acceptance by position" : acceptance_words(acceptance);
}

std::string what_drafts(const Scenario& scenario) {
  if (std::holds_alternative<InputCopy>(scenario.drafter)) {
    return fmt::format("drafter {}", scenario::name_of(scenario.drafter));
  }
  return fmt::format("policy {}", scenario::name_of(process_of(scenario).policy));
}

}  // namespace

std::string varying_prediction_text(const Scenario& scenario) {
  const ClosedForm answer = analytic::answer(scenario);
  std::string text = fmt::format("speedup {}x: an iteration drafts {} tokens and yields {} under {}.",
                                 decimal_text(answer.speedup, 2), decimal_text(answer.mean_gamma, 2),
                                 decimal_text(answer.tokens_per_iteration, 2), what_drafts(scenario));
  if (!std::isnan(answer.best_gamma)) {
    text += std::isinf(answer.best_gamma)
                ? " Longer constant drafts are always better."
                : fmt::format(" The best constant gamma is {}: {}x.", static_cast<std::int64_t>(answer.best_gamma),
                              decimal_text(answer.best_speedup, 2));
  }
  text += "\n\n";
  for (double ClosedForm::*quantity : {&ClosedForm::tokens_per_iteration, &ClosedForm::mean_gamma, &ClosedForm::speedup,
                                       &ClosedForm::operations_factor, &ClosedForm::memory_access_factor,
                                       &ClosedForm::per_token, &ClosedForm::accepted_over_drafted}) {
    if (std::isnan(answer.*quantity)) continue;
    for (const scenario::Metric& metric : scenario::metrics()) {
      if (metric.closed_form == quantity)
        text += fmt::format("{:<48} {:>8}\n", metric.label, decimal_text(answer.*quantity, 4));
    }
  }
  return text + fmt::format(
                    "\nassumes     {}; at most {} drafts; {} convention; all tokens of an iteration verified at "
                    "the cost of one\n",
                    std::holds_alternative<InputCopy>(scenario.drafter) ? "independent edits"
                    : iid_of(scenario) != nullptr                       ? "i.i.d. acceptance"
                                                                        : varying_acceptance_words(scenario),
                    scenario.gamma, to_string(scenario.convention));
}

nlohmann::ordered_json varying_prediction_json(const Scenario& scenario) {
  const ClosedForm answer = analytic::answer(scenario);
  nlohmann::ordered_json json{{"schema", "foredraft.predict/1"},
                              {"convention", to_string(scenario.convention)},
                              {"drafter", scenario::name_of(scenario.drafter)},
                              {"policy", scenario::name_of(process_of(scenario).policy)}};
  const Iid* iid = iid_of(scenario);
  if (iid != nullptr) json["alpha"] = iid->alpha;
  const AcceptanceProcess& acceptance = process_of(scenario).acceptance;
  if (!std::holds_alternative<Iid>(acceptance) && !std::holds_alternative<Positional>(acceptance)) {
    add_acceptance(acceptance, json);
  }
  for (const auto& parameter : entry_of(scenario::drafters(), scenario.drafter).parameters) {
    constexpr std::string_view prefix = "drafter.";
    const auto value = parameter.get(scenario.drafter);
    if (value && parameter.type != scenario::ValueType::reals)
      json[parameter.name.substr(prefix.size())] = to_json(*value);
  }
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  json["c"] = cost.draft_pass;
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = cost_json(scenario.cost);
  json["operations_ratio"] =
      scenario.operations_ratio ? nlohmann::ordered_json(*scenario.operations_ratio) : nlohmann::ordered_json(nullptr);
  json["gamma"] = scenario.gamma;
  json["mean_gamma"] = finite_json(answer.mean_gamma);
  json["tokens_per_iteration"] = finite_json(answer.tokens_per_iteration);
  json["tokens_variance"] = finite_json(answer.tokens_variance);
  json["speedup"] = finite_json(answer.speedup);
  json["operations_factor"] = finite_json(answer.operations_factor);
  json["memory_access_factor"] = finite_json(answer.memory_access_factor);
  if (std::isinf(answer.best_gamma)) {
    json["best_gamma"] = "unbounded";
  } else if (std::isnan(answer.best_gamma)) {
    json["best_gamma"] = nullptr;
  } else {
    json["best_gamma"] = static_cast<std::int64_t>(answer.best_gamma);
  }
  json["best_speedup"] = finite_json(answer.best_speedup);
  json["real_gamma"] = nullptr;
  const bool has_oracle = iid != nullptr && scenario.convention == Convention::bonus &&
                          scenario::drafting(scenario.drafter) == Drafting::autoregressive;
  json["oracle_speedup"] =
      has_oracle ? finite_json(analytic::oracle_speedup(iid->alpha, draft_ratio(cost)) / cost.iteration) : nullptr;
  return json;
}

}  // namespace foredraft::experiments
