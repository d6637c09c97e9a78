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

/// A sweep or a single simulation, resolved: defaults filled in, every value checked.
namespace foredraft::experiments {

inline constexpr std::string_view sweep_schema = "foredraft.sweep/1";

/// Maximum number of points of a sweep.
inline constexpr double max_points = 1e7;

struct Figure {
  std::string id;      ///< stem of its files
  std::string x;       ///< an axis, or a quantity
  std::string y;       ///< a quantity of scenario/metrics.hpp
  std::string series;  ///< an axis, one line each; may be empty
  std::string panel;   ///< an axis, one panel each; may be empty
  std::string width;   ///< single_column or double_column
  std::string along;   ///< the axis in whose order points are joined where x is a quantity; else empty
  /// The axes that give each point of the figure its place: panel, series, and x or along; those that it has.
  std::vector<std::string> axes;
};

struct SweepConfig : scenario::Space {
  std::optional<SimulationPlan> simulation;  ///< what to simulate at every point; absent: closed form alone
  std::vector<Figure> figures;
  std::string source;  ///< the file that was read
  std::string folder;  ///< where the files that it names are looked for first; empty: the working directory
};

/// Throws InputError with every problem, one a line. `source` names the file in messages.
[[nodiscard]] SweepConfig read_sweep_config(const scenario::Mapping& document, const std::string& source);

/// Reads a TOML file; InputError where it cannot be read.
[[nodiscard]] SweepConfig load_sweep_config(const std::string& path);

[[nodiscard]] std::uint64_t point_count(const SweepConfig& config);

/// The resolved configuration in the shape of the file, without figures: what determines the points.
[[nodiscard]] nlohmann::ordered_json to_json(const SweepConfig& config);
[[nodiscard]] nlohmann::ordered_json figures_json(const SweepConfig& config);

/// SHA-256 of to_json in its canonical text, in hexadecimal digits.
[[nodiscard]] std::string config_hash(const SweepConfig& config);

// ---- Ranges of an axis.

/// from, from + step, ... or from, from * factor, ..., up to and including `to`.
struct AxisRange {
  double from, to;
  std::optional<double> step;    ///< not 0, towards `to`; 1 (or -1) where neither is given
  std::optional<double> factor;  ///< positive, not 1, towards `to`; then `from` and `to` are positive
};

/// Why a range is illegal, with what to do about it.
struct RangeProblem {
  std::string why, suggestion;
};
[[nodiscard]] std::optional<RangeProblem> reject_range(const AxisRange& range);

/// How many values a legal range has; may exceed any integer. A `to` that is missed by round-off counts.
[[nodiscard]] double range_count(const AxisRange& range);

/// The values of a legal range, rounded to 15 significant digits so that 0.1 + 2 * 0.1 is 0.3.
[[nodiscard]] std::vector<double> range_values(const AxisRange& range);

/// The longest draft of any point, 1 without any.
[[nodiscard]] double largest_gamma(const scenario::Space& space);

// ---- Checks beyond the scenarios of a configuration, which scenario/resolve.hpp checks (plan_check.cpp).

/// Rejects a plan that does not count what these scenarios run or counts more than can be run, and its absence where
/// nothing else answers. `table`: [simulation] as it was written, null without.
void check_plan(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems);

/// x, series and panel are axes, y a quantity that the sweep computes, and no other axis varies.
void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems);

}  // namespace foredraft::experiments
