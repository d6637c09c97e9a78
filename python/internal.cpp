// SPDX-License-Identifier: Apache-2.0
#include "python/internal.hpp"

#include <cmath>
#include <stdexcept>

#include "app/commands/commands.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "inputs/inputs.hpp"
#include "scenario/check.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::python {

namespace {

constexpr std::string_view messages_from = "foredraft";

std::string_view word_of(scenario::ValueType type) {
  switch (type) {
    case scenario::ValueType::real:
      return "real";
    case scenario::ValueType::integer:
      return "integer";
    case scenario::ValueType::choice:
      return "choice";
    case scenario::ValueType::text:
      return "text";
    case scenario::ValueType::reals:
      return "reals";
    case scenario::ValueType::texts:
      return "texts";
    case scenario::ValueType::schedule:
      return "schedule";
  }
  throw std::logic_error("unknown value type");
}

bool takes_number(const scenario::Parameter& parameter) {
  return parameter.type == scenario::ValueType::real || parameter.type == scenario::ValueType::integer;
}

bool whole(double number) { return std::abs(number) <= 0x1p53 && number == std::trunc(number); }

/// The value of a parameter for a legal number.
Value value_of(const scenario::Parameter& parameter, double number) {
  if (parameter.type == scenario::ValueType::integer) return static_cast<std::int64_t>(number);
  return number == 0.0 ? 0.0 : number;  // -0.0 is 0
}

}  // namespace

std::vector<std::tuple<std::string, std::string, std::string>> parameter_facts() {
  std::vector<std::tuple<std::string, std::string, std::string>> facts;
  for (const scenario::Parameter& parameter : scenario::parameters()) {
    facts.emplace_back(parameter.name, word_of(parameter.type), parameter.summary);
  }
  return facts;
}

const std::vector<QuantityFacts>& quantity_facts() {
  static const std::vector<QuantityFacts> facts = [] {
    std::vector<QuantityFacts> all;
    for (const scenario::Metric& metric : scenario::metrics()) {
      all.push_back({metric.name, metric.unit, metric.meaning, metric.closed_form, metric.estimate});
    }
    return all;
  }();
  return facts;
}

std::vector<std::tuple<std::string, std::string, std::string>> figure_labels() {
  std::vector<std::tuple<std::string, std::string, std::string>> labels;
  for (const scenario::Metric& metric : scenario::metrics()) {
    labels.emplace_back(metric.name, metric.label, metric.unit);
  }
  for (const scenario::Parameter& parameter : scenario::parameters()) {
    labels.emplace_back(parameter.name, scenario::axis_label(parameter), "");
  }
  return labels;
}

CheckedQuestion::CheckedQuestion(std::vector<Input> inputs, Replacement replacement) : inputs_(std::move(inputs)) {
  ProblemList problems{std::string(messages_from)};
  scenario_ = scenario::scenario_of(inputs_, problems);
  problems.raise();
  if (auto* recording = std::get_if<std::shared_ptr<const Recording>>(&replacement)) {
    std::get<Trace>(std::get<ProcessFidelity>(scenario_.fidelity).acceptance).recording = std::move(*recording);
    return;
  }
  if (auto* given = std::get_if<std::shared_ptr<const GivenDistributions>>(&replacement)) {
    std::get<TokenFidelity>(scenario_.fidelity).models = GivenModels{std::move(*given)};
    scenario::check_scenario(scenario_);
    return;
  }
  for (const Input& input : inputs_) {
    const auto type = scenario::find_parameter(input.parameter)->type;
    names_files_ = names_files_ || type == scenario::ValueType::text || type == scenario::ValueType::texts;
  }
  try {
    inputs::Inputs().attach(scenario_);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

const scenario::Parameter* find_number(std::string_view name) {
  const scenario::Parameter* parameter = scenario::find_parameter(name);
  return parameter != nullptr && takes_number(*parameter) ? parameter : nullptr;
}

bool is_integer(const scenario::Parameter& parameter) { return parameter.type == scenario::ValueType::integer; }

bool is_legal(const scenario::Parameter& parameter, double number) {
  return scenario::contains(parameter.range, number) && (!is_integer(parameter) || whole(number));
}

void assign(const scenario::Parameter& parameter, double number, Scenario& scenario) {
  parameter.assign(scenario, value_of(parameter, number));
}

int run_program(const std::vector<std::string>& arguments) {
  open_standard_streams();
  return app::run_program(arguments);
}

}  // namespace foredraft::python
