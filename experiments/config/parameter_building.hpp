// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/parameters.hpp"

/// The words in which config/*_parameters.cpp describe the parameters of a sweep. Internal to config.
namespace foredraft::experiments::building {

using Used = std::function<bool(const Usage&)>;
using Assign = std::function<void(PointInputs&, const Value&)>;

inline constexpr double unbounded = std::numeric_limits<double>::max();

[[nodiscard]] inline bool always(const Usage& /*usage*/) { return true; }
[[nodiscard]] inline bool token(const Usage& usage) { return usage.takes("fidelity", "token"); }
[[nodiscard]] inline bool process(const Usage& usage) { return usage.takes("fidelity", "process"); }
[[nodiscard]] inline bool serving(const Usage& usage) { return usage.takes("fidelity", "system"); }
/// One text or sequence after another: costs are those of an iteration, not of a batch.
[[nodiscard]] inline bool not_serving(const Usage& usage) { return process(usage) || token(usage); }

/// Numbers of [minimum, maximum], not required.
[[nodiscard]] Parameter real(std::string name, double minimum, double maximum, std::string summary, Used used,
                             Assign assign);
[[nodiscard]] Parameter integer(std::string name, double minimum, double maximum, std::string summary, Used used,
                                Assign assign);
/// One of `words`, the first by default.
[[nodiscard]] Parameter choice(std::string name, std::vector<std::string> words, std::string summary, Used used,
                               Assign assign);
/// A text or a list of probabilities.
[[nodiscard]] Parameter typed(std::string name, ValueType type, std::string summary, Used used, Assign assign);

[[nodiscard]] Parameter with_default(Parameter parameter, Value value);
/// Required wherever it is used.
[[nodiscard]] Parameter mandatory(Parameter parameter);
[[nodiscard]] Parameter implied(Parameter parameter);
[[nodiscard]] Parameter above_minimum(Parameter parameter);

/// Stores a value into a member of PointInputs.
template <typename Stored, typename Member>
[[nodiscard]] Assign store(Member PointInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.*member = std::get<Stored>(value); };
}
template <typename Stored, typename Member>
[[nodiscard]] Assign store(Member ModelInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.models.*member = std::get<Stored>(value); };
}
template <typename Stored, typename Member>
[[nodiscard]] Assign store(Member ServingInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.serving.*member = std::get<Stored>(value); };
}
template <typename Stored, typename Member>
[[nodiscard]] Assign store(Member PolicyInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.policy.*member = std::get<Stored>(value); };
}
/// Stores the position of a word among `words` as an enumeration.
template <typename Enum, typename Store>
[[nodiscard]] Assign store_word(std::vector<std::string> words, Store store_enum) {
  return [words = std::move(words), store_enum](PointInputs& inputs, const Value& value) {
    const auto found = std::find(words.begin(), words.end(), std::get<std::string>(value));
    store_enum(inputs, static_cast<Enum>(found - words.begin()));
  };
}

/// Appends a parameter, or, where members of a registry share one by its name, widens the use of the one that is there.
void add_shared(std::vector<Parameter>& table, Parameter parameter);

/// The topics of the table, one function each.
void add_common_parameters(std::vector<Parameter>& table);
void add_cost_parameters(std::vector<Parameter>& table);
void add_process_parameters(std::vector<Parameter>& table);
void add_drafter_parameters(std::vector<Parameter>& table);
void add_policy_parameters(std::vector<Parameter>& table);
void add_rule_parameters(std::vector<Parameter>& table);
void add_model_parameters(std::vector<Parameter>& table);
void add_serving_parameters(std::vector<Parameter>& table);

}  // namespace foredraft::experiments::building
