// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "experiments/cli/options.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::experiments {

/// The options by which a command takes the cost of an iteration: c, or measured times.
[[nodiscard]] std::vector<OptionSpec> cost_options();

/// Reads them into the cost of `inputs`; refuses c beside measured times and times that are not complete. Whether some
/// cost is given: decoding_cost().
void read_cost(CommandLine& line, Scenario& scenario);

}  // namespace foredraft::experiments
