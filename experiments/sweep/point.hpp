// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/config/sweep_config.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/sweep.hpp"
#include "inputs/inputs.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"

namespace foredraft::experiments {

/// The points of a sweep: maps an index to a scenario. Memory does not depend on the number of points.
class Points {
 public:
  explicit Points(const scenario::Space& space);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The axes and fixed inputs.
  [[nodiscard]] const scenario::Space& space() const { return space_; }

  /// Position on each axis of point `index` < count(); the last axis varies fastest.
  [[nodiscard]] std::vector<std::size_t> coordinates(std::uint64_t index) const;

  /// The scenario of a point. Files that it names (traces, profiles, texts) are not attached; see Inputs::attach.
  [[nodiscard]] Scenario scenario(std::uint64_t index) const;

  /// Appends the CSV cells of the inputs, each followed by a comma: one per axis, then one per fixed input. Cells of
  /// inputs that the point does not use are empty.
  void append_cells(std::uint64_t index, std::string& row) const;

  /// The CSV cells of the values of an axis.
  [[nodiscard]] const std::vector<std::string>& cells_of(std::size_t axis) const { return axis_cells_.at(axis); }

 private:
  /// Points with equal choices (fidelity, process, rule, ...), which therefore use the same inputs.
  struct Family {
    std::vector<bool> uses_axis;
    Scenario fixed;  ///< with the choices and the used fixed inputs
    std::string fixed_cells;
  };
  [[nodiscard]] const Family& family(const std::vector<std::size_t>& place) const;

  scenario::Space space_;
  std::uint64_t count_ = 1;
  std::vector<std::vector<std::string>> axis_cells_;  ///< rendered once
  std::vector<std::size_t> strides_;                  ///< [axis] in families_; 0 for axes that are not choices
  std::vector<Family> families_;
};

/// Data derived from a configuration: points, simulation plan and columns.
struct Sweep {
  Points points;
  std::optional<SimulationPlan> simulation;  ///< empty: closed form only
  std::string convention;                    ///< of all points; empty if they differ
  bool replays;                              ///< every point replays a recording once, regardless of the plan
  std::vector<scenario::Metric> metrics;     ///< metrics of the columns
  std::string header;                        ///< header of points.csv with line end
  std::vector<Figure> figures;
  std::string source;  ///< configuration file in messages
};

[[nodiscard]] Sweep sweep_of(const SweepConfig& config);

/// Reads all files that the points name and looks up the times of every point, so that unknown times are rejected
/// before the simulation. Throws InputError.
void read_inputs(const Sweep& sweep, inputs::Inputs& inputs);

// ---- Running points (run_points.cpp).

/// Points [first, last) of a sweep.
struct PointRange {
  std::uint64_t first;
  std::uint64_t last;
};

struct RunHooks {
  /// Receives complete rows of consecutive points, in index order.
  std::function<void(std::string_view rows, std::uint64_t points)> write;
  /// Receives the number of finished points including fractions of unfinished ones; called often, from any thread.
  std::function<void(double points)> progress;
  /// Receives warnings about points, such as a server without a steady state; called from any thread. May be empty.
  std::function<void(std::string warning)> warn = {};
  /// Ends the run within milliseconds: run_points throws Interrupted, and unwritten rows are lost.
  StopToken stop;
};

/// Computes the rows of `range`. They depend only on the sweep, not on threads or chunks. Memory does not grow with the
/// number of points. Throws RunError, which names the point, if a point cannot be computed; the rows before it are
/// written.
void run_points(const Sweep& sweep, const PointRange& range, unsigned threads, inputs::Inputs& inputs,
                const RunHooks& hooks);

/// Prints on stderr the number of remaining points of `range` (after `finished` ones) and the estimated time. The
/// estimate extrapolates from timed parts of some points, and takes at most half a second, less if the run is short.
void say_plan(const Sweep& sweep, const PointRange& range, std::uint64_t finished, unsigned threads,
              inputs::Inputs& inputs, StopToken stop);

/// The points of a shard or of the whole sweep. Throws InputError for an invalid shard.
[[nodiscard]] PointRange range_of(std::uint64_t points, const std::optional<Shard>& shard);

}  // namespace foredraft::experiments
