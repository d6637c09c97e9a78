// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foredraft/scenario_fwd.hpp"
#include "scenario/parameters.hpp"

/// From names and values to scenarios, with every problem at the line and key where it was given.
namespace foredraft::scenario {

/// Rejects what no scenario uses and what is missing, fills in defaults in the order of the parameter table, and checks
/// the scenarios (check.hpp): all, or of more than 100,000 those at the ends of the axes. `rejected`:
/// parameters, no choices, whose values were rejected; they are not reported as missing.
void resolve_and_check(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems);

/// The scenario of inputs by name, resolved and checked. Files that it names are not read. All problems go to the list;
/// the result is valid only without any.
[[nodiscard]] Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems);

}  // namespace foredraft::scenario
