// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/scenario.hpp"
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

// ---- The +2/-1 heuristic [Wagner2024, Sec. 4.1; Wolf2020]: two drafts more behind an iteration that accepted all of
// its drafts, one less (at least one remains) behind any other. The length is a Markov chain that moves up from g with
// m_g = P(all g drafts accepted); where it starts does not matter in the long run. Derivation in docs/model.md.

/// Long-run law of the draft length, capped at marginal.size(): P(gamma = g) at [g - 1]. `marginal` [g - 1] is m_g; it
/// never rises, and has at least one entry. Exact to round-off, entries below 1e-250 of the largest may be 0.
[[nodiscard]] std::vector<double> plus2_minus1_law(std::span<const double> marginal);

/// Largest alpha that the law without a cap is computed for: beyond, it spreads over more than a million lengths.
inline constexpr double plus2_minus1_largest_alpha = 1.0 - 1e-6;

/// The same under i.i.d. acceptance and without a cap, cut where what is left out is below 1e-20. alpha = 0: always one
/// draft. DomainError above plus2_minus1_largest_alpha; at alpha = 1 the length grows for ever and has no law.
[[nodiscard]] std::vector<double> plus2_minus1_law(double alpha);

/// Tokens and drafts of an iteration in the long run, in the two settings above.
[[nodiscard]] VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention);
[[nodiscard]] VaryingYield plus2_minus1(double alpha, Convention convention);

/// The length of no drift under i.i.d. acceptance, alpha^gamma = 1/3: ln 3 / -ln alpha. 0 for alpha = 0, +infinity for
/// alpha = 1. It does not know c, so it is near the optimum for one c per alpha only.
[[nodiscard]] double plus2_minus1_equilibrium(double alpha);

// ---- Drafting until a token of low confidence. Derivation in docs/model.md.

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

/// P(X > k) at [k - 1], gamma entries: what the functions of token_distribution.hpp take as marginals for X.
///   bonus alpha r^(k-1), no_bonus r^k, r = go_on().accepted.
[[nodiscard]] std::vector<double> reached(const ConfidenceThreshold& policy, Convention convention);

/// Tokens and drafts of an iteration; drafts: (1 - p^gamma) / (1 - p), p = go_on().probability.
[[nodiscard]] VaryingYield confidence_threshold(const ConfidenceThreshold& policy, Convention convention);

// ---- The best that a drafter can do who knows how likely its next draft is to be accepted: it goes on while the
// chance that the draft yields a token exceeds c times the speedup reached in the long run, which is a fixed point
// found by Dinkelbach's iteration [Dinkelbach1967]. As survival only falls, no plan that looks further ahead does
// better: the value of perfect calibration. Autoregressive drafting. Derivation in docs/model.md.

/// One of the ways an iteration can go.
struct DraftScenario {
  double probability;               ///< of all scenarios: sum 1
  std::vector<double> conditional;  ///< [i]: draft i accepted given that all before it were; known to the drafter
};

struct StoppingPlan {
  std::vector<std::int64_t> gamma;  ///< of each scenario; ties to the smaller
  VaryingYield yield;
  double speedup;
};

/// At most conditional.size() drafts in each scenario; at least min_gamma(convention). c >= 0.
[[nodiscard]] StoppingPlan optimal_stopping(std::span<const DraftScenario> scenarios, double c, Convention convention);

/// The same for an alpha ~ Beta(a, b) drawn for each iteration and known to the drafter, by Beta tail integrals; at
/// most `gamma` <= max_known_alpha_gamma drafts.
[[nodiscard]] VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c,
                                            Convention convention);

}  // namespace foredraft::analytic
