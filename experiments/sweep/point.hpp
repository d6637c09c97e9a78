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

/// The points of a sweep, one at a time: index -> scenario. Nothing grows with their number.
class Points {
 public:
  explicit Points(const scenario::Space& space);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The axes and fixed inputs whose combinations the points are.
  [[nodiscard]] const scenario::Space& space() const { return space_; }

  /// Position on each axis; the last axis varies fastest. index < count().
  [[nodiscard]] std::vector<std::size_t> coordinates(std::uint64_t index) const;

  /// What it names (traces, profiles, texts) is not attached: Inputs::attach.
  [[nodiscard]] Scenario scenario(std::uint64_t index) const;

  /// The CSV cells of the inputs, each followed by a comma: one per axis, then one per fixed input. Empty for an
  /// input that this point does not use.
  void append_cells(std::uint64_t index, std::string& row) const;

  /// The CSV cells of the values of an axis.
  [[nodiscard]] const std::vector<std::string>& cells_of(std::size_t axis) const { return axis_cells_.at(axis); }

 private:
  /// Points that agree in every choice (fidelity, process, rule, ...), and so in what they use.
  struct Family {
    std::vector<bool> uses_axis;
    Scenario fixed;  ///< with the choices and the fixed inputs that they use
    std::string fixed_cells;
  };
  [[nodiscard]] const Family& family(const std::vector<std::size_t>& place) const;

  scenario::Space space_;
  std::uint64_t count_ = 1;
  std::vector<std::vector<std::string>> axis_cells_;  ///< rendered once
  std::vector<std::size_t> strides_;                  ///< of each axis among the families; 0 where it is no choice
  std::vector<Family> families_;
};

/// What follows from a configuration, derived once: its points, what is run at each, and the columns of their rows.
struct Sweep {
  Points points;
  std::optional<SimulationPlan> simulation;  ///< absent: closed form alone
  std::string convention;                    ///< of all points; empty where they differ
  bool replays;                              ///< every point replays a recording, once, however much the plan counts
  std::vector<scenario::Metric> metrics;     ///< that rows answer
  std::string header;                        ///< of points.csv, with its line end
  std::vector<Figure> figures;
  std::string source;  ///< the file of the configuration, for messages
};

[[nodiscard]] Sweep sweep_of(const SweepConfig& config);

/// Reads everything that the points name, and asks for the time of every point, so that an unknown one is rejected
/// before anything is simulated. Throws InputError.
void read_inputs(const Sweep& sweep, inputs::Inputs& inputs);

// ---- Running points (run_points.cpp).

/// Points [first, last) of a sweep.
struct PointRange {
  std::uint64_t first;
  std::uint64_t last;
};

struct RunHooks {
  /// Receives the rows of consecutive points, whole lines, in index order.
  std::function<void(std::string_view rows, std::uint64_t points)> write;
  /// Finished points plus the finished share of those in flight; called often, from any thread.
  std::function<void(double points)> progress;
  /// Receives what there is to say of a point: that its server was in no steady state; from any thread. Empty: no one.
  std::function<void(std::string warning)> warn = {};
  /// Ends the run within milliseconds; what was not written is lost, and run_points throws Interrupted.
  StopToken stop;
};

/// Computes the rows of `range`. The rows are a function of the sweep alone: threads and the cut into chunks
/// cannot change them. Memory does not grow with the number of points. Throws RunError that names the point where one
/// cannot be computed; the rows before it are written.
void run_points(const Sweep& sweep, const PointRange& range, unsigned threads, inputs::Inputs& inputs,
                const RunHooks& hooks);

/// Says on stderr what is left of `range` behind its first `finished` points, and how long it takes: of some points a
/// piece of the simulation and the closed form are timed and the rest is extrapolated, within half a second, less if
/// the whole run is short.
void say_plan(const Sweep& sweep, const PointRange& range, std::uint64_t finished, unsigned threads,
              inputs::Inputs& inputs, StopToken stop);

/// The points of a shard, consecutive and in sizes that differ by at most one, or of the whole sweep. Throws InputError
/// for a shard that there is not.
[[nodiscard]] PointRange range_of(std::uint64_t points, const std::optional<Shard>& shard);

}  // namespace foredraft::experiments
