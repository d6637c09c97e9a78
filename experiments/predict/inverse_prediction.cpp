// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/inverse_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/answer/iteration_law.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/acceptance_definitions.hpp"
#include "core/numbers.hpp"
#include "experiments/predict/prediction.hpp"
#include "foredraft/errors.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

double passes_of(const Scenario& scenario) {
  return static_cast<double>(draft_passes(scenario.gamma, scenario::drafting(scenario.drafter)));
}

double steps_of(const Scenario& scenario) {
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  return cost.iteration + passes_of(scenario) * cost.draft_pass;
}

double tokens_of(const Scenario& scenario) {
  const auto law = analytic::iteration_law(scenario, unknown<double>);
  if (law.mean) return *law.mean;
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
  const double steps = question.is_length ? 1.0 : steps_of(scenario);
  const auto most = static_cast<double>(max_tokens(scenario.gamma, scenario.convention));
  return within(question.measured, 1.0 / steps, most / steps, [&](double measured) {
    return analytic::alpha_from_acceptance_length(std::clamp(measured * steps, 1.0, most), scenario.gamma,
                                                  scenario.convention);
  });
}

/// A cost of so many plain steps beyond those stated, `times` of them an iteration.
InverseAnswer invert_cost(const InverseQuestion& question, double times) {
  const double tokens = tokens_of(question.scenario);
  const double steps = steps_of(question.scenario);
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

std::string cost_unit(Sought sought) { return sought == Sought::alpha ? "" : " plain steps"; }

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

InverseAnswer invert(const InverseQuestion& question) {
  if (question.sought == Sought::c && passes_of(question.scenario) == 0.0) {
    throw DomainError(
        fmt::format("drafter {} takes no draft pass: no c explains anything - state --c 0 to ask for an "
                    "overhead",
                    scenario::name_of(question.scenario.drafter)));
  }
  switch (question.sought) {
    case Sought::alpha:
      return invert_alpha(question);
    case Sought::c:
      return invert_cost(question, passes_of(question.scenario));
    case Sought::overhead:
      return invert_cost(question, 1.0);
  }
  throw std::logic_error("unknown quantity");
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
  using Answer = nlohmann::ordered_json;
  const InverseAnswer answer = invert(question);
  Answer json{{"schema", "foredraft.predict.inverse/1"},
              {"convention", to_string(question.scenario.convention)},
              {"drafter", scenario::name_of(question.scenario.drafter)},
              {"gamma", question.scenario.gamma},
              {"measured", question.is_length ? "acceptance_length" : "speedup"},
              {"measured_value", question.measured.value},
              {"measured_interval", {question.measured.rounding.low, question.measured.rounding.high}},
              {"sought", name_of(question.sought)},
              {"value", answer.value ? Answer(*answer.value) : Answer(nullptr)},
              {"interval", nullptr},
              {"possible", {answer.low, answer.high}}};
  if (answer.interval) json["interval"] = {answer.interval->low, answer.interval->high};
  return json;
}

}  // namespace foredraft::experiments
