// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Comparisons that double precision cannot settle, decided with 400 digits. The arguments are taken as the exact
/// numbers they are. Called only where the double-precision answer lies within its own rounding error: ties and
/// near-ties. Internal to analytic.
namespace foredraft::analytic::exact {

/// alpha^k <= 1 - level, for k >= 0.
[[nodiscard]] bool power_at_most(double alpha, std::int64_t k, double level);

/// One draft more than `gamma`, for c a draft, does not raise the speedup when `gamma` drafts yield up to n tokens:
/// alpha^n (1 + gamma c) <= c sum_{j<n} alpha^j. 0 < alpha < 1.
[[nodiscard]] bool one_more_does_not_pay(double alpha, double c, std::int64_t n, std::int64_t gamma);

/// c (1 - alpha) < alpha: the limit of a block drafter with bonus token, 1 / ((1 - alpha) (1 + c)), is above 1.
[[nodiscard]] bool block_limit_pays(double alpha, double c);

/// An iteration of up to n tokens that costs 1 + passes * c.
struct Iteration {
  std::int64_t n;
  std::int64_t passes;
};

/// speedup(candidate) >= (1 - fraction) * speedup(best).
[[nodiscard]] bool within_fraction(double alpha, double c, const Iteration& candidate, const Iteration& best,
                                   double fraction);

}  // namespace foredraft::analytic::exact
