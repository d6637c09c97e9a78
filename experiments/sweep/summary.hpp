// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "experiments/sweep/agreement.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// What a sweep says at a glance, from its points.csv in one pass.
struct SweepSummary {
  Table table;                     ///< best gamma for each alpha and c, or the first points
  std::vector<std::string> notes;  ///< what a star in the table means
  Agreement agreement;
};

[[nodiscard]] SweepSummary summarize(const SweepConfig& config, const std::string& points_csv);

/// "180 points: 5 alpha x 12 gamma x 3 c; 1000000 iterations each; seed 1; bonus convention; config 7f3a9c21"
[[nodiscard]] std::string headline(const SweepConfig& config);

/// Writes summary.md and summary.tex; returns their names.
std::vector<std::string> write_summary(const SweepConfig& config, const std::string& folder);

}  // namespace foredraft::experiments
