// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/errors.hpp"
#include "scenario/value.hpp"

/// A family of a scenario (drafters, rules, policies, ...) is a variant; its registry says of each alternative what
/// users call it and which parameters it has. Name, alternative and parameters stand in one entry.
namespace foredraft::scenario {

/// A parameter of one alternative.
template <class Family>
struct MemberParameter {
  std::string name;  ///< the key of a configuration: "policy.start"
  ValueType type = ValueType::real;
  Range range = {};
  std::optional<Value> default_value = {};
  bool required = false;  ///< without a default: must be given
  std::string summary = {};
  /// Stores a value of this type into the alternative.
  std::function<void(Family&, const Value&)> set = {};
  /// What is stored there; nothing where that is nothing, or in another alternative.
  std::function<std::optional<Value>(const Family&)> get = {};
  bool implied = false;          ///< a default that is not written among the resolved inputs
  bool once_a_sequence = false;  ///< a cost that is paid once a sequence: means nothing in endless text
  bool in_server = false;        ///< a cost that a server's passes have as well, whatever their batch
};

template <class Family>
struct Member {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< `Key, Eq. n` of docs/references.bib, "ours" or "control"
  Family value;             ///< the alternative, every parameter at its default
  std::vector<MemberParameter<Family>> parameters = {};
};

/// The errors of the templates below.
[[nodiscard]] DomainError unknown_member(std::string_view family, std::string_view name,
                                         const std::vector<std::string>& known);
[[nodiscard]] DomainError unknown_parameter(const std::string& key, double number, std::string_view name);
[[nodiscard]] DomainError missing_parameter(const std::string& key, std::string_view name);

namespace detail {

template <class Field>
Field from_value(const Value& value) {
  if constexpr (std::is_arithmetic_v<Field>) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<Field>(*whole);
    return static_cast<Field>(std::get<double>(value));
  } else {
    return std::get<Field>(value);
  }
}

template <class Field>
std::optional<Value> to_value(const Field& field, ValueType type) {
  if constexpr (std::is_arithmetic_v<Field>) {
    if (type == ValueType::integer) return static_cast<std::int64_t>(field);
    return static_cast<double>(field);
  } else {
    return Value(field);
  }
}
template <class Field>
std::optional<Value> to_value(const std::optional<Field>& field, ValueType type) {
  return field ? to_value(*field, type) : std::nullopt;
}

template <class Field>
struct UnwrapOptional {
  using type = Field;
};
template <class Field>
struct UnwrapOptional<std::optional<Field>> {
  using type = Field;
};

}  // namespace detail

/// A parameter that is stored in `field`. By default it must be given.
template <class Family, class Alternative, class Owner, class Field>
[[nodiscard]] MemberParameter<Family> parameter(std::string name, ValueType type, Field Owner::*field,
                                                std::string summary, Range range = {}) {
  using Stored = typename detail::UnwrapOptional<Field>::type;
  return {.name = std::move(name),
          .type = type,
          .range = range,
          .required = true,
          .summary = std::move(summary),
          .set =
              [field](Family& family, const Value& value) {
                if (auto* alternative = std::get_if<Alternative>(&family)) {
                  alternative->*field = detail::from_value<Stored>(value);
                }
              },
          .get = [field, type](const Family& family) -> std::optional<Value> {
            const auto* alternative = std::get_if<Alternative>(&family);
            if (alternative == nullptr) return std::nullopt;
            return detail::to_value(alternative->*field, type);
          }};
}

/// The same with the value that the alternative itself starts with.
template <class Family, class Alternative, class Owner, class Field>
[[nodiscard]] MemberParameter<Family> parameter_with_default(std::string name, ValueType type, Field Owner::*field,
                                                             std::string summary, Range range = {}) {
  auto result = parameter<Family, Alternative>(std::move(name), type, field, std::move(summary), range);
  result.default_value = detail::to_value(Alternative{}.*field, type);
  result.required = false;
  return result;
}

/// The entry of an alternative; throws std::logic_error for one that is not registered.
template <class Entry, class Family>
[[nodiscard]] const Entry& entry_of(const std::vector<Entry>& registry, const Family& value) {
  for (const Entry& entry : registry) {
    if (entry.value.index() == value.index()) return entry;
  }
  throw std::logic_error("an alternative without an entry in its registry");
}

template <class Entry>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Entry>& registry) {
  std::vector<std::string> names;
  for (const Entry& entry : registry) names.emplace_back(entry.name);
  return names;
}

/// Null for an unknown name.
template <class Entry>
[[nodiscard]] const Entry* find_entry(const std::vector<Entry>& registry, std::string_view name) {
  for (const Entry& entry : registry) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

/// Throws DomainError on a number outside the range of its parameter.
template <class Entry, class Family>
void check_ranges(const std::vector<Entry>& registry, const Family& value) {
  for (const auto& parameter : entry_of(registry, value).parameters) {
    const std::optional<Value> stored = parameter.get(value);
    if (stored) check_numbers(parameter.name, parameter.range, *stored);
  }
}

/// The alternative of this name; `parameters` by their keys without `prefix`, missing ones at their defaults. Throws
/// DomainError on an unknown name, an unknown or missing parameter and a number outside its range. `family` is for
/// messages: "rule".
template <class Entry>
[[nodiscard]] auto make_member(const std::vector<Entry>& registry, std::string_view family, std::string_view name,
                               const std::map<std::string, double>& parameters) {
  const Entry* entry = find_entry(registry, name);
  if (entry == nullptr) throw unknown_member(family, name, names_of(registry));
  auto value = entry->value;
  const std::string prefix = std::string(family) + ".";
  std::size_t known = 0;
  for (const auto& parameter : entry->parameters) {
    const auto given = parameters.find(parameter.name.substr(prefix.size()));
    if (given == parameters.end()) {
      if (parameter.required) throw missing_parameter(parameter.name, name);
      continue;
    }
    ++known;
    check_numbers(parameter.name, parameter.range, given->second);
    parameter.set(value, given->second);
  }
  if (known == parameters.size()) return value;
  for (const auto& [key, number] : parameters) {
    const auto named = [&key = key, &prefix](const auto& parameter) { return parameter.name == prefix + key; };
    if (std::none_of(entry->parameters.begin(), entry->parameters.end(), named)) {
      throw unknown_parameter(prefix + key, number, name);
    }
  }
  return value;
}

/// Throws std::logic_error unless every alternative has one entry.
template <class Entry>
void check_registry(const std::vector<Entry>& registry) {
  using Family = decltype(Entry::value);
  std::vector<int> entries(std::variant_size_v<Family>);
  for (const Entry& entry : registry) ++entries[entry.value.index()];
  for (const int count : entries) {
    if (count != 1) throw std::logic_error("a registry must have one entry for each alternative of its family");
  }
}

// ---- What can be named in a scenario, one registry a family, each sorted by name (costs: the default first).

[[nodiscard]] const std::vector<Member<AcceptanceProcess>>& processes();

struct DrafterMember : Member<Drafter> {
  Drafting charge;  ///< per iteration, in passes of c target steps
  bool process;     ///< drafts in process fidelity ...
  bool token;       ///< ... and in token fidelity ...
  bool text;        ///< ... where it drafts text of n-gram models alone
};
[[nodiscard]] const std::vector<DrafterMember>& drafters();

struct PolicyMember : Member<Policy> {
  bool (*fits)(const AcceptanceProcess& process);  ///< whether it works with this alternative
  std::string_view fitting;                        ///< the names of those, for messages
  std::vector<std::string_view> aliases = {};      ///< other names
};
[[nodiscard]] const std::vector<PolicyMember>& policies();

struct RuleMember : Member<Rule> {
  bool lossless;  ///< emitted tokens are distributed as drawn from the target alone; held to it by the contract tests
};
[[nodiscard]] const std::vector<RuleMember>& rules();

[[nodiscard]] const std::vector<Member<Cost>>& costs();

/// What users call it.
[[nodiscard]] std::string_view name_of(const AcceptanceProcess& process);

/// A BetaMixture or Markov of another mean acceptance, or of another correlation of the acceptances of two successive
/// drafts; other processes unchanged. Nothing says whether its parameters are legal.
[[nodiscard]] AcceptanceProcess with_moments(const AcceptanceProcess& process, std::optional<double> mean,
                                             std::optional<double> correlation);

/// The process of a scenario in process or system fidelity; null in token fidelity.
[[nodiscard]] AcceptanceProcess* acceptance_of(Scenario& scenario);
[[nodiscard]] const AcceptanceProcess* acceptance_of(const Scenario& scenario);
[[nodiscard]] std::string_view name_of(const Drafter& drafter);
[[nodiscard]] std::string_view name_of(const Policy& policy);
[[nodiscard]] std::string_view name_of(const Rule& rule);
[[nodiscard]] std::string_view name_of(const Cost& cost);

/// What an iteration of the drafter is charged.
[[nodiscard]] Drafting drafting(const Drafter& drafter);

/// The rule of this name with parameters by the names that follow "rule.", the others at their defaults. Throws
/// DomainError on an unknown rule, an unknown parameter or a value outside its range.
[[nodiscard]] Rule make_rule(std::string_view name, const std::map<std::string, double>& parameters);

/// Throws DomainError where parameters of a rule do not fit each other, or (of `vocabulary` tokens, 0: not known) the
/// vocabulary.
void check_rule(const Rule& rule, std::int64_t vocabulary = 0);

/// Throws DomainError where n-gram models do not verify by this rule at this temperature.
void check_text_rule(const Rule& rule, double temperature);

}  // namespace foredraft::scenario
