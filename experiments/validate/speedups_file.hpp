// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/validate/validation.hpp"

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

}  // namespace foredraft::experiments
