// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/parallel.hpp"
#include "experiments/config/sweep_config.hpp"
#include "foredraft/sweep.hpp"

namespace foredraft::experiments {

struct SweepOutcome {
  SweepResult result;
  bool figures_written;  ///< the data of the figures were written
  WriteLock lock;        ///< of the folder, kept for drawing
};

/// Runs a sweep, or the rest of it, into a folder: locks it, writes the manifest, then rows as they finish, then the
/// final manifest. `talk`: print plan and progress on stderr. Throws InputError before anything is written; Interrupted
/// and RunError, with completed rows saved.
SweepOutcome run_sweep(const SweepConfig& config, const std::string& folder, const SweepOptions& options,
                       bool talk = false);

struct MergedSweep {
  SweepResult result;
  std::vector<Figure> figures;
  WriteLock lock;  ///< of the folder, kept for drawing
};

/// Merges the folders of all shards into `folder`, in one pass and constant memory. Throws as run_sweep().
MergedSweep merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const std::vector<std::string>& command_line, StopToken stop);

}  // namespace foredraft::experiments
