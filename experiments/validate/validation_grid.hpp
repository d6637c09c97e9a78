// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/validate/validation.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"

/// Speedups that a user measured in an engine: CSV with the columns target, draft, gamma, batch, context, speedup in
/// any order; one column of acceptance: alpha, acceptance_length, or conditional or marginal (entries separated by
/// blanks); and for drafts that are not autoregressive, drafter (autoregressive, block, heads). Heads are part of the
/// target: their draft is empty or the target. Lines that begin with # are skipped.
namespace foredraft::experiments {

/// Every row with its prediction from the profile.
struct PredictedSpeedups {
  std::vector<CellPrediction> predictions = {};
  std::vector<MeasuredCell> measured = {};  ///< in the order of the predictions
};

/// Throws InputError `file:line: ...` for invalid rows, duplicates and rows that the profile cannot predict, all at
/// once (the first twenty, and the number of the others).
[[nodiscard]] PredictedSpeedups predict_speedups(std::string_view text, const std::string& file,
                                                 const latency::Profile& profile);

// ---- Decoding loops to compare predictions with: the calibration measured none of their passes.

/// The requested values; empty: chosen by the grid.
struct GridRequest {
  std::vector<gpu_bench::PlannedPair> pairs;
  std::optional<std::vector<std::int64_t>> gammas = {};
  std::optional<std::vector<double>> alphas = {};
  std::optional<std::vector<std::int64_t>> batches = {};
  std::optional<std::vector<std::int64_t>> contexts = {};
};

/// The default pairs that the profile has times of.
[[nodiscard]] std::vector<gpu_bench::PlannedPair> pairs_in(const latency::Profile& profile);

/// Whether the profile has measured a pass of this loop at its batch size and context: the decode step, the
/// verification, or the drafting.
[[nodiscard]] bool is_calibrated(const latency::Profile& profile, const gpu_bench::LoopCell& cell);

/// Without a request: at least 24 cells, at least 8 per pair, over gamma 2 to 7, alpha 0.5 to 0.9, and batch sizes and
/// contexts between the measured ones. Otherwise all combinations of the requested values; defaults are gamma 3, alpha
/// 0.7, the first batch size and context between. Throws InputError for cells that are calibrated, and if the profile
/// has neither two batch sizes nor two contexts to choose between.
[[nodiscard]] std::vector<gpu_bench::LoopCell> validation_cells(const latency::Profile& profile,
                                                                const GridRequest& request);

}  // namespace foredraft::experiments
