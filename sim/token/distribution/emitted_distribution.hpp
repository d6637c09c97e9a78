// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/intervals.hpp"
#include "core/random_stream.hpp"
#include "foredraft/lossiness.hpp"
#include "foredraft/words.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// m(c) = sum_x max(0, p(x) - c q(x)), c >= 0: the mass of the residuals of recursive rejection, which all have the
/// form max(0, p - c q) / m(c). This also holds for candidates drawn without replacement until q is exhausted: a
/// rejected token has p <= c q, and removing it from q scales the rest (docs/model.md).
class ResidualMass {
 public:
  /// Bytes per token of the vocabulary.
  static constexpr std::int64_t bytes_per_entry = 25;

  /// Whether draw() is called; if so, each entry needs one more Token.
  enum class Draws { no, yes };

  /// O(V log V).
  explicit ResidualMass(const PositionDistributions& distributions, Draws draws = Draws::no);

  /// m(c). A few steps for c >= 1, O(log V) for c < 1. A sum of nonnegative terms, so small values are accurate.
  [[nodiscard]] double operator()(double c) const;

  /// Draws a token from max(0, p - c q) / m(c), m(c) > 0, by inversion of a uniform u on [0, 1). O(log V).
  [[nodiscard]] Token draw(double c, double u) const;

  /// Prefetches what m(c) will read.
  void prefetch(double c) const {
    const std::size_t s = slice(c);
    __builtin_prefetch(bends_.data() + first_[s]);  // a few bends, which may span two cache lines
    __builtin_prefetch(bends_.data() + first_[s + 1]);
  }

 private:
  /// A bend of m at c = ratio, where a token begins to contribute.
  struct Bend {
    double ratio;  ///< p / q of the token
    double mass;   ///< m(ratio)
    double slope;  ///< sum of q over the tokens with p / q >= ratio; -m' for c just below ratio
  };
  /// The slice of c: equal slices of 1 / c <= 1, and one more for all c < 1. Never decreases as c decreases.
  [[nodiscard]] std::size_t slice(double c) const {
    const std::size_t last = first_.size() - 2;
    return c < 1.0 ? last : static_cast<std::size_t>(static_cast<double>(last - 1) / c);
  }

  /// End of the bends with ratio > c; sum_to() gives the sum of max(0, p - c q) up to and including a bend.
  [[nodiscard]] std::vector<Bend>::const_iterator end_of(double c) const;
  [[nodiscard]] static double sum_to(const Bend& bend, double c) { return bend.mass + (bend.ratio - c) * bend.slope; }

  std::vector<Bend> bends_;           ///< by descending ratio
  std::vector<Token> tokens_;         ///< tokens that are never drafted, then tokens of the bends; only with Draws::yes
  std::vector<double> undrafted_;     ///< running sum of p over the tokens that are never drafted
  std::vector<std::uint32_t> first_;  ///< [s]: bends in the slices before s; the last entry: all bends
  double never_drafted_ = 0.0;        ///< sum of p over tokens with q = 0, the limit of m
};

// ---- Several candidates for one position, tried in order [Miao2024, Alg. 2; Chen2024]. With r_1 = p and d_1 = q,
// candidate i is drawn from d_i and accepted with probability min(1, r_i / d_i); after its rejection r_{i+1} = max(0,
// r_i - d_i), normalized. After the last rejection a token of the last r is emitted. The emitted distribution is p for
// every q, every number of candidates and both ways of drawing them; with one candidate this is rejection sampling.

/// The distributions r_i and d_i, updated at each rejection. O(V) time and memory per rejection.
class RecursiveRejection {
 public:
  RecursiveRejection(const PositionDistributions& distributions, CandidateDraws draws);

  /// r_i: distribution of the token to emit. Sums to 1; 0 at every token rejected so far.
  [[nodiscard]] std::span<const double> residual() const { return residual_; }

  /// d_i: distribution of the next candidate. Sums to 1.
  [[nodiscard]] std::span<const double> draft() const { return draft_; }

  /// min(1, r_i / d_i) at a token drawn from d_i; 0 at a token that d_i cannot draw.
  [[nodiscard]] double acceptance(Token candidate) const;

  /// Continues after the rejection of a token drawn from d_i. If r_i = d_i, a rejection is impossible and r is
  /// unchanged.
  void reject(Token candidate);

 private:
  CandidateDraws draws_;
  std::vector<double> residual_;
  std::vector<double> draft_;
  std::vector<Token> rejected_;
};

/// The token that a position emits after the rejection of its first candidate.
struct FurtherOutcome {
  bool accepted;  ///< a further candidate was accepted; otherwise the token comes from the last residual
  Token token;
};

/// Draws and tests the remaining candidates by recursive rejection, after at least one was rejected. O(V) per
/// candidate.
[[nodiscard]] FurtherOutcome try_further_candidates(const PositionDistributions& distributions,
                                                    const CandidateScheme& scheme, std::span<const Token> rejected,
                                                    RandomStream& random);

/// Probability that one of a position's candidates is accepted. With replacement 1 - m(c_{k+1}), c_1 = 0, c_{i+1} = c_i
/// + m(c_i), m of ResidualMass. Without replacement, a sum over the rejected tokens with V^(k-1) terms; NaN above 2^20
/// terms.
[[nodiscard]] double candidate_acceptance(const PositionDistributions& distributions, const CandidateScheme& scheme);

/// Upper bound of the probability that a rule that emits p accepts one of k independent candidates from q: the minimum
/// over sets H of p(H) + 1 - q(H)^k, which is reached by a prefix of the tokens sorted by p / q [Sun2023; Hu2025]. With
/// one candidate sum min(p, q). O(V log V).
[[nodiscard]] double optimal_acceptance(const PositionDistributions& distributions, std::int64_t candidates);

// ---- Exact quantities of a rule at one position. They check the simulation and measure lossy rules.

/// sum_x q(x) a(x): the probability that the first draft is accepted. For several candidates: that any is accepted, as
/// candidate_acceptance(), which is NaN if there are too many terms.
[[nodiscard]] double acceptance_probability(const VerificationRule& rule, const PositionDistributions& distributions);

/// q(x) a(x) + (1 - sum q a) r(x): the distribution of the token emitted at a tested position; p for a lossless rule.
/// Further candidates do not change it, because recursive rejection emits the replacement's distribution. If k
/// candidates are tested alike, it is q(x) a(x) (1 - (1 - b)^k) / b + (1 - b)^k r(x), b = sum q a.
[[nodiscard]] std::vector<double> emitted_distribution(const VerificationRule& rule,
                                                       const PositionDistributions& distributions);

// ---- How much a verification rule changes the target's distribution, and how much acceptance it gains. Exact for each
// context, from the rule's emitted distribution e; standard errors treat the contexts as a sample.

/// Lossiness at one position.
struct PositionLossiness {
  double acceptance;        ///< acceptance_probability(), may be NaN
  double acceptance_gain;   ///< acceptance minus sum min(p, q), the acceptance of one draft under a lossless rule
  double total_variation;   ///< sum |e - p| / 2
  double kl_divergence;     ///< sum e ln(e / p) (nat); infinite if e emits a token of probability 0 under p
  double entropy_change;    ///< entropy of e minus entropy of p (nat)
  double top1_agreement;    ///< 1 if the most probable token of p (lowest index on ties) is also one of e's; else 0
  double top1_probability;  ///< probability under e of the most probable token of p
  double joint_total_variation;  ///< total_variation, or the value for several tokens if set
};

[[nodiscard]] PositionLossiness lossiness(const VerificationRule& rule, const PositionDistributions& distributions);

/// A position: its rule and distributions.
struct ContextRule {
  const VerificationRule* rule;  ///< not block verification
  PositionDistributions distributions;
};

/// Total variation, sum |e - p| / 2, of the joint distribution of one token in each of these contexts. The first
/// context starts an iteration of `gamma` drafts; new iterations start after each rejection and after gamma accepted
/// drafts. V^n outcomes.
[[nodiscard]] double joint_total_variation(std::span<const ContextRule> contexts, std::int64_t gamma,
                                           Convention convention);

/// Mean over at least one position.
[[nodiscard]] Lossiness mean_lossiness(std::span<const PositionLossiness> positions);

}  // namespace foredraft::sim
