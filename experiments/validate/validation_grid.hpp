// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/validate/validation.hpp"
#include "gpu_bench/loop/loop_cell.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// Speedups that a user measured in an engine: CSV with the columns target, draft, gamma, batch, context, speedup, how
/// often drafts were accepted as alpha, acceptance_length, or conditional or marginal (entries apart by blanks), one of
/// them a row, and, where drafts are not made one by one, drafter (autoregressive, block, heads), in any order. Heads
/// stand on the target: their draft is empty or the target. Lines that begin with # are skipped.
namespace foredraft::experiments {

/// Every row and what the profile says of it.
struct PredictedSpeedups {
  std::vector<CellPrediction> predictions = {};
  std::vector<MeasuredCell> measured = {};  ///< in the order of the predictions
};

/// Throws InputError `file:line: ...` for rows that are none, that stand there twice and that the profile cannot
/// predict, all at once (the first twenty, and how many more).
[[nodiscard]] PredictedSpeedups predict_speedups(std::string_view text, const std::string& file,
                                                 const latency::Profile& profile);

// ---- Which decoding loops a prediction is held against: none of whose passes the calibration measured.

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
