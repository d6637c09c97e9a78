// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foredraft/scenario_fwd.hpp"
#include "scenario/parameters.hpp"

/// Turns names and values into scenarios. Problems have the line and key of the value.
namespace foredraft::scenario {

/// Rejects unused and missing parameters, fills in defaults in the order of the parameter table, and checks the
/// scenarios (check.hpp). If there are more than 100,000 scenarios, only those at the ends of the numeric axes are
/// checked; if these are still more, 10,000 random ones of them.
/// `rejected`: parameters (not choices) whose values are already reported; they are not reported as missing.
void resolve_and_check(Space& space, const std::vector<const Parameter*>& rejected, ProblemList& problems);

/// Builds, resolves and checks a scenario from named inputs. Does not read files. Adds all problems to the list; the
/// result is valid only if there are none.
[[nodiscard]] Scenario scenario_of(const std::vector<Input>& inputs, ProblemList& problems);

}  // namespace foredraft::scenario
