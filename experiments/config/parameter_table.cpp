// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/parameter_building.hpp"

namespace foredraft::experiments {
namespace building {

namespace {
bool never(const Usage& /*usage*/) { return false; }
}  // namespace

Parameter real(std::string name, double minimum, double maximum, std::string summary, Used used, Assign assign) {
  return {std::move(name),    ValueType::real, minimum, maximum,          false, {}, std::nullopt,
          std::move(summary), std::move(used), never,   std::move(assign)};
}
Parameter integer(std::string name, double minimum, double maximum, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), minimum, maximum, std::move(summary), std::move(used), std::move(assign));
  result.type = ValueType::integer;
  return result;
}
Parameter choice(std::string name, std::vector<std::string> words, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), 0.0, 0.0, std::move(summary), std::move(used), std::move(assign));
  result.type = ValueType::choice;
  result.default_value = words.front();
  result.choices = std::move(words);
  return result;
}
Parameter typed(std::string name, ValueType type, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), 0.0, 1.0, std::move(summary), std::move(used), std::move(assign));
  result.type = type;
  return result;
}
Parameter with_default(Parameter parameter, Value value) {
  parameter.default_value = std::move(value);
  return parameter;
}
Parameter mandatory(Parameter parameter) {
  parameter.required = parameter.used;
  return parameter;
}
Parameter implied(Parameter parameter) {
  parameter.implied = true;
  return parameter;
}
Parameter above_minimum(Parameter parameter) {
  parameter.minimum_excluded = true;
  return parameter;
}

void add_shared(std::vector<Parameter>& table, Parameter parameter) {
  const auto known =
      std::find_if(table.begin(), table.end(), [&](const Parameter& other) { return other.name == parameter.name; });
  if (known == table.end()) {
    table.push_back(std::move(parameter));
    return;
  }
  const auto either = [](std::function<bool(const Usage&)> one, std::function<bool(const Usage&)> other) {
    return [one = std::move(one), other = std::move(other)](const Usage& usage) { return one(usage) || other(usage); };
  };
  known->used = either(known->used, std::move(parameter.used));
  known->required = either(known->required, std::move(parameter.required));
}

}  // namespace building

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = [] {
    std::vector<Parameter> result;
    building::add_common_parameters(result);
    building::add_cost_parameters(result);
    building::add_process_parameters(result);
    building::add_drafter_parameters(result);
    building::add_policy_parameters(result);
    building::add_rule_parameters(result);
    building::add_model_parameters(result);
    building::add_serving_parameters(result);
    return result;
  }();
  return table;
}

}  // namespace foredraft::experiments
