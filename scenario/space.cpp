// SPDX-License-Identifier: Apache-2.0
#include "scenario/space.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "scenario/family.hpp"

namespace foredraft::scenario {

const Axis* find_axis(const Space& space, std::string_view name) {
  const auto found = std::find_if(space.axes.begin(), space.axes.end(),
                                  [&](const Axis& axis) { return axis.parameter->name == name; });
  return found == space.axes.end() ? nullptr : &*found;
}

const Value* fixed_value(const Space& space, std::string_view name) {
  const auto found = std::find_if(space.fixed.begin(), space.fixed.end(),
                                  [&](const FixedInput& input) { return input.parameter->name == name; });
  return found == space.fixed.end() ? nullptr : &found->value;
}

bool has_input(const Space& space, std::string_view name) {
  return find_axis(space, name) != nullptr || fixed_value(space, name) != nullptr;
}

std::vector<Value> values_of(const Space& space, std::string_view name) {
  if (const Axis* axis = find_axis(space, name)) return axis->values;
  if (const Value* value = fixed_value(space, name)) return {*value};
  return {};
}

std::string option_of(std::string_view parameter) {
  std::string option(parameter.substr(parameter.rfind('.') + 1));  // npos + 1 is 0
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string name_for_user(const Space& space, std::string_view parameter) {
  return space.wording == Wording::option ? "--" + option_of(parameter) : std::string(parameter);
}

std::string statement(const Space& space, std::string_view parameter, std::string_view word) {
  if (space.wording != Wording::option) return fmt::format("{} = \"{}\"", parameter, word);
  // No option names the process: it follows from how acceptance is stated.
  return parameter == "process" ? "--alpha" : fmt::format("{} {}", name_for_user(space, parameter), word);
}

Usage usage_of(const Space& space) {
  Usage usage;
  for (const Parameter& parameter : parameters()) {
    const bool stated = has_input(space, parameter.name);
    if (stated) usage.stated.insert(parameter.name);
    if (parameter.type != ValueType::choice) continue;
    std::vector<std::string>& words = usage.words[parameter.name];
    for (const Value& value : values_of(space, parameter.name)) words.push_back(std::get<std::string>(value));
    if (!stated) words.push_back(std::get<std::string>(parameter.default_value.value()));
  }
  return usage;
}

Scenario build(const Usage& usage, const std::vector<FixedInput>& inputs) {
  Scenario scenario;
  // Choices put alternatives in place, in the order of the table; the other inputs store into them.
  for (const Parameter& parameter : parameters()) {
    const auto words = usage.words.find(parameter.name);
    if (parameter.type != ValueType::choice || words == usage.words.end() || !parameter.used(usage)) continue;
    parameter.assign(scenario, words->second.front());
  }
  for (const FixedInput& input : inputs) {
    if (input.parameter->type != ValueType::choice && input.parameter->used(usage)) {
      input.parameter->assign(scenario, input.value);
    }
  }
  return scenario;
}

bool has_server(const Space& space) { return usage_of(space).takes("fidelity", "system"); }

bool gamma_varies(const Space& space) {
  const Usage usage = usage_of(space);
  const auto takes = [&](std::string_view family, const auto& registry, const auto& wanted) {
    return std::any_of(registry.begin(), registry.end(), [&](const auto& member) {
      return has_input(space, family) && usage.takes(family, member.name) && wanted(member);
    });
  };
  return has_input(space, "gamma_schedule") ||
         takes("policy", policies(),
               [](const PolicyMember& member) { return !std::holds_alternative<ConstantGamma>(member.value); }) ||
         takes("drafter", drafters(), [](const DrafterMember& member) { return member.charge == Drafting::free; });
}

bool has_cost(const Space& space) {
  if (has_server(space)) return false;  // a server says what requests take
  return std::any_of(costs().begin(), costs().end(), [&](const Member<Cost>& cost) {
    const bool is_ratio = std::holds_alternative<ConstantRatio>(cost.value);  // c may be missing: then no cost is known
    return std::all_of(cost.parameters.begin(), cost.parameters.end(), [&](const MemberParameter<Cost>& parameter) {
      return parameter.default_value || has_input(space, parameter.name) || !(parameter.required || is_ratio);
    });
  });
}

}  // namespace foredraft::scenario
