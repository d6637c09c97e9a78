// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/parameters.hpp"

/// Scenarios that differ in the values of some parameters: what a sweep goes through. One scenario is a space without
/// axes.
namespace foredraft::scenario {

struct Axis {
  const Parameter* parameter;
  std::vector<Value> values;
  std::int64_t line;  ///< of its key in the source
};

struct FixedInput {
  const Parameter* parameter;
  Value value;
  std::int64_t line;  ///< 0: a default
};

/// What users call an input: a key of [axes] or [fixed], an option, or the bare name of a parameter.
enum class Wording { file, option, name };

struct Space {
  std::vector<Axis> axes;         ///< the last one varies fastest
  std::vector<FixedInput> fixed;  ///< used by some scenario, in the order of the parameter table
  Wording wording = Wording::file;
};

/// The option that states a parameter: "edit-rate" for drafter.edit_rate.
[[nodiscard]] std::string option_of(std::string_view parameter);

/// What users call an input: the parameter in a file, its option on the command line.
[[nodiscard]] std::string name_for_user(const Space& space, std::string_view parameter);
/// How users state a word: `drafter = "block"`, or --drafter block.
[[nodiscard]] std::string statement(const Space& space, std::string_view parameter, std::string_view word);

/// Whether a parameter is an axis or fixed.
[[nodiscard]] bool has_input(const Space& space, std::string_view name);
/// The fixed value or null.
[[nodiscard]] const Value* fixed_value(const Space& space, std::string_view name);
[[nodiscard]] const Axis* find_axis(const Space& space, std::string_view name);
/// Every value a parameter takes: those of its axis, its fixed one, or none.
[[nodiscard]] std::vector<Value> values_of(const Space& space, std::string_view name);

/// What all scenarios use between them.
[[nodiscard]] Usage usage_of(const Space& space);

/// Whether a server is asked about.
[[nodiscard]] bool has_server(const Space& space);

/// Whether drafts differ in length from one iteration to the next somewhere: under a policy other than constant, by a
/// schedule, or copied drafts.
[[nodiscard]] bool gamma_varies(const Space& space);

/// The scenario of one combination of words (`usage`) and these inputs, of which it uses some.
[[nodiscard]] Scenario build(const Usage& usage, const std::vector<FixedInput>& inputs);

/// Whether some scenario knows what decoding costs, so that there is a speedup.
[[nodiscard]] bool has_cost(const Space& space);

}  // namespace foredraft::scenario
