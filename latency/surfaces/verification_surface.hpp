// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "latency/surfaces/cost_surface.hpp"

namespace foredraft::latency {

/// What sampling costs on a device, from a profile's rows of fused_exact: of one type and launch, over real-like logits
/// that lie in the cache, where the pass before has just written them.
///
/// A shape that was measured has its time. Between shapes time follows straight lines over the elements that have to be
/// read, batch (2 gamma + 1) vocabulary; below the smallest and above the largest the line of the two nearest goes on,
/// never below 0. Draws (gamma 0) and verifications follow lines of their own where there are two sizes of them, those
/// of the asked vocabulary where it was measured at two sizes, else all rows follow one.
class VerificationSurface {
 public:
  VerificationSurface(const Profile& profile, const Setting& setting, std::int64_t vocabulary);

  /// Of `batch` requests with gamma drafts each; gamma 0: drawing a token from each of `batch` rows. Nothing where the
  /// profile has fewer than two sizes. Spreads as those of CostSurface, without an error of interpolation; outside of
  /// what was measured the latency says so.
  [[nodiscard]] std::optional<Latency> at(std::int64_t batch, std::int64_t gamma) const;

 private:
  struct Point {
    double elements, time_us, spread;
  };
  using Line = std::vector<Point>;  ///< by rising elements, each once

  static Line line_of(std::vector<Point> points);

  std::int64_t vocabulary_;
  std::map<std::pair<std::int64_t, std::int64_t>, Latency> measured_;  ///< of the vocabulary, by batch and gamma
  Line draws_, verifications_;
};

}  // namespace foredraft::latency
