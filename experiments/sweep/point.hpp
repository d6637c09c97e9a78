// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/config/sweep_config.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/sweep.hpp"
#include "inputs/inputs.hpp"

namespace foredraft::experiments {

/// The points of a sweep, one at a time: index -> scenario. Nothing grows with their number.
class Points {
 public:
  explicit Points(const SweepConfig& config);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Position on each axis; the last axis varies fastest. index < count().
  [[nodiscard]] std::vector<std::size_t> coordinates(std::uint64_t index) const;

  /// What it names (traces, profiles, texts) is not attached: Inputs::attach.
  [[nodiscard]] Scenario scenario(std::uint64_t index) const;

  /// The CSV cells of the inputs, each followed by a comma: one per axis, then one per fixed input. Empty for an
  /// input that this point does not use.
  void append_cells(std::uint64_t index, std::string& row) const;

  /// The names that go with append_cells.
  [[nodiscard]] std::vector<std::string> columns() const;

 private:
  /// Points that agree in every choice (fidelity, process, rule, ...), and so in what they use.
  struct Family {
    std::vector<bool> uses_axis;
    Scenario fixed;  ///< with the choices and the fixed inputs that they use
    std::string fixed_cells;
  };
  [[nodiscard]] Family family_of(const scenario::Usage& usage) const;
  [[nodiscard]] const Family& family(const std::vector<std::size_t>& place) const;

  const SweepConfig* config_;
  std::uint64_t count_;
  std::vector<std::vector<std::string>> axis_cells_;  ///< rendered once
  std::vector<std::size_t> strides_;                  ///< of each axis among the families; 0 where it is no choice
  std::vector<Family> families_;
};

/// Reads everything that the points name, and asks for the time of every point, so that an unknown one is rejected
/// before anything is simulated. Throws InputError.
void read_inputs(const SweepConfig& config, inputs::Inputs& inputs);

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
  /// Ends the run within milliseconds; what was not written is lost, and run_points throws Interrupted.
  StopToken stop;
};

/// The header of points.csv, with its line end.
[[nodiscard]] std::string points_header(const SweepConfig& config);

/// Computes the rows of `range`. The rows are a function of the configuration alone: threads and the cut into chunks
/// cannot change them. Memory does not grow with the number of points. Throws RunError that names the point where one
/// cannot be computed; the rows before it are written.
void run_points(const SweepConfig& config, const PointRange& range, unsigned threads, inputs::Inputs& inputs,
                const RunHooks& hooks);

/// Seconds of one core for a point of `range`, the mean over some of them: of each a piece of its simulation and its
/// closed form are timed and the rest is extrapolated, within half a second, less if the whole run is short.
/// seconds_per_point() takes the place of what cannot be timed.
[[nodiscard]] double timed_seconds_per_point(const SweepConfig& config, const PointRange& range, inputs::Inputs& inputs,
                                             StopToken stop);

/// The points of a shard, or of the whole sweep.
[[nodiscard]] PointRange range_of(const SweepConfig& config, const std::optional<Shard>& shard);

/// Shard `shard` of `count` (1-based): consecutive points, sizes that differ by at most one.
[[nodiscard]] PointRange shard_range(std::uint64_t points, std::uint64_t shard, std::uint64_t count);

}  // namespace foredraft::experiments
