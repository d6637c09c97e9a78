// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/one_maximum.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// The first of `from` to `to` where `holds` is false; `to` + 1 where it holds at all of them. It holds up to one
/// place.
std::int64_t first_without(std::int64_t from, std::int64_t to, const auto& holds) {
  while (from <= to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (holds(middle)) {
      from = middle + 1;
    } else {
      to = middle - 1;
    }
  }
  return from;
}

}  // namespace

std::optional<std::int64_t> best_gamma(const OneMaximum& speedups) {
  const auto rises = [&](std::int64_t gamma) { return speedups.speedup(gamma + 1) > speedups.speedup(gamma); };
  // Doubling first: a long draft takes longer to price.
  std::int64_t from = speedups.first;
  std::int64_t to = from;
  while (to < speedups.last && rises(to)) {
    from = to + 1;
    to = std::min(speedups.last, 2 * to + 1);
  }
  const std::int64_t best =
      first_without(from, to, [&](std::int64_t gamma) { return gamma < speedups.last && rises(gamma); });
  return best < speedups.last ? std::optional(best) : std::nullopt;
}

GammaRange near_best_gamma(const OneMaximum& speedups, std::int64_t best, double fraction) {
  check_probability("fraction", fraction);
  const double enough = (1.0 - fraction) * speedups.speedup(best);
  const auto near = [&](std::int64_t gamma) { return speedups.speedup(gamma) >= enough; };
  return {first_without(speedups.first, best - 1, [&](std::int64_t gamma) { return !near(gamma); }),
          first_without(best + 1, speedups.last, near) - 1};
}

}  // namespace foredraft::analytic
