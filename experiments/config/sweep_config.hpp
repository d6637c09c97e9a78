// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/simulate.hpp"
#include "scenario/parameters.hpp"

/// A sweep or a single simulation, resolved: defaults filled in, every value checked.
namespace foredraft::experiments {

inline constexpr std::string_view sweep_schema = "foredraft.sweep/1";

/// More points than this are refused.
inline constexpr double max_points = 1e7;

struct Figure {
  std::string id;      ///< stem of its files
  std::string x;       ///< an axis, or a quantity
  std::string y;       ///< a quantity of scenario/metrics.hpp
  std::string series;  ///< an axis, one line each; may be empty
  std::string panel;   ///< an axis, one panel each; may be empty
  std::string width;   ///< single_column or double_column
  std::string along;   ///< the axis in whose order points are joined where x is a quantity; else empty
};

/// The axes that give each point of the figure its place: panel, series, and x or along; those that it has.
[[nodiscard]] std::vector<std::string> axes_of(const Figure& figure);

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
[[nodiscard]] nlohmann::ordered_json to_json(const scenario::Value& value);
[[nodiscard]] nlohmann::ordered_json figures_json(const SweepConfig& config);

/// SHA-256 of to_json in its canonical text, in hexadecimal digits.
[[nodiscard]] std::string config_hash(const SweepConfig& config);

}  // namespace foredraft::experiments
