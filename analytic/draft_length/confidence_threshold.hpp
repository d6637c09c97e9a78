// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analytic/tokens/varying_gamma.hpp"
#include "foredraft/words.hpp"

/// Drafting until a token of low confidence. Derivation in docs/model.md.
namespace foredraft::analytic {

/// Every drafted token has an acceptance probability of its own, drawn from Beta(alpha s, (1 - alpha) s) independently
/// of all others, and the drafter's confidence in it is that probability to the power `bias`. Drafting stops behind the
/// first token of confidence below `threshold` (which is still verified, as in [Wolf2020]) and at `gamma` tokens.
struct ConfidenceThreshold {
  double alpha;          ///< mean acceptance of a drafted token, in [0, 1]
  double concentration;  ///< s, in [1e-6, 1e9]: near 0 a token is sure to be accepted or rejected, large: all are alike
  double threshold;      ///< in [0, 1]; 0: always gamma tokens
  double bias;           ///< in [1e-3, 1e3]: 1 calibrated, below 1 overconfident, above 1 underconfident
  std::int64_t gamma;    ///< 1 to 2^24
};

/// What one more draft meets: both by Beta tail integrals.
struct GoOn {
  double probability;  ///< the confidence in a token is not below the threshold
  double accepted;     ///< the same, and the token is accepted
};
[[nodiscard]] GoOn go_on(const ConfidenceThreshold& policy);

/// P(X > k) at [k - 1], gamma entries: what the functions of token_law.hpp take as marginals for X.
///   bonus alpha r^(k-1), no_bonus r^k, r = go_on().accepted.
[[nodiscard]] std::vector<double> reached(const ConfidenceThreshold& policy, Convention convention);

/// Tokens and drafts of an iteration; drafts: (1 - p^gamma) / (1 - p), p = go_on().probability.
[[nodiscard]] VaryingYield confidence_threshold(const ConfidenceThreshold& policy, Convention convention);

}  // namespace foredraft::analytic
