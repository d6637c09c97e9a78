// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/predict/profile_prediction.hpp"
#include "experiments/predict/verification_curve.hpp"
#include "experiments/results/manifest.hpp"

/// What `predict --out` leaves: every number of the prediction, and the data of each figure.
namespace foredraft::experiments {

inline constexpr std::string_view prediction_schema = "foredraft.prediction/1";

/// Of the question and of the file, or data sheet, that the times came from.
[[nodiscard]] ResultFolder::Kind folder_kind(const ProfileQuestion& question, const FileDigest& times);

/// A row for each context, batch and draft length.
[[nodiscard]] std::string prediction_csv(const ProfilePrediction& prediction);

/// Whether there is a map to draw: two contexts and two batches at least.
[[nodiscard]] bool has_decision_map(const ProfileQuestion& question);

/// Writes prediction.csv, step-time.csv, batch-speedup.csv, verification-cost.csv and, where there is one,
/// decision-map.csv.
void write_prediction(ResultFolder& folder, const ProfilePrediction& prediction,
                      const std::vector<VerificationCurve>& curves);

}  // namespace foredraft::experiments
