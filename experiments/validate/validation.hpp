#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/intervals.hpp"
#include "gpu_bench/latency/cost_surface.hpp"
#include "gpu_bench/loop/loop_run.hpp"

/// Predictions from a profile beside the decoding loops that were then run.
namespace foredraft::experiments {

/// What `foredraft predict --profile` says of one cell. Times of an iteration in us.
struct CellPrediction {
  gpu_bench::LoopCell cell;
  double plain_us = 0.0;  ///< pass and draw
  double drafting_us = 0.0, verify_us = 0.0, sampling_us = 0.0;
  double tokens_per_iteration = 0.0;
  double speedup = 0.0;
  std::optional<Interval> speedup_ci95 = {};
  gpu_bench::Origin origin = gpu_bench::Origin::measured;  ///< the least good of its times'
};

/// Each cell by predict(). Throws InputError for models that nobody knows, for cells outside the profile's domain and
/// where the profile cannot answer: all cells at once.
[[nodiscard]] std::vector<CellPrediction> predict_cells(const std::vector<gpu_bench::LoopCell>& cells,
                                                        const gpu_bench::Profile& profile, const std::string& name);

/// prediction.csv: docs/metrics.md says what its columns mean.
[[nodiscard]] std::string prediction_csv(const std::vector<CellPrediction>& predictions);

/// Of the predicted speedup over the measured one, less 1: above 0 where too much was promised.
[[nodiscard]] double signed_error(const CellPrediction& prediction, const gpu_bench::LoopRow& row);

/// validation.csv: a line a row; rows are of cells that were predicted.
[[nodiscard]] std::string validation_csv(const std::vector<CellPrediction>& predictions,
                                         const std::vector<gpu_bench::LoopRow>& rows);

/// The errors in a sentence, every cell, and what the comparison says. At least one row.
[[nodiscard]] std::string validation_text(const std::vector<CellPrediction>& predictions,
                                          const gpu_bench::LoopResult& result, const std::string& device);

}  // namespace foredraft::experiments
