// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

// ---- Block verification [Sun2025, Alg. 2]: rejection sampling of all drafts X_1..X_gamma of an iteration together.
//
// P_0 = 1, P_i = min(1, P_{i-1} p(X_i) / q(X_i)). With U_i uniform on [0, 1), the accepted length is the largest i with
// U_i < h_i, or 0; a rejection does not end the test. h_i = S_i / (S_i + 1 - P_i) for 0 < i < gamma, where S_i = sum_x
// max(0, P_i p(x) - q(x)) at the position after draft i; h_gamma = P_gamma. The next token is drawn from max(0, P_i p -
// q), normalized, after i < gamma accepted drafts, and from p after gamma. Iterations emit the target's distribution
// and on average at least as many tokens as rejection sampling, for all p and q, which may depend on previous tokens.
//
// No logarithms: P_i is a probability, and once it is 0 no later draft is accepted.

/// P_i from P_{i-1} and the draft's p and q; q > 0.
[[nodiscard]] inline double block_ratio(double before, double p, double q) {
  return before * p >= q ? 1.0 : before * p / q;
}

/// S_i of P_i = `ratio`: the mass of max(0, ratio p - q). O(V).
[[nodiscard]] double block_residual_mass(double ratio, const PositionDistributions& distributions);

/// h_i, 0 < i < gamma, of P_i = `ratio` and S_i = `residual_mass`; 1 at ratio 1, even if p = q leaves no residual.
[[nodiscard]] inline double block_acceptance(double ratio, double residual_mass) {
  return ratio >= 1.0 ? 1.0 : residual_mass / (residual_mass + (1.0 - ratio));
}

}  // namespace foredraft::sim
