#pragma once

#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"

namespace foredraft::experiments {

/// Writes <id>.csv (the numbers of the figure) and <id>.figure.json (what they are) for every figure of a complete
/// sweep, from its points.csv. Returns the names of the files. Throws RunError.
std::vector<std::string> write_figure_data(const SweepConfig& config, const std::string& folder);

}  // namespace foredraft::experiments
