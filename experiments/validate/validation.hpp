// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "experiments/text/digest.hpp"
#include "gpu_bench/loop/loop_run.hpp"
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

}  // namespace foredraft::experiments
