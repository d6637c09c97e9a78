// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

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

}  // namespace foredraft::scenario
