// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "experiments/cli/options.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::experiments {

/// The options by which a command names a drafter and a gamma policy with their parameters.
[[nodiscard]] std::vector<OptionSpec> drafting_options();

/// Reads them into `inputs`, whose gamma, cost and convention are set; refuses what does not go together. Whether alpha
/// is needed: with_alpha().
void read_drafting(CommandLine& line, Scenario& scenario);

/// Whether the drafter named on the command line takes alpha: not where a copy or given accuracies take its place.
[[nodiscard]] bool with_alpha(const CommandLine& line);

}  // namespace foredraft::experiments
