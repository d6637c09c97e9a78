// SPDX-License-Identifier: Apache-2.0
#include "scenario/inputs.hpp"

#include <utility>

#include "scenario/check.hpp"

namespace foredraft::scenario {
namespace {

Node node_of(double value) { return {0, value}; }
Node node_of(std::int64_t value) { return {0, value}; }
Node node_of(const std::string& value) { return {0, value}; }
template <class Entries>
Node node_of(const Entries& entries) {
  Array list;
  for (const auto& entry : entries) list.push_back(node_of(entry));
  return {0, std::move(list)};
}

/// As a document would say it.
Node node_of(const Value& value) {
  return std::visit([](const auto& held) { return node_of(held); }, value);
}

}  // namespace

Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems) {
  Space space;
  space.wording = Wording::name;
  std::vector<const Parameter*> refused;
  bool unknown = false;  // a word or a name: what follows would mislead
  for (const Input& input : inputs) {
    const Parameter* parameter = find_parameter(input.parameter);
    if (parameter == nullptr) {
      problems.add({.key = input.parameter,
                    .text = "unknown parameter",
                    .suggestion = suggestion_for(input.parameter, parameter_names())});
      unknown = true;
    } else if (has_input(space, input.parameter)) {
      problems.add({.key = input.parameter, .text = "given twice", .suggestion = "remove one"});
    } else if (auto value = read_value(*parameter, node_of(input.value), input.parameter, problems)) {
      space.fixed.push_back({parameter, std::move(*value), 0});
    } else {
      refused.push_back(parameter);
      unknown = unknown || parameter->type == ValueType::choice;
    }
  }
  if (!unknown) resolve_and_check(space, refused, problems);
  return problems.empty() ? build(usage_of(space), space.fixed) : Scenario{};
}

}  // namespace foredraft::scenario
