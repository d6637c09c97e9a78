// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "foredraft/scenario_fwd.hpp"
#include "scenario/parameters.hpp"

/// What fits with what: every rule that one value cannot tell stands here, once.
namespace foredraft::scenario {

/// Rejects what no scenario uses and what is missing, fills in defaults, sorts the fixed inputs as the parameter table
/// is, and checks the values against each other (gamma against vectors and convention, drafters against processes).
/// `rejected`: parameters, no choices, that were given wrong values; they are not missing too.
void resolve_and_check(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems);

/// The scenario of inputs by name, resolved and checked. Files that it names are not read. Problems, all of them, go to
/// the list; the result means nothing then.
[[nodiscard]] Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems);

/// Adds a problem with the values of one parameter, with the line and key where they stand.
void report_input(const Space& space, std::string_view name, Problem problem, ProblemList& problems);

/// What checks of a space look at, and where they tell what is wrong.
struct SpaceCheck {
  const Space& space;
  const Usage& usage;
  ProblemList& problems;

  void reject(std::string_view name, std::string text, std::string why = "", std::string suggestion = "") const;

  /// Every value that a parameter of this type takes.
  template <class T>
  [[nodiscard]] std::vector<T> values(std::string_view name) const {
    std::vector<T> all;
    for (const Value& value : values_of(space, name)) all.push_back(std::get<T>(value));
    return all;
  }
};

/// Rejects drafters and policies that do not go with a fidelity, a process, a gamma or each other.
void check_drafting(const SpaceCheck& check);

/// Rejects lengths and schedules that a server cannot have, and another fidelity beside it.
void check_serving(const SpaceCheck& check);

}  // namespace foredraft::scenario
