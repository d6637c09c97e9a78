// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/validate/run_validation.hpp"
#include "gpu_bench/loop/loop_cell.hpp"
#include "latency/profile/profile.hpp"

/// Where the decoding loops of `foredraft validate` run: on this processor, or on a GPU by foredraft-gpu.
namespace foredraft::experiments {

struct LoopsRequest {
  std::string profile;  ///< its name, for messages
  std::string folder;   ///< of the validation; foredraft-gpu's cells.csv and rows.csv go there too
  double minutes;       ///< for all loops
  unsigned threads;     ///< of the processor; 0: one per hardware thread
};

using RunLoops = std::function<Measurement(const std::vector<gpu_bench::LoopCell>& cells, const KeepCells& keep)>;

/// Runs loops on the device of the profile. Throws InputError where that is none of this machine: times of one device
/// say nothing of another. What it returns throws RunError where foredraft-gpu fails.
[[nodiscard]] RunLoops loops_of(const latency::Profile& profile, const LoopsRequest& request);

}  // namespace foredraft::experiments
