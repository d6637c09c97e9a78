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

/// What `predict --out` leaves: every number of the prediction, and the data of each figure.
namespace foredraft::app {

// ---- How the target's pass grows with the tokens that it verifies: flat while weights have to be read, then in
// proportion.

/// The knee is where a pass takes this many times that of one token.
inline constexpr double knee_growth = 1.1;

/// The target's passes at one batch and context.
struct VerificationCurve {
  struct Point {
    std::int64_t tokens;  ///< of each sequence
    latency::Latency pass;
    double growth;                        ///< t(tokens) / t(1)
    std::optional<double> growth_spread;  ///< half width of its 95 % interval over it, the two passes' as independent
  };
  std::int64_t batch = 0, context = 0;
  std::vector<Point> points = {};  ///< ascending, tokens = 1 first
};

/// One for each batch and context of the question. It goes through every draft length of the prediction, and on to
/// where its growth is clear, for as long as the profile answers inside its domain. Throws DomainError as predict does.
[[nodiscard]] std::vector<VerificationCurve> verification_curves(const answers::ProfileQuestion& question,
                                                                 const latency::Profile& profile);

/// The tokens at which the curve first passes knee_growth, between points on a straight line in the logarithms; nothing
/// where it stays below.
[[nodiscard]] std::optional<double> knee_tokens(const VerificationCurve& curve);

// ---- The folder

inline constexpr std::string_view prediction_schema = "foredraft.prediction/1";

/// Of the question and of the file, or data sheet, that the times came from; `valid`: by their own A/A test.
[[nodiscard]] experiments::ResultFolder::Kind folder_kind(const answers::ProfileQuestion& question,
                                                          const FileDigest& times, bool valid);

/// Whether there is a map to draw: two contexts and two batches at least.
[[nodiscard]] bool has_decision_map(const answers::ProfileQuestion& question);

/// prediction.csv, step-time.csv, batch-speedup.csv, verification-cost.csv and, where there is one, decision-map.csv:
/// pairs of a name and a text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> prediction_tables(
    const answers::ProfilePrediction& prediction, const std::vector<VerificationCurve>& curves);

/// Writes prediction.txt, which is `printed`, and the tables.
void write_prediction(experiments::ResultFolder& folder, const answers::ProfilePrediction& prediction,
                      const std::vector<VerificationCurve>& curves, const std::string& printed);

}  // namespace foredraft::app
