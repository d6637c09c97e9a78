// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foredraft/scenario_fwd.hpp"

#pragma GCC visibility push(default)

/// Reads the files that a scenario names.
namespace foredraft {

/// Reads into the scenario what it names: the recording of a Trace, the process of an Observed log, the models trained
/// on the corpus of NgramModels, the times of Roofline and Measured costs. Call it before predict() and simulate(); a
/// scenario that names no file stays as it is. Throws InputError for a file that cannot be read or is no trace, log or
/// profile, and DomainError for models that a profile does not have.
void read_inputs(Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
