// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/intervals.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/cost_surface.hpp"

/// Predictions of decoding loops from a profile, and the loops to compare them with.
namespace foredraft::answers {

/// Prediction of `foredraft predict --profile` for one cell. Times of an iteration in us.
struct CellPrediction {
  gpu_bench::LoopCell cell;
  double plain_us = 0.0;  ///< decode step and sampling
  double drafting_us = 0.0, verify_us = 0.0, sampling_us = 0.0;
  double tokens_per_iteration = 0.0;
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  latency::Origin origin = latency::Origin::measured;  ///< the least reliable origin of its times
};

/// Throws DomainError for unknown models, outside the domain of the profile, and if the profile cannot answer.
[[nodiscard]] CellPrediction predict_cell(const gpu_bench::LoopCell& cell, const latency::Profile& profile);

/// Throws InputError with each reason why a cell cannot be predicted. `name`: of the profile, in messages.
[[nodiscard]] std::vector<CellPrediction> predict_cells(const std::vector<gpu_bench::LoopCell>& cells,
                                                        const latency::Profile& profile, const std::string& name);

/// Measurement of a cell. Empty: not given.
struct MeasuredCell {
  gpu_bench::LoopCell cell;
  std::optional<double> plain_tokens_per_s = {}, tokens_per_s = {}, tokens_per_iteration = {};
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  std::optional<double> between_runs = {};  ///< as of LoopRow
};

[[nodiscard]] std::vector<MeasuredCell> measured_cells(const std::vector<gpu_bench::LoopRow>& rows);

/// Predicted divided by measured speedup, minus 1: above 0 if the prediction was too high.
[[nodiscard]] double signed_error(const CellPrediction& prediction, double measured_speedup);

// ---- Decoding loops to compare predictions with. The calibration measured none of their forward passes.

/// The requested values. Empty: chosen for the grid.
struct GridRequest {
  std::vector<gpu_bench::PlannedPair> pairs;
  std::optional<std::vector<std::int64_t>> gammas = {};
  std::optional<std::vector<double>> alphas = {};
  std::optional<std::vector<std::int64_t>> batches = {};
  std::optional<std::vector<std::int64_t>> contexts = {};
};

/// The default pairs for which the profile has times.
[[nodiscard]] std::vector<gpu_bench::PlannedPair> pairs_in(const latency::Profile& profile);

/// Whether the profile measured a forward pass of this loop at its batch size and context length: the decode step, the
/// verification, or a drafting pass.
[[nodiscard]] bool is_calibrated(const latency::Profile& profile, const gpu_bench::LoopCell& cell);

struct ValidationGrid {
  std::vector<gpu_bench::LoopCell> cells;
  /// Why pairs have no cells here and, without a request, why the profile cannot predict others.
  std::vector<std::string> left_out = {};
};

/// Without a request: at least 24 cells, at least 8 per pair, over gamma 2 to 7, alpha 0.5 to 0.9, and batch sizes and
/// contexts between the measured ones, but for those that the profile cannot predict. Otherwise all combinations of the
/// requested values; defaults are gamma 3, alpha 0.7, and the first batch size and context between measured ones.
/// Throws InputError for cells that are calibrated, if there is nothing between measured batch sizes or contexts to
/// choose (without a request: for none of the pairs), and if no cell is left.
[[nodiscard]] ValidationGrid validation_cells(const latency::Profile& profile, const GridRequest& request);

}  // namespace foredraft::answers
