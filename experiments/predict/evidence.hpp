// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/predict/profile_prediction.hpp"

/// What kind of times a prediction rests on, and how far times of that kind were seen off.
namespace foredraft::experiments {

struct Evidence {
  std::string_view name;  ///< "measured here", "engine", "operators" or "data sheet"
  std::string_view what;  ///< of it, for sentences: "operators measured in engines"
  std::string error;      ///< the error seen for such times, in words; docs/step-times.md
  /// What the intervals of predicted times and speedups hold: 0.90 of what estimates were judged on, 0.95 of measured
  /// times; nothing: there are none.
  std::optional<double> interval_level;
  /// One standard deviation of the ratio of two predicted times, over that ratio: what the range of verifications
  /// leaves open, else the widest interval of a speedup; nothing: not known.
  std::optional<double> ratio_error;
};

[[nodiscard]] Evidence evidence_of(const ProfilePrediction& prediction);

}  // namespace foredraft::experiments
