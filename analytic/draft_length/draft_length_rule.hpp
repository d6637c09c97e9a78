// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/words.hpp"

/// The first-order condition of the draft length under i.i.d. acceptance and autoregressive drafting, in the tokens
/// n = max_tokens(gamma, convention) that an iteration can yield. Internal to analytic.
///
/// With a = -log(alpha) and the excess cost K = (1 - c)/c (bonus: n tokens cost 1 + (n-1) c) or 1/c (no_bonus: 1 + n
/// c):
///   integers  one more draft does not pay  <=>  H(n) = sum_{m=1}^{n} (alpha^-m - 1) >= K;
///   reals     dS/dn = 0                    <=>  e^x - 1 - x = a K,  x = a n.
/// Bonus: h(gamma) = 1 + H(gamma + 1) against 1/c.
namespace foredraft::analytic {

/// 0 < alpha < 1 and c > 0 (bonus: c < alpha).
struct DraftLengthRule {
  double alpha;
  double c;
  Convention convention;

  /// The real n that satisfies the first-order condition; bonus: c <= 1.
  [[nodiscard]] double real_tokens() const;

  /// Whether an iteration of up to n tokens does not gain from one more draft. Exact, ties included.
  [[nodiscard]] bool long_enough(std::int64_t n) const;

  /// Smallest n >= 1 that is long enough: an integer beside real_tokens().
  [[nodiscard]] std::int64_t best_tokens() const;
};

}  // namespace foredraft::analytic
