// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "analytic/answer/answer.hpp"
#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/predict/prediction.hpp"
#include "experiments/text/json_values.hpp"
#include "experiments/text/table.hpp"
#include "foredraft/errors.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/metrics.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::experiments {
namespace {

using Json = nlohmann::ordered_json;

double passes_of(const Scenario& scenario) {
  return static_cast<double>(draft_passes(scenario.gamma, scenario::drafting(scenario.drafter)));
}

double tokens_of(const Scenario& scenario) {
  const auto mean = analytic::iteration_distribution(scenario, unknown<double>).mean;
  if (mean) return *mean;
  throw DomainError(fmt::format("no closed form of acceptance {}",
                                scenario::name_of(std::get<ProcessFidelity>(scenario.fidelity).acceptance)));
}

/// `value` of the ends of the measured interval that something explains; nothing where it lies outside.
InverseAnswer within(const PrintedNumber& measured, double low, double high, const auto& value) {
  InverseAnswer answer{.low = low, .high = high};
  if (measured.value >= low && measured.value <= high) answer.value = value(measured.value);
  if (!intersects(measured.rounding, {low, high})) return answer;
  const double one = value(std::max(measured.rounding.low, low));
  const double other = value(std::min(measured.rounding.high, high));
  answer.interval = {std::min(one, other), std::max(one, other)};
  return answer;
}

InverseAnswer invert_alpha(const InverseQuestion& question) {
  const Scenario& scenario = question.scenario;
  const double steps = question.is_length ? 1.0 : iteration_steps(scenario);
  const auto maximum = static_cast<double>(max_tokens(scenario.gamma, scenario.convention));
  return within(question.measured, 1.0 / steps, maximum / steps, [&](double measured) {
    return analytic::alpha_from_acceptance_length(std::clamp(measured * steps, 1.0, maximum), scenario.gamma,
                                                  scenario.convention);
  });
}

/// A cost in decode steps beyond those stated, `times` of them an iteration.
InverseAnswer invert_cost(const InverseQuestion& question, double times) {
  const double tokens = tokens_of(question.scenario);
  const double steps = iteration_steps(question.scenario);
  return within(question.measured, 0.0, tokens / steps,
                [&](double speedup) { return std::max(0.0, analytic::implied_cost(tokens, speedup, steps) / times); });
}

std::string_view name_of(Sought sought) {
  return sought == Sought::alpha ? "alpha" : sought == Sought::c ? "c" : "overhead";
}

std::string measured_words(const InverseQuestion& question) {
  return question.is_length ? fmt::format("{} tokens per iteration", question.measured.text)
                            : fmt::format("a speedup of {}x", question.measured.text);
}

std::string cost_unit(Sought sought) { return sought == Sought::alpha ? "" : " decode steps"; }

std::string bound_sentence(const InverseQuestion& question, const InverseAnswer& answer) {
  const bool above = question.measured.value > answer.high;
  const std::string_view unit = question.is_length ? " tokens" : "x";
  if (question.sought == Sought::alpha) {
    return fmt::format("No acceptance explains {}: alpha {} gives {}{} at gamma {}.", measured_words(question),
                       above ? "1" : "0", decimal_text(above ? answer.high : answer.low, 4), unit,
                       question.scenario.gamma);
  }
  return fmt::format("No {} explains {}: without any it is {}x at gamma {}.", name_of(question.sought),
                     measured_words(question), decimal_text(answer.high, 4), question.scenario.gamma);
}

}  // namespace

double iteration_steps(const Scenario& scenario) {
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  return cost.iteration + passes_of(scenario) * cost.draft_pass;
}

InverseAnswer invert(const InverseQuestion& question) {
  if (question.sought == Sought::c && passes_of(question.scenario) == 0.0) {
    throw DomainError(
        fmt::format("drafter {} takes no draft pass: no c explains anything - state --c 0 to ask for an "
                    "overhead",
                    scenario::name_of(question.scenario.drafter)));
  }
  if (question.sought == Sought::alpha) return invert_alpha(question);
  return invert_cost(question, question.sought == Sought::c ? passes_of(question.scenario) : 1.0);
}

std::string to_text(const InverseQuestion& question) {
  const InverseAnswer answer = invert(question);
  std::string text;
  if (answer.value) {
    text = fmt::format("{} {}{} explains {} at gamma {}.\n", name_of(question.sought), decimal_text(*answer.value, 4),
                       cost_unit(question.sought), measured_words(question), question.scenario.gamma);
  } else {
    text = bound_sentence(question, answer) + "\n";
  }
  if (answer.interval) {
    const auto [low, high] = question.measured.rounding;
    text +=
        fmt::format("\nrounding    {} stands for {} to {}: {} {} to {}{}\n", question.measured.text, number_text(low),
                    number_text(high), name_of(question.sought), decimal_text(answer.interval->low, 4),
                    decimal_text(answer.interval->high, 4), cost_unit(question.sought));
  }
  const AcceptanceProcess& acceptance = std::get<ProcessFidelity>(question.scenario.fidelity).acceptance;
  return text + fmt::format("{}assumes     {}; {} convention\n", answer.interval ? "" : "\n",
                            acceptance_words(acceptance), to_string(question.scenario.convention));
}

nlohmann::ordered_json to_json(const InverseQuestion& question) {
  const InverseAnswer answer = invert(question);
  return {{"schema", "foredraft.predict.inverse/1"},
          {"convention", to_string(question.scenario.convention)},
          {"drafter", scenario::name_of(question.scenario.drafter)},
          {"gamma", question.scenario.gamma},
          {"measured", question.is_length ? "acceptance_length" : "speedup"},
          {"measured_value", question.measured.value},
          {"measured_interval", interval_json(question.measured.rounding)},
          {"sought", name_of(question.sought)},
          {"value", value_or_null(answer.value)},
          {"interval", interval_json(answer.interval)},
          {"possible", {answer.low, answer.high}}};
}

namespace {

const ProcessFidelity& process_of(const Scenario& scenario) { return std::get<ProcessFidelity>(scenario.fidelity); }

/// Null where the drafter has an acceptance of its own.
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
        text += fmt::format("{:<40} {:>8}\n", metric.label, decimal_text(answer.*quantity, 4));
    }
  }
  text += fmt::format(
      "\nassumes     {}; at most {} drafts; {} convention; all tokens of an iteration verified at "
      "the cost of one\n",
      std::holds_alternative<InputCopy>(scenario.drafter) ? "independent edits"
      : iid_of(scenario) != nullptr                       ? "i.i.d. acceptance"
                                                          : varying_acceptance_words(scenario),
      scenario.gamma, to_string(scenario.convention));
  return answer_lines(text);
}

nlohmann::ordered_json varying_prediction_json(const Scenario& scenario) {
  const ClosedForm answer = analytic::answer(scenario);
  Json json{{"schema", "foredraft.predict/1"},
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
  json["real_gamma"] = nullptr;
  const bool has_oracle = iid != nullptr && scenario.convention == Convention::bonus &&
                          scenario::drafting(scenario.drafter) == Drafting::autoregressive;
  json["oracle_speedup"] = has_oracle ? finite_json(analytic::oracle_speedup(iid->alpha, cost)) : nullptr;
  return json;
}

namespace {

using analytic::AcceptanceFit;
using analytic::DrafterClass;
using analytic::TokensAtGamma;

std::string_view word_of(DrafterClass drafter) {
  constexpr std::array<std::string_view, 4> words{"text", "feature_head", "parallel_heads", "unknown"};
  return words.at(static_cast<std::size_t>(drafter));
}

std::vector<TokensAtGamma> table_of(const AcceptanceFit& fit, std::optional<std::int64_t> asked) {
  constexpr std::int64_t last = 12;
  std::vector<TokensAtGamma> tokens;
  for (std::int64_t gamma = 1; gamma <= last; ++gamma) tokens.push_back(analytic::tokens_at(fit, gamma));
  if (asked.value_or(0) > last) tokens.push_back(analytic::tokens_at(fit, *asked));
  return tokens;
}

/// What a fit rests on.
struct LoggedSteps {
  std::vector<std::int64_t> gammas = {};
  double steps = 0.0;
};

LoggedSteps logged_steps(const AcceptanceFit& fit) {
  LoggedSteps logged;
  for (const analytic::PooledCounts& counts : fit.counts) {
    logged.gammas.push_back(counts.gamma);
    logged.steps += counts.steps;
  }
  return logged;
}

/// What speaks against the fit.
std::string doubts_of(const AcceptanceFit& fit) {
  std::string text;
  if (fit.interval_is_lower_bound) {
    text += "one window or request: steps depend on each other, so the intervals are too narrow\n";
  }
  if (fit.text_changed)
    text += "no single text explains all of the draft lengths: they differ in more than their length\n";
  if (fit.collapsed_position) {
    text += fmt::format("acceptance collapses at position {}: a fault or a limit of the drafter\n",
                        *fit.collapsed_position);
  }
  return text;
}

}  // namespace

std::string observed_text(const FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  using enum Table::Align;
  const AcceptanceFit& fit = observed.fit;
  Table table{.caption = {},
              .columns = {{"gamma", right}, {"tokens per iteration", right}, {"95 % interval", left}, {"", left}},
              .rows = {}};
  for (const TokensAtGamma& tokens : table_of(fit, asked)) {
    table.rows.push_back({fmt::format("{}", tokens.gamma), decimal_text(tokens.value, 4),
                          fmt::format("{} to {}", decimal_text(tokens.low, 3), decimal_text(tokens.high, 3)),
                          tokens.source == TokensAtGamma::Source::observed ? "logged"
                          : tokens.extrapolated                            ? "extrapolated"
                                                                           : ""});
  }
  constexpr std::size_t name_width = 40;
  const auto [gammas, steps] = logged_steps(fit);
  return fmt::format("acceptance of {}: {} verification steps at gamma {}\n\n",
                     readable(observed.file.path, name_width), number_text(steps), fmt::join(gammas, ", ")) +
         to_text(table) + doubts_of(fit);
}

Json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked) {
  const AcceptanceFit& fit = observed.fit;
  const Runs runs = fitted_runs(fit);
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
  for (const TokensAtGamma& tokens : table_of(fit, asked)) {
    json["tokens_per_iteration_by_gamma"].push_back({{"gamma", tokens.gamma},
                                                     {"value", tokens.value},
                                                     {"low", tokens.low},
                                                     {"high", tokens.high},
                                                     {"extrapolated", tokens.extrapolated}});
  }
  return json;
}

}  // namespace foredraft::experiments
