// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problems.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/parameters.hpp"

/// The configuration of a sweep or of a single simulation, with defaults and checked values.
namespace foredraft::experiments {

inline constexpr std::string_view sweep_schema = "foredraft.sweep/1";

/// Maximum number of points of a sweep.
inline constexpr double max_points = 1e7;

struct Figure {
  std::string id;      ///< stem of the file names
  std::string x;       ///< an axis or a quantity
  std::string y;       ///< a quantity of scenario/metrics.hpp
  std::string series;  ///< an axis, one line each; may be empty
  std::string panel;   ///< an axis, one panel each; may be empty
  std::string width;   ///< single_column or double_column
  std::string along;   ///< if x is a quantity: the axis along which points are joined; else empty
  /// The axes of the figure: panel, series, and x or along, if present.
  std::vector<std::string> axes;
};

struct SweepConfig : scenario::Space {
  std::optional<SimulationPlan> simulation;  ///< what to simulate at every point; empty: closed form only
  std::vector<Figure> figures;
  std::string source;  ///< the configuration file
  std::string folder;  ///< folder where input files are searched first; empty: the working directory
};

/// Reads a parsed configuration. Throws InputError, which lists all problems, one per line. `source`: file in messages.
[[nodiscard]] SweepConfig read_sweep_config(const scenario::Mapping& document, const std::string& source);

/// Reads a TOML file. Throws InputError as read_sweep_config, and if the file cannot be read.
[[nodiscard]] SweepConfig load_sweep_config(const std::string& path);

[[nodiscard]] std::uint64_t point_count(const SweepConfig& config);

/// The resolved configuration in the structure of the file, without figures. It determines the points.
[[nodiscard]] nlohmann::ordered_json to_json(const SweepConfig& config);
[[nodiscard]] nlohmann::ordered_json figures_json(const SweepConfig& config);

/// SHA-256 of the canonical text of to_json, in hexadecimal digits.
[[nodiscard]] std::string config_hash(const SweepConfig& config);

// ---- Ranges of an axis.

/// from, from + step, ... or from, from * factor, ..., up to and including `to`.
struct AxisRange {
  double from, to;
  std::optional<double> step;    ///< not 0, towards `to`; default 1 or -1
  std::optional<double> factor;  ///< positive, not 1, towards `to`; requires positive `from` and `to`
};

/// Why a range is invalid, and what to do.
struct RangeProblem {
  std::string why, suggestion;
};
[[nodiscard]] std::optional<RangeProblem> reject_range(const AxisRange& range);

/// Number of values of a valid range; may exceed any integer. `to` is included if only round-off misses it.
[[nodiscard]] double range_count(const AxisRange& range);

/// The values of a valid range, rounded to 15 significant digits so that 0.1 + 2 * 0.1 is 0.3.
[[nodiscard]] std::vector<double> range_values(const AxisRange& range);

/// The maximum draft length of all points; 1 if there are none.
[[nodiscard]] double largest_gamma(const scenario::Space& space);

// ---- Checks of plan and figures (plan_check.cpp). scenario/resolve.hpp checks the scenarios.

/// Rejects a plan that counts units which these scenarios do not have, a plan that is too large, and a missing plan if
/// there is no closed form. `table`: [simulation] as written; null if missing.
void check_plan(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems);

/// Checks that x, series and panel are axes, that the sweep computes y, and that no other axis varies.
void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems);

}  // namespace foredraft::experiments
