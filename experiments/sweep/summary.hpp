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

/// Writes <id>.csv (numbers) and <id>.figure.json (description) for every figure of a complete sweep, from its
/// points.csv. Throws RunError.
void write_figure_data(const Sweep& sweep, const std::string& folder);

/// True if the folder has the report and all drawings of the figures.
[[nodiscard]] bool has_drawings(const std::vector<Figure>& figures, const std::string& folder);

/// Removes the report and the drawings of the figures, because their data change.
void remove_drawings(const std::vector<Figure>& figures, const std::string& folder);

/// Summary of a sweep, from its points.csv in one pass.
struct SweepSummary {
  Table table;                     ///< best gamma for each alpha and c, or the points with the largest speedup
  std::vector<std::string> notes;  ///< meaning of stars in the table
  Agreement agreement;
  /// Range of the simulated iterations per point; min > max: nothing was simulated.
  std::int64_t min_iterations = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_iterations = 0;
};

[[nodiscard]] SweepSummary summarize(const Points& points, const std::string& points_csv);

/// "180 points: 5 alpha x 12 gamma x 3 c; 1000000 iterations each; seed 1; bonus convention; config 7f3a9c21".
/// `hash`: configuration hash.
[[nodiscard]] std::string headline(const Sweep& sweep, const std::string& hash, const SweepSummary& summary);

/// Writes summary.md and summary.tex.
void write_summary(const Sweep& sweep, const std::string& hash, const std::string& folder);

}  // namespace foredraft::experiments
