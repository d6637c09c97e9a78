// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

/// Sweeps: closed form and simulation for every combination of a configuration's axes.
namespace foredraft {

/// Part `index` of `count` parts of a sweep. Each part has consecutive points; sizes differ by at most one.
struct Shard {
  std::uint64_t index;  ///< 1 to count
  std::uint64_t count;  ///< 1 to the number of points
  bool operator==(const Shard&) const = default;
};

struct SweepProgress {
  double finished;      ///< points, including those of earlier runs and fractions of unfinished ones
  std::uint64_t total;  ///< points of this folder
};

struct SweepOptions {
  unsigned threads = 0;             ///< 0: one per hardware thread; results do not depend on it
  std::optional<Shard> shard = {};  ///< empty: all points
  /// Called often and from any thread; must be fast.
  std::function<void(const SweepProgress&)> progress = {};
  /// Set it to stop the sweep soon, for instance in a signal handler. Null: the sweep cannot be stopped.
  const std::atomic<bool>* stop = nullptr;
  std::vector<std::string> command_line = {};  ///< recorded in manifest.json for readers
};

struct SweepResult {
  std::uint64_t points;   ///< of this folder
  std::uint64_t resumed;  ///< points completed by earlier runs
  bool already_complete;  ///< no point was computed
};

/// Runs the TOML configuration (examples: experiments/configs/) into a folder, or resumes an interrupted run of the
/// same configuration there. Writes points.csv (docs/metrics.md), manifest.json, the summary and the data of figures;
/// `foredraft plot` draws them. The same configuration gives the same bytes of points.csv for any number of threads and
/// after any interruption. Throws InputError before anything is written: for a file that cannot be read, a
/// configuration with errors (lists all), a folder of another run, a shard that does not exist. Throws Interrupted and
/// RunError; rows written so far are saved.
SweepResult run_sweep(const std::string& config_file, const std::string& folder, const SweepOptions& options = {});

/// Merges the results folders of all shards of one sweep, in any order, into `folder`, with the same bytes as a run
/// without shards. Completes an interrupted merge. Uses `stop` and `command_line` of `options`. Throws InputError,
/// which lists all problems, before anything is written: a shard that is missing, given twice or incomplete, folders of
/// different sweeps or versions, a folder of another run. Throws Interrupted and RunError.
SweepResult merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const SweepOptions& options = {});

}  // namespace foredraft

#pragma GCC visibility pop
