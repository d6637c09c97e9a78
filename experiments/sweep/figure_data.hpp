// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"

namespace foredraft::experiments {

/// Writes <id>.csv (the numbers of the figure) and <id>.figure.json (what they are) for every figure of a complete
/// sweep, from its points.csv. Returns the names of the files. Throws RunError.
std::vector<std::string> write_figure_data(const SweepConfig& config, const std::string& folder);

/// Whether the report and every drawing of the figures of a sweep are in its folder.
[[nodiscard]] bool has_drawings(const SweepConfig& config, const std::string& folder);

/// Removes the report and the drawings of the figures of a sweep: their data change.
void remove_drawings(const SweepConfig& config, const std::string& folder);

}  // namespace foredraft::experiments
