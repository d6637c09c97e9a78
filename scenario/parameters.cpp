// SPDX-License-Identifier: Apache-2.0
#include "scenario/parameters.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/numbers.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/methods.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {

const Axis* find_axis(const Space& space, std::string_view name) {
  const auto found = std::find_if(space.axes.begin(), space.axes.end(),
                                  [&](const Axis& axis) { return axis.parameter->name == name; });
  return found == space.axes.end() ? nullptr : &*found;
}

namespace {

const FixedInput* find_fixed(const Space& space, std::string_view name) {
  const auto found = std::find_if(space.fixed.begin(), space.fixed.end(),
                                  [&](const FixedInput& input) { return input.parameter->name == name; });
  return found == space.fixed.end() ? nullptr : &*found;
}

}  // namespace

const Value* fixed_value(const Space& space, std::string_view name) {
  const FixedInput* found = find_fixed(space, name);
  return found == nullptr ? nullptr : &found->value;
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

namespace {

/// The parameter under which a value was given: process.marginal instead of process.conditional if the marginal was
/// given.
std::string_view given_as(const Space& space, std::string_view parameter) {
  constexpr std::string_view other_form = "process.marginal";
  const bool other = parameter == "process.conditional" && !has_input(space, parameter) && has_input(space, other_form);
  return other ? other_form : parameter;
}

}  // namespace

std::string name_for_user(const Space& space, std::string_view parameter) {
  parameter = given_as(space, parameter);
  return space.wording == Wording::option ? "--" + option_of(parameter) : std::string(parameter);
}

std::string statement(const Space& space, std::string_view parameter, std::string_view word) {
  if (space.wording != Wording::option) return fmt::format("{} = \"{}\"", parameter, word);
  // There is no option for the process; it follows from the acceptance options.
  return parameter == "process" ? "--alpha" : fmt::format("{} {}", name_for_user(space, parameter), word);
}

void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems) {
  name = given_as(space, name);
  const Axis* axis = find_axis(space, name);
  const FixedInput* fixed = find_fixed(space, name);
  if (axis != nullptr || fixed != nullptr) problem.line = axis != nullptr ? axis->line : fixed->line;
  problem.key = space.wording != Wording::file ? name_for_user(space, name)
                                               : fmt::format("{}.{}", axis != nullptr ? "axes" : "fixed", name);
  problems.add(std::move(problem));
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
  // Choices come first, in table order, and create alternatives; the other inputs are stored into these.
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
         takes("drafter", drafters(), [](const DrafterMember& member) { return draft_length_varies(member.value); });
}

namespace {

/// True if some scenario draws an acceptance probability for each token.
bool sees_confidence(const Space& space) {
  const Usage usage = usage_of(space);
  return has_input(space, "policy") && std::ranges::any_of(policies(), [&](const PolicyMember& member) {
           return token_concentration(member.value) && usage.takes("policy", member.name);
         });
}

/// True if some scenario uses a rule with several candidates.
bool tries_candidates(const Space& space) {
  const Usage usage = usage_of(space);
  return has_input(space, "rule") && std::ranges::any_of(rules(), [&](const RuleMember& rule) {
           return usage.takes("rule", rule.name) &&
                  (std::holds_alternative<MultiCandidate>(rule.value) || std::holds_alternative<KSeq>(rule.value));
         });
}

}  // namespace

bool has_cost(const Space& space) {
  if (has_server(space)) return false;  // a server reports latencies instead of a speedup
  return std::any_of(costs().begin(), costs().end(), [&](const Member<Cost>& cost) {
    const bool is_ratio = std::holds_alternative<ConstantRatio>(cost.value);  // without c the cost is unknown
    return std::all_of(cost.parameters.begin(), cost.parameters.end(), [&](const MemberParameter<Cost>& parameter) {
      return has_input(space, parameter.name) ||
             !(parameter.given == Given::always || (is_ratio && parameter.given == Given::optional));
    });
  });
}

bool provides(const Space& space, Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::cost:
      return has_cost(space);
    case Needs::operations_ratio:
      return has_input(space, "operations_ratio");
    case Needs::varying_gamma:
      return gamma_varies(space);
    case Needs::token_confidence:
      return has_cost(space) && sees_confidence(space);
    case Needs::several_candidates:
      return tries_candidates(space);
    case Needs::serving:
      return has_server(space);
    case Needs::latency_goal:
      return has_input(space, "latency_goal_ms");
  }
  throw std::logic_error("unknown need");
}

std::vector<Metric> metrics_of(const Space& space) {
  std::vector<Metric> found;
  for (const Metric& metric : metrics()) {
    if (provides(space, metric.needs)) found.push_back(metric);
  }
  return found;
}

namespace {

std::string_view wanted(ValueType type) {
  switch (type) {
    case ValueType::real:
      return "a number";
    case ValueType::integer:
      return "a whole number";
    case ValueType::choice:
    case ValueType::text:
      return "a string";
    case ValueType::reals:
      return "a list of numbers";
    case ValueType::texts:
      return "a string or a list of strings";
    case ValueType::schedule:
      return "rows [first batch, last batch, gamma]";
  }
  throw std::logic_error("unknown value type");
}

/// Reads a value of a parameter and reports its problems.
class ValueReader {
 public:
  ValueReader(const Parameter& parameter, const std::string& key, ProblemList& problems)
      : parameter_(parameter), key_(key), problems_(problems) {}

  std::optional<Value> read(const Node& node) {
    switch (parameter_.type) {
      case ValueType::real:
        if (const auto number = real(node, parameter_.name)) return *number;
        return std::nullopt;
      case ValueType::integer:
        return integer(node);
      case ValueType::choice:
        return choice(node);
      case ValueType::text:
        if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
        return wrong_type(node);
      case ValueType::reals:
        return reals(node);
      case ValueType::texts:
        return texts(node);
      case ValueType::schedule:
        return schedule(node);
    }
    throw std::logic_error("unknown value type");
  }

 private:
  std::nullopt_t wrong_type(const Node& node) {
    problems_.add({.line = node.line,
                   .key = key_,
                   .text = "wrong type",
                   .why = fmt::format("must be {}, is {}", wanted(parameter_.type), kind_of(node))});
    return std::nullopt;
  }

  bool legal(const Node& node, std::string name, double number) {
    const std::string why = problem(parameter_, number);
    if (why.empty()) return true;
    if (key_.starts_with("--") && name == parameter_.name) name = key_.substr(2);  // an option
    problems_.add(
        {.line = node.line, .key = key_, .text = fmt::format("invalid {}={}", name, number_text(number)), .why = why});
    return false;
  }

  std::optional<double> real(const Node& node, const std::string& name) {
    const auto number = number_of(node);
    if (!number) return wrong_type(node);
    if (!legal(node, name, *number)) return std::nullopt;
    return *number == 0.0 ? 0.0 : *number;  // -0.0 is 0
  }

  std::optional<Value> integer(const Node& node) {
    const auto number = whole_number(node);
    if (!number) return wrong_type(node);
    if (!legal(node, parameter_.name, static_cast<double>(*number))) return std::nullopt;
    return *number;
  }

  std::optional<Value> choice(const Node& node) {
    const auto* word = std::get_if<std::string>(&node.value);
    if (word == nullptr) return wrong_type(node);
    if (const auto alias = parameter_.aliases.find(*word); alias != parameter_.aliases.end()) return alias->second;
    if (std::find(parameter_.choices.begin(), parameter_.choices.end(), *word) != parameter_.choices.end()) {
      return *word;
    }
    // The word may be a published method that is modeled by another family.
    const bool names_methods = parameter_.name == "drafter" || parameter_.name == "rule" || parameter_.name == "policy";
    problems_.add({.line = node.line,
                   .key = key_,
                   .text = fmt::format("unknown {} \"{}\"", parameter_.name, *word),
                   .suggestion = names_methods ? method_or_suggestion(*word, parameter_.choices)
                                               : suggestion_for(*word, parameter_.choices)});
    return std::nullopt;
  }

  std::optional<Value> reals(const Node& node) {
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    if (list->empty()) {
      problems_.add({.line = node.line, .key = key_, .text = "empty list", .why = "must have at least one entry"});
      return std::nullopt;
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto number = real((*list)[i], fmt::format("entry {}", i + 1));
      if (!number) return std::nullopt;
      values.push_back(*number);
    }
    if (std::string rise = parameter_.name == "process.marginal" ? rise_of(values) : ""; !rise.empty()) {
      problems_.add({.line = node.line,
                     .key = key_,
                     .text = std::move(rise),
                     .why = std::string(why_no_rise),
                     .suggestion = fmt::format("did you mean {}?",
                                               key_.starts_with("--") ? "--conditional" : "process.conditional")});
      return std::nullopt;
    }
    return values;
  }

  std::optional<Value> texts(const Node& node) {
    if (const auto* single = std::get_if<std::string>(&node.value)) return std::vector<std::string>{*single};
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    std::vector<std::string> values;
    for (const Node& entry : *list) {
      const auto* text = std::get_if<std::string>(&entry.value);
      if (text == nullptr) return wrong_type(entry);
      values.push_back(*text);
    }
    if (!values.empty()) return values;
    problems_.add({.line = node.line, .key = key_, .text = "empty list", .why = "must name at least one"});
    return std::nullopt;
  }

  /// Reads rows of three whole numbers. gamma_by_batch() checks that they fit together.
  std::optional<Value> schedule(const Node& node) {
    const auto* list = std::get_if<Array>(&node.value);
    if (list == nullptr) return wrong_type(node);
    Schedule rows;
    for (const Node& entry : *list) {
      const auto* row = std::get_if<Array>(&entry.value);
      if (row == nullptr || row->size() != 3) return wrong_type(entry);
      auto& numbers = rows.emplace_back();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = whole_number((*row)[i]);
        if (!number) return wrong_type(entry);
        numbers[i] = *number;
      }
    }
    return rows;
  }

  const Parameter& parameter_;
  const std::string& key_;
  ProblemList& problems_;
};

}  // namespace

bool Usage::takes(std::string_view name, std::string_view word) const {
  const auto found = words.find(name);
  return found != words.end() && std::find(found->second.begin(), found->second.end(), word) != found->second.end();
}

const Parameter* find_parameter(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Parameter*> all;
    for (const Parameter& parameter : parameters()) all.emplace(parameter.name, &parameter);
    return all;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::vector<std::string> parameter_names() {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters()) names.push_back(parameter.name);
  return names;
}

std::string axis_label(const Parameter& parameter) {
  const std::string& summary = parameter.summary;
  if (summary.find(':') != std::string::npos) return parameter.name;
  return summary.substr(0, summary.find(';'));
}

std::optional<Value> read_value(const Parameter& parameter, const Node& node, const std::string& key,
                                ProblemList& problems) {
  return ValueReader(parameter, key, problems).read(node);
}

std::string problem(const Parameter& parameter, double number) {
  return contains(parameter.range, number) ? "" : "must " + range_reason(parameter.range);
}

std::string legal_values(const Parameter& parameter) {
  switch (parameter.type) {
    case ValueType::choice:
      return fmt::format("{}", fmt::join(parameter.choices, ", "));
    case ValueType::text:
    case ValueType::texts:
    case ValueType::schedule:
      return std::string(wanted(parameter.type));
    default:
      return parameter.range.maximum >= std::numeric_limits<double>::max()
                 ? fmt::format("from {}", number_text(parameter.range.minimum))
                 : fmt::format("{}{}, {}{}", parameter.range.excludes_minimum ? "(" : "[",
                               number_text(parameter.range.minimum), number_text(parameter.range.maximum),
                               parameter.range.excludes_maximum ? ")" : "]");
  }
}

}  // namespace foredraft::scenario
