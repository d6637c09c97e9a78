// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/varying_prediction.hpp"

#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/draft_length/best_gamma.hpp"
#include "experiments/config/parameters.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/text/numbers.hpp"

namespace foredraft::experiments {
namespace {

AnalyticAnswer closed_form(const PointInputs& inputs) {
  return analytic_answer(inputs, std::numeric_limits<double>::quiet_NaN());
}

std::string policy_name(const PointInputs& inputs) {
  return find_parameter("policy")->choices[static_cast<std::size_t>(inputs.policy.kind)];
}

bool is_iid(const PointInputs& inputs) {
  return inputs.process == ProcessKind::iid && inputs.drafter != "input_copy" && inputs.head_accuracies.empty();
}

nlohmann::ordered_json or_unbounded(const std::optional<double>& value, bool whole) {
  if (!value) return nullptr;
  if (std::isinf(*value)) return whole ? nlohmann::ordered_json("unbounded") : nlohmann::ordered_json(nullptr);
  return whole ? nlohmann::ordered_json(static_cast<std::int64_t>(*value)) : nlohmann::ordered_json(*value);
}

std::string what_drafts(const PointInputs& inputs) {
  return inputs.drafter == "input_copy" ? std::string("drafter input_copy") : "policy " + policy_name(inputs);
}

}  // namespace

std::string varying_prediction_text(const PointInputs& inputs) {
  const AnalyticAnswer answer = closed_form(inputs);
  const double tokens = answer[tokens_per_iteration_metric].value();
  std::string text =
      fmt::format("speedup {}x: an iteration drafts {} tokens and yields {} under {}.",
                  decimal_text(answer[speedup_metric].value(), 2), decimal_text(answer[mean_gamma_metric].value(), 2),
                  decimal_text(tokens, 2), what_drafts(inputs));
  if (const auto& best = answer[best_gamma_metric]) {
    text += std::isinf(*best) ? " Longer constant drafts are always better."
                              : fmt::format(" The best constant gamma is {}: {}x.", static_cast<std::int64_t>(*best),
                                            decimal_text(answer[best_speedup_metric].value(), 2));
  }
  text += "\n\n";
  for (const MetricIndex index :
       {tokens_per_iteration_metric, mean_gamma_metric, speedup_metric, operations_factor_metric,
        memory_access_factor_metric, per_token_metric, accepted_over_drafted_metric}) {
    if (answer[index]) text += fmt::format("{:<48} {:>8}\n", metrics()[index].label, decimal_text(*answer[index], 4));
  }
  return text + fmt::format(
                    "\nassumes     {}; at most {} drafts; {} convention; all tokens of an iteration verified at "
                    "the cost of one\n",
                    inputs.drafter == "input_copy" ? "independent edits"
                    : is_iid(inputs)               ? "i.i.d. acceptance"
                                                   : "acceptance by position",
                    inputs.gamma, to_string(inputs.convention));
}

nlohmann::ordered_json varying_prediction_json(const PointInputs& inputs) {
  const AnalyticAnswer answer = closed_form(inputs);
  const auto number = [&](MetricIndex index) { return or_unbounded(answer[index], false); };
  nlohmann::ordered_json json{{"schema", "foredraft.predict/1"},
                              {"convention", to_string(inputs.convention)},
                              {"drafter", inputs.drafter},
                              {"policy", policy_name(inputs)}};
  if (is_iid(inputs)) json["alpha"] = inputs.alpha;
  for (const auto& [name, value] : inputs.drafter_parameters) json[name] = value;
  const DecodingCost cost = decoding_cost(inputs).value();
  json["c"] = cost.draft_pass;
  if (inputs.cost != "constant_ratio") json["cost"] = cost_json(inputs.cost, inputs.cost_values);
  json["operations_ratio"] =
      inputs.operations_ratio ? nlohmann::ordered_json(*inputs.operations_ratio) : nlohmann::ordered_json(nullptr);
  json["gamma"] = inputs.gamma;
  json["mean_gamma"] = number(mean_gamma_metric);
  json["tokens_per_iteration"] = number(tokens_per_iteration_metric);
  json["tokens_variance"] = number(tokens_variance_metric);
  json["speedup"] = number(speedup_metric);
  json["operations_factor"] = number(operations_factor_metric);
  json["memory_access_factor"] = number(memory_access_factor_metric);
  json["best_gamma"] = or_unbounded(answer[best_gamma_metric], true);
  json["best_speedup"] = number(best_speedup_metric);
  json["real_gamma"] = nullptr;
  const bool has_oracle =
      is_iid(inputs) && inputs.convention == Convention::bonus && inputs.drafting == Drafting::autoregressive;
  json["oracle_speedup"] =
      has_oracle ? or_unbounded(analytic::oracle_speedup(inputs.alpha, draft_ratio(cost)) / cost.iteration, false)
                 : nullptr;
  return json;
}

}  // namespace foredraft::experiments
