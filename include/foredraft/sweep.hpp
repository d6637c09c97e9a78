// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

/// Every combination of the axes of a configuration: closed form beside simulation.
namespace foredraft {

/// The index-th of `count` parts of a sweep: consecutive points, sizes that differ by at most one.
struct Shard {
  std::uint64_t index;  ///< 1 to count
  std::uint64_t count;  ///< 1 to the number of points
  bool operator==(const Shard&) const = default;
};

struct SweepProgress {
  double finished;      ///< points, those of earlier runs and fractions of those in flight included
  std::uint64_t total;  ///< points of this folder
};

struct SweepOptions {
  unsigned threads = 0;             ///< 0: one per hardware thread; results do not depend on it
  std::optional<Shard> shard = {};  ///< nothing: all points
  /// Called often and from any thread; must be cheap.
  std::function<void(const SweepProgress&)> progress = {};
  /// Set from outside, by a signal handler for instance, to stop soon. Null: nobody does.
  const std::atomic<bool>* stop = nullptr;
  std::vector<std::string> command_line = {};  ///< for manifest.json, where people read how the folder came to be
};

struct SweepResult {
  std::uint64_t points;   ///< of this folder
  std::uint64_t resumed;  ///< of those, were there before
  bool already_complete;  ///< no point was computed
};

/// Runs the TOML configuration (docs: experiments/configs/) into a folder, or the rest of it where a run of the same
/// configuration was interrupted there: points.csv (docs/metrics.md), manifest.json, summary and the data of figures,
/// which it does not draw: `foredraft plot` does. The same configuration gives the same bytes of points.csv on any
/// number of threads and after any interruption. Throws InputError before anything is written: a file that cannot be
/// read, a configuration with errors (all at once), a folder of another run, a shard that there is not; Interrupted and
/// RunError with the rows so far safe.
SweepResult run_sweep(const std::string& config_file, const std::string& folder, const SweepOptions& options = {});

/// Puts the results folders of all shards of one sweep, in any order, together into `folder`: the bytes of the run
/// without shards. What an earlier call left unfinished there is finished. `options`: `stop` and `command_line` are
/// used. Throws InputError before anything is written, with every problem: a shard that is missing, given twice or not
/// complete, folders of different sweeps or versions, a folder of another run; Interrupted and RunError.
SweepResult merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const SweepOptions& options = {});

}  // namespace foredraft

#pragma GCC visibility pop
