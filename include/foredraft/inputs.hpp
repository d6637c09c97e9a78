// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foredraft/scenario.hpp"

#pragma GCC visibility push(default)

/// Files that a scenario names.
namespace foredraft {

/// Puts into the scenario what it only names: the recording of a Trace, the process that an
/// Observed log tells, the models trained on the corpus of
/// NgramModels, the times of Roofline and Measured costs. Call it before predict() and simulate(); a scenario that
/// names nothing stays as it is. Throws InputError for a file that cannot be read and for what is no trace or profile,
/// DomainError for models that a profile does not know.
void read_inputs(Scenario& scenario);

}  // namespace foredraft

#pragma GCC visibility pop
