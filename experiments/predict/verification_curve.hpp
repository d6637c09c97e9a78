// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/predict/profile_prediction.hpp"

/// How the target's pass grows with the tokens that it verifies: flat while weights have to be read, then in
/// proportion.
namespace foredraft::experiments {

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
[[nodiscard]] std::vector<VerificationCurve> verification_curves(const ProfileQuestion& question,
                                                                 const latency::Profile& profile);

/// The tokens at which the curve first passes knee_growth, between points on a straight line in the logarithms; nothing
/// where it stays below.
[[nodiscard]] std::optional<double> knee_tokens(const VerificationCurve& curve);

}  // namespace foredraft::experiments
