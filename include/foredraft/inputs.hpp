// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foredraft/scenario_fwd.hpp"

#pragma GCC visibility push(default)

/// Reads the files that a scenario names.
namespace foredraft {

/// Reads the files that the scenario names: the recording of a Trace, the counts of an Observed log, the corpus of
/// NgramModels (and trains them), the times of Roofline and Measured costs. Call it before predict() and simulate(). A
/// scenario that names no file is unchanged. Throws InputError for a file that cannot be read or is not a trace, log or
/// profile, and DomainError for models that are not in a profile.
void read_inputs(Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
