// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/parameters.hpp"
#include "sim/process/process_simulation.hpp"

/// A sweep or a single simulation, resolved: defaults filled in, every value checked.
namespace foredraft::experiments {

inline constexpr std::string_view sweep_schema = "foredraft.sweep/1";

/// More points than this are refused.
inline constexpr double most_points = 1e7;

struct Axis {
  const Parameter* parameter;
  std::vector<Value> values;
  std::int64_t line;  ///< of its key in the source
};

struct FixedInput {
  const Parameter* parameter;
  Value value;
  std::int64_t line;  ///< 0: a default
};

/// What to simulate at every point.
struct SimulationPlan {
  std::uint64_t iterations;  ///< per point; 0 where sequences or requests are counted instead
  std::uint64_t sequences;   ///< per point; 0 where they are not counted
  std::uint64_t seed;
  sim::Path path;
  // A server alone.
  std::uint64_t requests = 0;  ///< measured per point, over all replicas
  std::uint64_t replicas = 0;
  std::uint64_t warmup_requests = 0;  ///< served first in each replica
};

struct Figure {
  std::string id;      ///< stem of its files
  std::string x;       ///< an axis, or a quantity
  std::string y;       ///< a quantity of results/metrics.hpp
  std::string series;  ///< an axis, one line each; may be empty
  std::string panel;   ///< an axis, one panel each; may be empty
  std::string width;   ///< single_column or double_column
  std::string along;   ///< the axis in whose order points are joined where x is a quantity; else empty
};

/// The axes that give each point of the figure its place: panel, series, and x or along; those that it has.
[[nodiscard]] std::vector<std::string> axes_of(const Figure& figure);

struct SweepConfig {
  std::vector<Axis> axes;                    ///< the last one varies fastest
  std::vector<FixedInput> fixed;             ///< used by some point, in the order of the parameter table
  std::optional<SimulationPlan> simulation;  ///< absent: closed form alone
  std::vector<Figure> figures;
  std::string source;  ///< the file that was read
};

/// Throws InputError with every problem, one a line. `source` names the file in messages.
[[nodiscard]] SweepConfig read_sweep_config(const Mapping& document, const std::string& source);

/// Reads a TOML file; InputError where it cannot be read.
[[nodiscard]] SweepConfig load_sweep_config(const std::string& path);

[[nodiscard]] std::uint64_t point_count(const SweepConfig& config);

/// Whether a parameter is an axis or fixed.
[[nodiscard]] bool has_input(const SweepConfig& config, std::string_view name);
/// The fixed value or null.
[[nodiscard]] const Value* fixed_value(const SweepConfig& config, std::string_view name);
[[nodiscard]] const Axis* find_axis(const SweepConfig& config, std::string_view name);
/// Every value a parameter takes: those of its axis, its fixed one, or none.
[[nodiscard]] std::vector<Value> values_of(const SweepConfig& config, std::string_view name);

/// What all points of the sweep use between them.
[[nodiscard]] Usage usage_of(const SweepConfig& config);

/// Whether drafts differ in length from one iteration to the next at some point: under a policy other than constant, by
/// a schedule, or copied drafts.
[[nodiscard]] bool gamma_varies(const SweepConfig& config);

/// Whether some point knows what decoding costs, so that there is a speedup.
[[nodiscard]] bool has_cost(const SweepConfig& config);

/// The resolved configuration in the shape of the file, without figures: what determines the points.
[[nodiscard]] nlohmann::ordered_json to_json(const SweepConfig& config);
[[nodiscard]] nlohmann::ordered_json figures_json(const SweepConfig& config);

/// SHA-256 of to_json in its canonical text, in hexadecimal digits.
[[nodiscard]] std::string config_hash(const SweepConfig& config);

}  // namespace foredraft::experiments
