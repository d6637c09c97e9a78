// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/parallel.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"

namespace foredraft::experiments {

struct SweepOrder {
  std::string folder;
  std::optional<Shard> shard;
  unsigned threads;
  std::vector<std::string> command_line;  ///< for the manifest
  bool talk;                              ///< plan and progress on stderr
  StopToken stop = {};
  std::function<void(const SweepProgress&)> progress = {};  ///< beside what is said
};

struct SweepOutcome {
  std::uint64_t points;   ///< of this folder
  std::uint64_t resumed;  ///< of those, were there before
  bool already_complete;  ///< no point was computed
  bool figures_written;   ///< the data of the figures were, for the first time or anew
  WriteLock lock;         ///< of the folder, for what follows, such as drawing
};

/// Runs a sweep, or the rest of it, into a folder: lock, manifest, then rows as they are finished, manifest again.
/// Throws InputError before anything is written, Interrupted and RunError with the rows so far safe.
SweepOutcome run_sweep(const SweepConfig& config, const SweepOrder& order);

struct MergedSweep {
  SweepConfig config;
  bool already_complete;  ///< nothing was written
  WriteLock lock;         ///< of the folder, for what follows, such as drawing
};

/// Puts the folders of all shards together into `folder`, in one pass and constant memory. Throws as run_sweep().
MergedSweep merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const std::vector<std::string>& command_line, StopToken stop);

}  // namespace foredraft::experiments
