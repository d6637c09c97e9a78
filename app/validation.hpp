// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/validation.hpp"
#include "core/digest.hpp"
#include "core/intervals.hpp"
#include "gpu_bench/loop/loop_run.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/cost_surface.hpp"

/// Comparison of predictions from a profile with decoding loops that run afterwards, or with speedups of an engine.
namespace foredraft::app {

/// prediction.csv; columns in docs/metrics.md.
[[nodiscard]] std::string prediction_csv(const std::vector<answers::CellPrediction>& predictions);

/// Origin of the measured speedups.
enum class MeasuredBy {
  loop,  ///< decoding loops of this program
  user   ///< an engine, as given by the user
};
[[nodiscard]] std::string_view to_string(MeasuredBy by);

/// The measurements to compare predictions with.
struct MeasuredCells {
  gpu_bench::MeasureEnd end = gpu_bench::MeasureEnd::done;
  std::vector<answers::MeasuredCell> cells = {};
  std::vector<latency::Missing> missing = {};
};

/// validation.csv: one line per measured cell that was predicted.
[[nodiscard]] std::string validation_csv(const std::vector<answers::CellPrediction>& predictions,
                                         const std::vector<answers::MeasuredCell>& measured);

/// The errors in a sentence, a table of all cells, and the scope of the comparison. Precondition: at least one cell.
[[nodiscard]] std::string validation_text(const std::vector<answers::CellPrediction>& predictions,
                                          const MeasuredCells& measurement, MeasuredBy by, const std::string& device);

inline constexpr std::string_view validation_schema = "foredraft.validation/1";

/// Contents of the manifest of a validation, besides its files.
struct ValidationInputs {
  std::vector<FileDigest> files;  ///< the profile first
  MeasuredBy measured_by = MeasuredBy::loop;
  bool valid = true;                      ///< the result of the profile's A/A test; true if it has none
  std::vector<std::string> command_line;  ///< the program's name first
};

using KeepCells = std::function<void(const std::vector<answers::MeasuredCell>&)>;

/// Measures, and passes all known cells whenever there is a new one.
using Measure = std::function<MeasuredCells(const KeepCells& keep)>;

/// Writes DIR/prediction.csv and its digest in DIR/manifest.json, both on the disk before `measure` is called; then
/// DIR/validation.csv, again with every new row; finally the manifest, with state "complete" or "interrupted". Throws
/// InputError if the folder exists and is not empty.
[[nodiscard]] MeasuredCells run_validation(const std::string& folder, const ValidationInputs& inputs,
                                           const std::vector<answers::CellPrediction>& predictions,
                                           const Measure& measure);

// ---- Speedups that a user measured in an engine: CSV with the columns target, draft, gamma, batch, context, speedup
// in any order; one column of acceptance: alpha, acceptance_length, or conditional or marginal (entries separated by
// blanks); and for drafts that are not autoregressive, drafter (autoregressive, block, heads). Heads are part of the
// target: their draft is empty or the target. Lines that begin with # are skipped.

/// Every row with its prediction from the profile.
struct PredictedSpeedups {
  std::vector<answers::CellPrediction> predictions = {};
  std::vector<answers::MeasuredCell> measured = {};  ///< in the order of the predictions
};

/// Throws InputError `file:line: ...` for invalid rows, duplicates and rows that the profile cannot predict, all at
/// once (the first twenty, and the number of the others).
[[nodiscard]] PredictedSpeedups predict_speedups(std::string_view text, const std::string& file,
                                                 const latency::Profile& profile);

}  // namespace foredraft::app
