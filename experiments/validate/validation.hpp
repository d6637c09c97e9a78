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

/// Predictions from a profile beside the decoding loops that were then run, or beside what an engine showed.
namespace foredraft::experiments {

/// What `foredraft predict --profile` says of one cell. Times of an iteration in us.
struct CellPrediction {
  gpu_bench::LoopCell cell;
  double plain_us = 0.0;  ///< pass and draw
  double drafting_us = 0.0, verify_us = 0.0, sampling_us = 0.0;
  double tokens_per_iteration = 0.0;
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  latency::Origin origin = latency::Origin::measured;  ///< the least good of its times'
};

/// Throws DomainError for models that nobody knows, outside of the profile's domain and where it cannot answer.
[[nodiscard]] CellPrediction predict_cell(const gpu_bench::LoopCell& cell, const latency::Profile& profile);

/// All cells. Throws InputError for those that cannot be predicted, all of them at once.
[[nodiscard]] std::vector<CellPrediction> predict_cells(const std::vector<gpu_bench::LoopCell>& cells,
                                                        const latency::Profile& profile, const std::string& name);

/// prediction.csv: docs/metrics.md says what its columns mean.
[[nodiscard]] std::string prediction_csv(const std::vector<CellPrediction>& predictions);

/// What was measured of a cell; nothing where nobody said.
struct MeasuredCell {
  gpu_bench::LoopCell cell;
  std::optional<double> plain_tokens_per_s = {}, tokens_per_s = {}, tokens_per_iteration = {};
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  std::optional<double> between_runs = {};  ///< as of LoopRow
};

[[nodiscard]] std::vector<MeasuredCell> measured_cells(const std::vector<gpu_bench::LoopRow>& rows);

/// Whose speedups they are.
enum class MeasuredBy {
  loop,  ///< this program's own passes
  user   ///< an engine, as a user says
};
[[nodiscard]] std::string_view to_string(MeasuredBy by);

/// What a prediction is held against.
struct Measurement {
  gpu_bench::MeasureEnd end = gpu_bench::MeasureEnd::done;
  std::vector<MeasuredCell> cells = {};
  std::vector<latency::Missing> missing = {};
};

/// Of the predicted speedup over the measured one, less 1: above 0 where too much was promised.
[[nodiscard]] double signed_error(const CellPrediction& prediction, double measured_speedup);

/// validation.csv: a line a measured cell, of those that were predicted.
[[nodiscard]] std::string validation_csv(const std::vector<CellPrediction>& predictions,
                                         const std::vector<MeasuredCell>& measured);

/// The errors in a sentence, every cell, and what the comparison says. At least one cell.
[[nodiscard]] std::string validation_text(const std::vector<CellPrediction>& predictions,
                                          const Measurement& measurement, MeasuredBy by, const std::string& device);

inline constexpr std::string_view validation_schema = "foredraft.validation/1";

/// What the manifest of a validation says of it, besides its files.
struct ValidationInputs {
  std::vector<FileDigest> files;  ///< the profile first
  MeasuredBy measured_by = MeasuredBy::loop;
  bool valid = true;                      ///< the profile's own verdict on its A/A run; true where it has none
  std::vector<std::string> command_line;  ///< the program's name first
};

using KeepCells = std::function<void(const std::vector<MeasuredCell>&)>;

/// Measures, and hands over all cells that are known whenever there are more.
using Measure = std::function<Measurement(const KeepCells& keep)>;

/// Writes DIR/prediction.csv and its digest in DIR/manifest.json, both on the disk before `measure` is called; then
/// DIR/validation.csv, written again with every new row; the manifest last, its state "complete" or "interrupted".
/// Throws InputError where the folder is there and not empty.
[[nodiscard]] Measurement run_validation(const std::string& folder, const ValidationInputs& inputs,
                                         const std::vector<CellPrediction>& predictions, const Measure& measure);

}  // namespace foredraft::experiments
