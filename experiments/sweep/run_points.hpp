// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/inputs/inputs.hpp"

namespace foredraft::experiments {

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
void run_points(const SweepConfig& config, const PointRange& range, unsigned threads, Inputs& inputs,
                const RunHooks& hooks);

/// Shard `shard` of `count` (1-based): consecutive points, sizes that differ by at most one.
[[nodiscard]] PointRange shard_range(std::uint64_t points, std::uint64_t shard, std::uint64_t count);

}  // namespace foredraft::experiments
