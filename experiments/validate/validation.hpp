// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "experiments/text/digest.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/cost_surface.hpp"

/// Predictions from a profile, compared with decoding loops that are run afterwards or with an engine's speedups.
namespace foredraft::experiments {

/// Prediction of `foredraft predict --profile` for one cell. Times of an iteration in us.
struct CellPrediction {
  gpu_bench::LoopCell cell;
  double plain_us = 0.0;  ///< decode step and sampling
  double drafting_us = 0.0, verify_us = 0.0, sampling_us = 0.0;
  double tokens_per_iteration = 0.0;
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  latency::Origin origin = latency::Origin::measured;  ///< the worst origin of its times
};

/// Throws DomainError for unknown models, outside of the profile's domain and if it cannot answer.
[[nodiscard]] CellPrediction predict_cell(const gpu_bench::LoopCell& cell, const latency::Profile& profile);

/// All cells. Throws InputError for those that cannot be predicted, all of them at once.
[[nodiscard]] std::vector<CellPrediction> predict_cells(const std::vector<gpu_bench::LoopCell>& cells,
                                                        const latency::Profile& profile, const std::string& name);

/// prediction.csv; columns in docs/metrics.md.
[[nodiscard]] std::string prediction_csv(const std::vector<CellPrediction>& predictions);

/// Measurement of a cell; empty values: not given.
struct MeasuredCell {
  gpu_bench::LoopCell cell;
  std::optional<double> plain_tokens_per_s = {}, tokens_per_s = {}, tokens_per_iteration = {};
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  std::optional<double> between_runs = {};  ///< as of LoopRow
};

[[nodiscard]] std::vector<MeasuredCell> measured_cells(const std::vector<gpu_bench::LoopRow>& rows);

/// Origin of the measured speedups.
enum class MeasuredBy {
  loop,  ///< this program's own passes
  user   ///< an engine, as given by the user
};
[[nodiscard]] std::string_view to_string(MeasuredBy by);

/// The measurements that a prediction is compared with.
struct Measurement {
  gpu_bench::MeasureEnd end = gpu_bench::MeasureEnd::done;
  std::vector<MeasuredCell> cells = {};
  std::vector<latency::Missing> missing = {};
};

/// Predicted divided by measured speedup, minus 1: above 0 if the prediction was too high.
[[nodiscard]] double signed_error(const CellPrediction& prediction, double measured_speedup);

/// validation.csv: one line per measured cell that was predicted.
[[nodiscard]] std::string validation_csv(const std::vector<CellPrediction>& predictions,
                                         const std::vector<MeasuredCell>& measured);

/// The errors in a sentence, every cell, and what the comparison covers. At least one cell.
[[nodiscard]] std::string validation_text(const std::vector<CellPrediction>& predictions,
                                          const Measurement& measurement, MeasuredBy by, const std::string& device);

inline constexpr std::string_view validation_schema = "foredraft.validation/1";

/// Contents of the manifest of a validation besides its files.
struct ValidationInputs {
  std::vector<FileDigest> files;  ///< the profile first
  MeasuredBy measured_by = MeasuredBy::loop;
  bool valid = true;                      ///< the result of the profile's A/A test; true if it has none
  std::vector<std::string> command_line;  ///< the program's name first
};

using KeepCells = std::function<void(const std::vector<MeasuredCell>&)>;

/// Measures, and passes all known cells whenever there are more.
using Measure = std::function<Measurement(const KeepCells& keep)>;

/// Writes DIR/prediction.csv and its digest in DIR/manifest.json, both on the disk before `measure` is called; then
/// DIR/validation.csv, again with every new row; finally the manifest, with state "complete" or "interrupted". Throws
/// InputError if the folder exists and is not empty.
[[nodiscard]] Measurement run_validation(const std::string& folder, const ValidationInputs& inputs,
                                         const std::vector<CellPrediction>& predictions, const Measure& measure);

// ---- Speedups that a user measured in an engine: CSV with the columns target, draft, gamma, batch, context, speedup
// in any order; one column of acceptance: alpha, acceptance_length, or conditional or marginal (entries separated by
// blanks); and for drafts that are not autoregressive, drafter (autoregressive, block, heads). Heads are part of the
// target: their draft is empty or the target. Lines that begin with # are skipped.

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
