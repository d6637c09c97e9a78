// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "experiments/results/manifest.hpp"

/// The folder of `predict --out`: all numbers of a prediction, and the data of each figure.
namespace foredraft::app {

// ---- Verification time as a function of the verified tokens: constant while reading weights dominates, then
// proportional.

/// At the knee, a forward pass takes this many times as long as with one token.
inline constexpr double knee_growth = 1.1;

/// Forward passes of the target at one batch size and context length.
struct VerificationCurve {
  struct Point {
    std::int64_t tokens;  ///< for each sequence
    latency::Latency pass;
    double growth;  ///< t(tokens) / t(1)
    std::optional<double>
        growth_spread;  ///< relative half width of the 95 % interval, with independent errors of both passes
  };
  std::int64_t batch = 0, context = 0;
  std::vector<Point> points = {};  ///< ascending, tokens = 1 first
};

/// A curve for each batch size and context length of the question. It covers every draft length of the prediction, and
/// longer ones until the growth is clear, within the domain of the profile. Throws DomainError as predict does.
[[nodiscard]] std::vector<VerificationCurve> verification_curves(const answers::ProfileQuestion& question,
                                                                 const latency::Profile& profile);

/// The number of tokens at which the curve first exceeds knee_growth, interpolated linearly in the logarithms; nullopt
/// if it stays below.
[[nodiscard]] std::optional<double> knee_tokens(const VerificationCurve& curve);

// ---- The folder

inline constexpr std::string_view prediction_schema = "foredraft.prediction/1";

/// The kind of the folder, from the question and the file or data sheet of its times. `valid`: they passed their A/A
/// test.
[[nodiscard]] experiments::ResultFolder::Kind folder_kind(const answers::ProfileQuestion& question,
                                                          const FileDigest& times, bool valid);

/// Whether there is a map to draw: at least two context lengths and two batch sizes.
[[nodiscard]] bool has_decision_map(const answers::ProfileQuestion& question);

/// prediction.csv, step-time.csv, batch-speedup.csv, verification-cost.csv and, if there is a map, decision-map.csv:
/// pairs of a name and a text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> prediction_tables(
    const answers::ProfilePrediction& prediction, const std::vector<VerificationCurve>& curves);

/// Writes `printed` to prediction.txt, and the tables.
void write_prediction(experiments::ResultFolder& folder, const answers::ProfilePrediction& prediction,
                      const std::vector<VerificationCurve>& curves, const std::string& printed);

}  // namespace foredraft::app
