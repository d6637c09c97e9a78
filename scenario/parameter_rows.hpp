// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/family.hpp"
#include "scenario/parameters.hpp"
#include "scenario/processes.hpp"

/// Functions that describe the parameters outside the families (family.hpp); each call makes a row of the table.
namespace foredraft::scenario {

// ---- Where a parameter is used.

using Used = std::function<bool(const Usage&)>;

inline bool in_server(const Usage& usage) { return usage.takes("fidelity", "system"); }

// ---- Where its value is stored.

/// The part of a scenario; null if absent.
template <class Part>
Part* part(Scenario& scenario) {
  auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  auto* token = std::get_if<TokenFidelity>(&scenario.fidelity);
  if constexpr (std::is_same_v<Part, Scenario>) return &scenario;
  if constexpr (std::is_same_v<Part, Drafter>) return &scenario.drafter;
  if constexpr (std::is_same_v<Part, Cost>) return &scenario.cost;
  if constexpr (std::is_same_v<Part, AcceptanceProcess>) return acceptance_of(scenario);
  if constexpr (std::is_same_v<Part, Iid>) return std::get_if<Iid>(acceptance_of(scenario));
  if constexpr (std::is_same_v<Part, Policy>) return process == nullptr ? nullptr : &process->policy;
  if constexpr (std::is_same_v<Part, SequenceLength>) {
    if (process == nullptr) return nullptr;
    return process->sequence_length ? &*process->sequence_length : &process->sequence_length.emplace();
  }
  if constexpr (std::is_same_v<Part, TokenFidelity>) return token;
  if constexpr (std::is_same_v<Part, Rule>) return token == nullptr ? nullptr : &token->rule;
  if constexpr (std::is_same_v<Part, SyntheticModels> || std::is_same_v<Part, NgramModels>) {
    return token == nullptr ? nullptr : std::get_if<Part>(&token->models);
  }
  if constexpr (std::is_same_v<Part, Server>) return std::get_if<Server>(&scenario.fidelity);
}

/// Calls `set` with a member (or nested member) of a part; ignores the value if the part is absent.
template <auto Field, auto Inner = nullptr>
void change(Scenario& to, const auto& set) {
  auto* found = part<detail::OwnerOf<Field>>(to);
  if (found == nullptr) return;
  if constexpr (Inner == nullptr) {
    set(found->*Field);
  } else {
    set(found->*Field.*Inner);
  }
}

template <auto Field, auto Inner = nullptr>
void store(Scenario& to, const Value& value) {
  change<Field, Inner>(to, [&](auto& field) { detail::store(field, value); });
}
template <auto Field, auto Inner = nullptr>
void store_us(Scenario& to, const Value& value) {
  change<Field, Inner>(to, [&](auto& field) { field = us_per_ms * std::get<double>(value); });
}

/// Word i of a choice stands for meaning i.
template <auto Field, auto... Meanings>
void choose(Scenario& to, std::size_t index) {
  change<Field>(to, [&](auto& field) { field = std::array{Meanings...}.at(index); });
}
template <auto Field, auto Inner, auto... Meanings>
void choose_in(Scenario& to, std::size_t index) {
  change<Field, Inner>(to, [&](auto& field) { field = std::array{Meanings...}.at(index); });
}

// ---- The rows.

/// What applies if a parameter is not given; by default it has no value.
struct Otherwise {
  bool required = false;  ///< must be given if used
  bool implied = false;   ///< the default is not listed in the resolved inputs
  std::optional<Value> value = {};
};

using Assign = void (*)(Scenario&, const Value&);

inline Parameter row(ValueType type, std::string_view name, const ValueRange& range, std::string_view summary,
                     const Used& used, Assign assign, const Otherwise& otherwise = {}) {
  return {.name = std::string(name),
          .type = type,
          .range = range,
          .default_value = otherwise.value,
          .summary = std::string(summary),
          .used = used,
          .assign = assign,
          .required = otherwise.required,
          .implied = otherwise.implied};
}

inline Parameter real(std::string_view name, const ValueRange& range, std::string_view summary, const Used& used,
                      Assign assign, const Otherwise& otherwise = {}) {
  return row(ValueType::real, name, range, summary, used, assign, otherwise);
}

inline Parameter integer(std::string_view name, double minimum, double maximum, std::string_view summary,
                         const Used& used, Assign assign, const Otherwise& otherwise = {}) {
  return row(ValueType::integer, name, {.minimum = minimum, .maximum = maximum}, summary, used, assign, otherwise);
}

/// The first word is the default.
inline Parameter choice(std::string_view name, const std::vector<std::string>& words, std::string_view summary,
                        const Used& used, void (*choose)(Scenario&, std::size_t), const Otherwise& otherwise = {}) {
  Parameter chosen = row(ValueType::choice, name, {}, summary, used, nullptr, otherwise);
  chosen.choices = words;
  if (!chosen.default_value) chosen.default_value = words.front();
  chosen.assign = [words, choose](Scenario& to, const Value& value) {
    const auto word = std::ranges::find(words, std::get<std::string>(value));
    choose(to, static_cast<std::size_t>(word - words.begin()));
  };
  return chosen;
}

inline void add(std::vector<Parameter>& table, const std::vector<Parameter>& rows) {
  table.insert(table.end(), rows.begin(), rows.end());
}

/// The parameters of servers.
[[nodiscard]] std::vector<Parameter> server_parameters();

}  // namespace foredraft::scenario
