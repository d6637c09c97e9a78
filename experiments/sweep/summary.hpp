// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/table.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"

namespace foredraft::experiments {

/// Writes <id>.csv (the numbers of the figure) and <id>.figure.json (what they are) for every figure of a complete
/// sweep, from its points.csv. Throws RunError.
void write_figure_data(const Sweep& sweep, const std::string& folder);

/// True if the report and every drawing of the figures are in the folder.
[[nodiscard]] bool has_drawings(const std::vector<Figure>& figures, const std::string& folder);

/// Removes the report and the drawings of the figures: their data change.
void remove_drawings(const std::vector<Figure>& figures, const std::string& folder);

/// What a sweep says at a glance, from its points.csv in one pass.
struct SweepSummary {
  Table table;                     ///< best gamma for each alpha and c, or the points of largest speedup
  std::vector<std::string> notes;  ///< what a star in the table means
  Agreement agreement;
  /// Of a point, as they were run; min > max: nothing was simulated.
  std::int64_t min_iterations = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_iterations = 0;
};

[[nodiscard]] SweepSummary summarize(const Points& points, const std::string& points_csv);

/// "180 points: 5 alpha x 12 gamma x 3 c; 1000000 iterations each; seed 1; bonus convention; config 7f3a9c21".
/// `hash`: of the configuration.
[[nodiscard]] std::string headline(const Sweep& sweep, const std::string& hash, const SweepSummary& summary);

/// Writes summary.md and summary.tex.
void write_summary(const Sweep& sweep, const std::string& hash, const std::string& folder);

}  // namespace foredraft::experiments
