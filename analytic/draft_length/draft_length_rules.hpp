// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/words.hpp"

/// Closed forms of draft-length policies.
namespace foredraft::analytic {

// ---- The +2/-1 heuristic [Wagner2024, Sec. 4.1; Wolf2020]: the draft length is a Markov chain that moves up by two
// from g with probability m_g = P(all g drafts accepted), else down by one. Derivation in docs/model.md.

/// [g - 1]: long-run P(gamma = g) of the draft length, which is at most marginal.size(). `marginal` [g - 1] is m_g; it
/// has at least one entry and never increases. Exact to round-off; entries below 1e-250 of the largest may be 0.
[[nodiscard]] std::vector<double> plus2_minus1_distribution(std::span<const double> marginal);

/// Long-run tokens and draft length of an iteration.
[[nodiscard]] VaryingYield plus2_minus1(std::span<const double> marginal, Convention convention);

// ---- Drafting until tokens have low confidence. Derivation in docs/model.md.

/// A drafter that has a confidence in each of its tokens and stops at a threshold, or after `gamma` tokens.
/// Each token's acceptance probability is drawn from Beta(alpha s, (1 - alpha) s); its confidence is this probability
/// to the power `bias`.
struct ConfidentDrafter {
  double alpha;          ///< mean acceptance of a drafted token, in [0, 1]
  double concentration;  ///< s, in [1e-6, 1e9]; near 0: acceptance probabilities are near 0 or 1, large: all are equal
  double threshold;      ///< in [0, 1]
  double bias;           ///< in [1e-3, 1e3]: 1 calibrated, below 1 overconfident, above 1 underconfident
  std::int64_t gamma;    ///< 1 to 2^24
};

// Stopping after the first token with a confidence below the threshold, which is still verified [Wolf2020]. Threshold
// 0: always gamma tokens.

/// Probabilities of the next draft (Beta tail integrals).
struct GoOn {
  double probability;  ///< the confidence in a token is at least the threshold
  double accepted;     ///< the same, and the token is accepted
};
[[nodiscard]] GoOn go_on(const ConfidentDrafter& drafter);

/// [k - 1]: P(X > k) of the tokens X of an iteration, gamma entries: bonus alpha r^(k-1), no_bonus r^k, r =
/// go_on().accepted.
[[nodiscard]] std::vector<double> reached(const ConfidentDrafter& drafter, Convention convention);

/// Mean tokens and draft length of an iteration; the latter is (1 - p^gamma) / (1 - p), p = go_on().probability.
[[nodiscard]] VaryingYield confidence_threshold(const ConfidentDrafter& drafter, Convention convention);

// ---- Other policies that use a confidence, in the same joint model.

/// The confidence at which the drafter's distribution has the entropy H with sqrt(H) = root_entropy (nats), if
/// `alternatives` >= 1 other tokens share the rest evenly. Drafting while sqrt(H) <= root_entropy equals
/// confidence_threshold() with this threshold. 0 if no distribution has more entropy.
[[nodiscard]] double confidence_of_entropy(double root_entropy, std::int64_t alternatives);

/// Result of a stopping policy. reached[k - 1] is P(X > k) of the tokens X of an iteration, gamma entries.
struct StoppedDrafts {
  VaryingYield yield;
  std::vector<double> reached;
};

/// Drafting that stops once 1 minus the product of the drafts' confidences exceeds the threshold [Huang2024, Sec. 3].
/// Threshold 1: always gamma tokens.
[[nodiscard]] StoppedDrafts rejection_probability(const ConfidentDrafter& drafter, Convention convention);

// ---- Optimal stopping: a drafter that knows the acceptance probability of its next draft drafts it if the probability
// that this draft yields a token exceeds c times the long-run speedup, a fixed point [Dinkelbach1967]. Survival never
// increases, so a longer lookahead is not better. Autoregressive drafting. Derivation in docs/model.md.

/// Acceptance probabilities that an iteration may have.
struct DraftScenario {
  double probability;               ///< the probabilities of all scenarios sum to 1
  std::vector<double> conditional;  ///< [i]: P(draft i accepted | all before it were); known to the drafter
};

struct StoppingPlan {
  std::vector<std::int64_t> gamma;  ///< [scenario]; ties to the smaller gamma
  VaryingYield yield;
  double speedup;
};

/// At most conditional.size() drafts in each scenario, at least min_gamma(convention). c >= 0.
[[nodiscard]] StoppingPlan optimal_stopping(std::span<const DraftScenario> scenarios, double c, Convention convention);

/// The same for alpha ~ Beta(a, b), known to the drafter; at most `gamma` <= max_known_alpha_gamma drafts.
[[nodiscard]] VaryingYield optimal_stopping(const BetaMixture& mixture, std::int64_t gamma, double c,
                                            Convention convention);

/// Optimal stopping if the acceptance probability of each token is drawn from Beta(alpha s, (1 - alpha) s), s the
/// concentration in [1e-6, 1e9], and known before the token is drafted; at most `gamma` drafts, 1 to 2^24. An upper
/// bound for policies that use a confidence; lower than oracle_speedup().
[[nodiscard]] StoppedDrafts optimal_token_stopping(double alpha, double concentration, std::int64_t gamma, double c,
                                                   Convention convention);

}  // namespace foredraft::analytic
