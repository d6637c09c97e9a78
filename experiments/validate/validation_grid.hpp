// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu_bench/loop/loop_cell.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// Which decoding loops a prediction is held against: none of whose passes the calibration measured.
namespace foredraft::experiments {

/// What is asked for; where nothing is, the grid chooses.
struct GridRequest {
  std::vector<gpu_bench::PlannedPair> pairs;
  std::optional<std::vector<std::int64_t>> gammas = {};
  std::optional<std::vector<double>> alphas = {};
  std::optional<std::vector<std::int64_t>> batches = {};
  std::optional<std::vector<std::int64_t>> contexts = {};
};

/// The pairs that are measured unless others are asked for, of which the profile has times.
[[nodiscard]] std::vector<gpu_bench::PlannedPair> pairs_in(const latency::Profile& profile);

/// Whether the profile has measured a pass of this loop: the plain step, the verification, or the drafting, at its
/// batch and context.
[[nodiscard]] bool is_calibrated(const latency::Profile& profile, const gpu_bench::LoopCell& cell);

/// Nothing asked for: at least 24 cells, at least 8 a pair, over gamma 2 to 7, alpha 0.5 to 0.9, and batches and
/// contexts between those that were measured. Otherwise all combinations of what is asked for; what is not has one
/// value: gamma 3, alpha 0.7, the first batch and context between. Throws InputError for cells that are calibrated, and
/// where the profile has neither two batches nor two contexts to choose between.
[[nodiscard]] std::vector<gpu_bench::LoopCell> validation_cells(const latency::Profile& profile,
                                                                const GridRequest& request);

}  // namespace foredraft::experiments
