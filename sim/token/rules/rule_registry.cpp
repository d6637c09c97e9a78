// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/rule_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "sim/token/rules/rule_definition.hpp"

namespace foredraft::sim {

// Every rule twice, sorted by name: declared here, and listed in definitions() below.
namespace rules {
RuleDefinition accept_all();
RuleDefinition greedy_match();
RuleDefinition lenient();
RuleDefinition multi_candidate();
RuleDefinition rejection_sampling();
RuleDefinition sigmoid_approximation();
RuleDefinition top_beta();
RuleDefinition typical_acceptance();
}  // namespace rules

namespace {

const std::vector<RuleDefinition>& definitions() {
  static const std::vector<RuleDefinition> all{
      rules::accept_all(),         rules::greedy_match(),          rules::lenient(),  rules::multi_candidate(),
      rules::rejection_sampling(), rules::sigmoid_approximation(), rules::top_beta(), rules::typical_acceptance(),
  };
  return all;
}

std::string known_names() {
  std::vector<std::string_view> names;
  for (const RuleEntry& entry : rule_registry()) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_legal(const RuleParameter& parameter, double value) {
  const bool above = parameter.excludes_minimum ? value > parameter.minimum : value >= parameter.minimum;
  const bool below = parameter.excludes_maximum ? value < parameter.maximum : value <= parameter.maximum;
  return above && below && !(parameter.whole && value != std::floor(value));
}

RuleParameters resolve(const RuleEntry& entry, const std::map<std::string, double>& given) {
  for (const auto& [name, value] : given) {
    const auto named = [&name = name](const RuleParameter& parameter) { return parameter.name == name; };
    if (std::none_of(entry.parameters.begin(), entry.parameters.end(), named)) {
      throw DomainError(fmt::format("invalid rule.{}={} (must be a parameter of {})", name, value, entry.name));
    }
  }
  RuleParameters resolved;
  for (const RuleParameter& parameter : entry.parameters) {
    const auto found = given.find(std::string(parameter.name));
    const double value = found == given.end() ? parameter.default_value : found->second;
    if (!is_legal(parameter, value)) {
      throw DomainError(fmt::format("invalid rule.{}={} (must be {})", parameter.name, value, range_text(parameter)));
    }
    resolved.emplace(parameter.name, value);
  }
  return resolved;
}

}  // namespace

std::string range_text(const RuleParameter& parameter) {
  return fmt::format("{} {}{}, {}{}", parameter.whole ? "a whole number in" : "in",
                     parameter.excludes_minimum ? '(' : '[', parameter.minimum, parameter.maximum,
                     parameter.excludes_maximum ? ')' : ']');
}

const std::vector<RuleEntry>& rule_registry() {
  static const std::vector<RuleEntry> entries = [] {
    std::vector<RuleEntry> list;
    for (const RuleDefinition& definition : definitions()) list.push_back(definition.entry);
    return list;
  }();
  return entries;
}

std::unique_ptr<const VerificationRule> make_rule(std::string_view name,
                                                  const std::map<std::string, double>& parameters) {
  for (const RuleDefinition& definition : definitions()) {
    if (definition.entry.name == name) return definition.make(resolve(definition.entry, parameters));
  }
  throw DomainError(fmt::format("invalid rule={} (must be one of {})", name, known_names()));
}

}  // namespace foredraft::sim
