// SPDX-License-Identifier: Apache-2.0
#include "answers/inverse.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/json_values.hpp"
#include "foredraft/errors.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/processes.hpp"

namespace foredraft::answers {
namespace {

double passes_of(const Scenario& scenario) {
  return static_cast<double>(draft_passes(scenario.gamma, scenario::drafting(scenario.drafter)));
}

double tokens_of(const Scenario& scenario) {
  const auto mean = analytic::iteration_distribution(scenario, unknown<double>).mean;
  if (mean) return *mean;
  throw DomainError(fmt::format("no closed form of acceptance {}",
                                scenario::name_of(std::get<ProcessFidelity>(scenario.fidelity).acceptance)));
}

/// `value` of the measured number, and of both ends of its rounding interval within low to high. Empty outside of them:
/// nothing explains such numbers.
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

/// The cost in decode steps that, paid `times` times in an iteration, explains the measured speedup.
InverseAnswer invert_cost(const InverseQuestion& question, double times) {
  const double tokens = tokens_of(question.scenario);
  const double steps = iteration_steps(question.scenario);
  return within(question.measured, 0.0, tokens / steps,
                [&](double speedup) { return std::max(0.0, analytic::implied_cost(tokens, speedup, steps) / times); });
}

}  // namespace

double iteration_steps(const Scenario& scenario) {
  const DecodingCost cost = scenario::decoding_cost(scenario).value();
  return cost.iteration + passes_of(scenario) * cost.draft_pass;
}

InverseAnswer invert(const InverseQuestion& question) {
  if (question.sought == Sought::c && passes_of(question.scenario) == 0.0) {
    throw DomainError(
        fmt::format("drafter {} takes no draft pass: c has no effect - state --c 0 to ask for an overhead",
                    scenario::name_of(question.scenario.drafter)));
  }
  if (question.sought == Sought::alpha) return invert_alpha(question);
  return invert_cost(question, question.sought == Sought::c ? passes_of(question.scenario) : 1.0);
}

std::string_view name_of(Sought sought) {
  return sought == Sought::alpha ? "alpha" : sought == Sought::c ? "c" : "overhead";
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

}  // namespace foredraft::answers
