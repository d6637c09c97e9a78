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

  /// Whether an iteration of up to n tokens does not gain from one more draft. Exact, including ties.
  [[nodiscard]] bool long_enough(std::int64_t n) const;

  /// Minimum n >= 1 that is long enough: an integer next to real_tokens().
  [[nodiscard]] std::int64_t best_tokens() const;
};

// ---- The +2/-1 heuristic [Wagner2024, Sec. 4.1; Wolf2020]: two drafts more after an iteration that accepted all of
// its drafts, one less (at least one) after any other. The length is a Markov chain that moves up from g with
// probability m_g = P(all g drafts accepted); its start does not matter in the long run. Derivation in docs/model.md.

/// Long-run distribution of the draft length, capped at marginal.size(): P(gamma = g) at [g - 1]. `marginal` [g - 1] is
/// m_g; it never rises and has at least one entry. Exact to round-off; entries below 1e-250 of the largest may be 0.
[[nodiscard]] std::vector<double> plus2_minus1_law(std::span<const double> marginal);

/// Maximum alpha for which the distribution without a cap is computed: beyond it, it spreads over more than a million
/// lengths.
inline constexpr double plus2_minus1_largest_alpha = 1.0 - 1e-6;

/// The distribution under i.i.d. acceptance without a cap, truncated where the rest is below 1e-20. alpha = 0: always
/// one draft. DomainError above plus2_minus1_largest_alpha; at alpha = 1 the length grows without bound and has no
/// distribution.
[[nodiscard]] std::vector<double> plus2_minus1_law(double alpha);

/// Long-run tokens and drafts of an iteration, in the two settings above.
[[nodiscard]] VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention);
[[nodiscard]] VaryingYield plus2_minus1(double alpha, Convention convention);

/// The length without drift under i.i.d. acceptance, alpha^gamma = 1/3: ln 3 / -ln alpha. 0 for alpha = 0, +infinity
/// for alpha = 1. It does not depend on c, so for each alpha it is near the optimum for only one c.
[[nodiscard]] double plus2_minus1_equilibrium(double alpha);

// ---- Drafting until a token of low confidence. Derivation in docs/model.md.

/// Drafting that stops at low confidence. Every drafted token has its own acceptance probability, drawn from Beta(alpha
/// s, (1 - alpha) s) independently of all others; the drafter's confidence is that probability to the power `bias`.
/// Drafting stops after the first token with a confidence below `threshold` (which is still verified, as in [Wolf2020])
/// and at `gamma` tokens.
struct ConfidenceThreshold {
  double alpha;          ///< mean acceptance of a drafted token, in [0, 1]
  double concentration;  ///< s, in [1e-6, 1e9]: near 0 each token is certain to be accepted or rejected, large: all are
                         ///< alike
  double threshold;      ///< in [0, 1]; 0: always gamma tokens
  double bias;           ///< in [1e-3, 1e3]: 1 calibrated, below 1 overconfident, above 1 underconfident
  std::int64_t gamma;    ///< 1 to 2^24
};

/// Probabilities of the next draft, both Beta tail integrals.
struct GoOn {
  double probability;  ///< the confidence in a token is at least the threshold
  double accepted;     ///< and the token is accepted
};
[[nodiscard]] GoOn go_on(const ConfidenceThreshold& policy);

/// P(X > k) at [k - 1], gamma entries: the marginals that the functions of token_distribution.hpp take for X.
///   bonus alpha r^(k-1), no_bonus r^k, r = go_on().accepted.
[[nodiscard]] std::vector<double> reached(const ConfidenceThreshold& policy, Convention convention);

/// Tokens and drafts of an iteration; drafts: (1 - p^gamma) / (1 - p), p = go_on().probability.
[[nodiscard]] VaryingYield confidence_threshold(const ConfidenceThreshold& policy, Convention convention);

// ---- Optimal stopping: the best draft lengths of a drafter that knows the acceptance probability of its next draft.
// It drafts on while the probability that the draft yields a token exceeds c times the long-run speedup, which is a
// fixed point found by Dinkelbach's iteration [Dinkelbach1967]. As survival only falls, no policy with a longer
// lookahead is better: the value of perfect calibration. Autoregressive drafting. Derivation in docs/model.md.

/// One of the acceptance scenarios of an iteration.
struct DraftScenario {
  double probability;               ///< the probabilities of all scenarios sum to 1
  std::vector<double> conditional;  ///< [i]: P(draft i accepted | all before it were); known to the drafter
};

struct StoppingPlan {
  std::vector<std::int64_t> gamma;  ///< of each scenario; ties to the smaller one
  VaryingYield yield;
  double speedup;
};

/// At most conditional.size() drafts in each scenario, at least min_gamma(convention). c >= 0.
[[nodiscard]] StoppingPlan optimal_stopping(std::span<const DraftScenario> scenarios, double c, Convention convention);

/// The same for alpha ~ Beta(a, b), drawn for each iteration and known to the drafter, by Beta tail integrals; at most
/// `gamma` <= max_known_alpha_gamma drafts.
[[nodiscard]] VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c,
                                            Convention convention);

}  // namespace foredraft::analytic
