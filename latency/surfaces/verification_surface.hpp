// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "latency/surfaces/cost_surface.hpp"

namespace foredraft::latency {

/// Sampling times on a device, from a profile's rows of fused_exact with one dtype and launch, for real-like logits in
/// a hot cache, because the previous pass has just written them.
///
/// Measured shapes have their measured time. Otherwise the time is linear in the number of elements to read, batch (2
/// gamma + 1) vocabulary, also beyond the measured range, but never below 0. Draws (gamma 0) and verifications have
/// separate lines if each was measured at two sizes, only with the given vocabulary if that has two sizes; otherwise
/// all rows share one line. Rows whose bytes show that fewer drafts were timed than they say are ignored: until
/// November 27, 2026, foredraft-gpu timed gamma 1, 4 and 8 of a grid as gamma 0.
class VerificationSurface {
 public:
  VerificationSurface(const Profile& profile, const Setting& setting, std::int64_t vocabulary);

  /// Time for `batch` requests with gamma drafts each; gamma 0: sampling a token for each request. nullopt if the
  /// profile has fewer than two sizes. Spreads as in CostSurface, without an interpolation error; Latency::inside is
  /// false outside of the measured range.
  [[nodiscard]] std::optional<Latency> at(std::int64_t batch, std::int64_t gamma) const;

 private:
  struct Point {
    double elements, time_us, spread;
  };
  using Line = std::vector<Point>;  ///< by ascending elements, each once

  static Line line_of(std::vector<Point> points);

  std::int64_t vocabulary_;
  std::map<std::pair<std::int64_t, std::int64_t>, Latency> measured_;  ///< for this vocabulary, by (batch, gamma)
  Line draws_, verifications_;
};

/// Note for the user that rows of verifications are ignored, with their number, their draft lengths and the reason;
/// nullopt if none are.
[[nodiscard]] std::optional<std::string> ignored_verifications(const Profile& profile);

}  // namespace foredraft::latency
