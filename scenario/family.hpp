// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/type_kinds.hpp"
#include "scenario/value.hpp"

/// Each family of a scenario (drafters, rules, policies, ...) is a variant with a registry. An entry of the registry
/// holds the name, the parameters and the defaults of one alternative. The registries are in processes.hpp,
/// drafters.hpp, policies.hpp, rules.hpp and costs.hpp, each sorted by name (costs: the default first).
namespace foredraft::scenario {

/// Whether a parameter is required, and what applies if it is omitted.
enum class Given {
  always,      ///< required
  optional,    ///< no value if omitted
  by_default,  ///< default if omitted
  implied,     ///< default if omitted; not listed in the resolved inputs, for compatibility
};

/// Which scenarios use a parameter of a cost.
enum class Paid {
  each_iteration,   ///< process and token fidelity
  once_a_sequence,  ///< process fidelity with sequence_length
  also_by_servers,  ///< every fidelity
};

/// A parameter of one alternative.
template <class Family>
struct MemberParameter {
  std::string_view name;  ///< key in a configuration: "policy.start"
  std::string_view summary;
  ValueType type;
  ValueRange range;
  Given given;
  /// Stores a value into the alternative; no effect on other alternatives.
  void (*set)(Family&, const Value&);
  /// The stored value; nullopt if there is none, and for other alternatives.
  std::optional<Value> (*get)(const Family&);
  Family (*fresh)();  ///< the alternative with default parameters
  Paid paid = Paid::each_iteration;

  [[nodiscard]] std::optional<Value> default_value() const {
    return given == Given::by_default || given == Given::implied ? get(fresh()) : std::nullopt;
  }
};

template <class Family>
struct Member {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< `Key, Eq. n` of docs/references.bib, "ours" or "control"
  Family value;             ///< the alternative with default parameters
  std::span<const MemberParameter<Family>> parameters = {};
};

/// True for a family whose integer parameters are written as real numbers.
template <class Family>
inline constexpr bool integers_as_numbers = false;

namespace detail {

/// Class and field type of a pointer to member.
template <class Pointer>
struct Pointed;
template <class Class, class Field>
struct Pointed<Field Class::*> {
  using Owner = Class;
  using Stored = without_optional<Field>;
};
template <auto Field>
using OwnerOf = typename Pointed<decltype(Field)>::Owner;

template <class Field>
void store(Field& field, const Value& value) {
  using Stored = without_optional<Field>;
  if constexpr (std::is_arithmetic_v<Stored>) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    field = whole != nullptr ? static_cast<Stored>(*whole) : static_cast<Stored>(std::get<double>(value));
  } else {
    field = std::get<Stored>(value);
  }
}

template <class Family, auto Field, class Alternative>
void set(Family& family, const Value& value) {
  if (auto* alternative = std::get_if<Alternative>(&family)) store(alternative->*Field, value);
}

template <class Family, auto Field, class Alternative, ValueType type>
std::optional<Value> get(const Family& family) {
  using Stored = typename Pointed<decltype(Field)>::Stored;
  const auto* alternative = std::get_if<Alternative>(&family);
  if (alternative == nullptr) return std::nullopt;
  const std::optional<Stored> field = alternative->*Field;
  if (!field) return std::nullopt;
  if constexpr (type == ValueType::integer) {
    return static_cast<std::int64_t>(*field);
  } else if constexpr (type == ValueType::real) {
    return static_cast<double>(*field);
  } else {
    return *field;
  }
}

template <class Family, class Alternative>
Family fresh() {
  return Alternative{};
}

template <class Family, class Stored>
constexpr ValueType type_of() {
  if constexpr (std::is_same_v<Stored, std::string>) return ValueType::text;
  if constexpr (std::is_same_v<Stored, std::vector<double>>) return ValueType::reals;
  if constexpr (std::is_same_v<Stored, std::int64_t> && !integers_as_numbers<Family>) return ValueType::integer;
  return ValueType::real;
}

}  // namespace detail

/// Describes a parameter that is stored in `Field`.
template <class Family, auto Field, class Alternative = detail::OwnerOf<Field>>
[[nodiscard]] constexpr MemberParameter<Family> parameter(std::string_view name, std::string_view summary,
                                                          const ValueRange& range = {}, Given given = Given::always) {
  constexpr ValueType type = detail::type_of<Family, typename detail::Pointed<decltype(Field)>::Stored>();
  return {.name = name,
          .summary = summary,
          .type = type,
          .range = range,
          .given = given,
          .set = detail::set<Family, Field, Alternative>,
          .get = detail::get<Family, Field, Alternative, type>,
          .fresh = detail::fresh<Family, Alternative>};
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

}  // namespace foredraft::scenario
