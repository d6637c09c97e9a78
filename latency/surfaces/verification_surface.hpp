// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "latency/surfaces/cost_surface.hpp"

namespace foredraft::latency {

/// Cost of sampling on a device, from a profile's rows of fused_exact: of one type and launch, over real-like logits
/// that are in the cache, where the pass before has just written them.
///
/// A measured shape has its measured time. Between shapes time is linear in the number of elements to read, batch (2
/// gamma + 1) vocabulary; below the smallest and above the largest the line of the two nearest points is extended,
/// never below 0. Draws (gamma 0) and verifications have separate lines if there are two sizes of them, those of the
/// given vocabulary if it was measured at two sizes; else all rows share one line.
class VerificationSurface {
 public:
  VerificationSurface(const Profile& profile, const Setting& setting, std::int64_t vocabulary);

  /// Time for `batch` requests with gamma drafts each; gamma 0: sampling a token from each of `batch` rows. Nullopt if
  /// the profile has fewer than two sizes. Spreads as those of CostSurface, without an interpolation error; a latency
  /// outside of the measured range is marked.
  [[nodiscard]] std::optional<Latency> at(std::int64_t batch, std::int64_t gamma) const;

 private:
  struct Point {
    double elements, time_us, spread;
  };
  using Line = std::vector<Point>;  ///< by ascending elements, each once

  static Line line_of(std::vector<Point> points);

  std::int64_t vocabulary_;
  std::map<std::pair<std::int64_t, std::int64_t>, Latency> measured_;  ///< of the vocabulary, by batch and gamma
  Line draws_, verifications_;
};

}  // namespace foredraft::latency
