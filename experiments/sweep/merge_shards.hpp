// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/parallel.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {

struct MergedSweep {
  SweepConfig config;
  bool already_complete;  ///< nothing was written
  WriteLock lock;         ///< of the folder: what follows, such as drawing, still has it alone
};

/// Puts the folders of all shards together into `folder`, in one pass whose memory does not grow with their points.
/// Throws InputError before anything is written, Interrupted and RunError with the rows so far safe.
MergedSweep merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const std::vector<std::string>& command_line, StopToken stop);

}  // namespace foredraft::experiments
