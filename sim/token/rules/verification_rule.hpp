// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "foredraft/scenario.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

using Token = std::int32_t;

/// The two distributions over the vocabulary that meet at one position, after temperature; equal lengths, each sums
/// to 1.
struct PositionLaws {
  std::span<const double> target;  ///< p
  std::span<const double> draft;   ///< q
};

/// A token drawn from q, and what both models say of it.
struct DraftedToken {
  Token token;
  double target;  ///< p(token)
  double draft;   ///< q(token), > 0
};

/// How the candidates of one position are drawn.
enum class CandidateDraws {
  with_replacement,     ///< every one from q, independently
  without_replacement,  ///< from q without the tokens rejected before, normalised; once q is used up, uniformly from
                        ///< the tokens not yet rejected. Distinct candidates, so V of them always hold one to accept.
};

/// How many candidates a position gets, and how they are drawn.
struct CandidateScheme {
  std::int64_t count = 1;  ///< >= 1
  CandidateDraws draws = CandidateDraws::with_replacement;
};

/// The mathematics of one position: when is a drafted token accepted, and what is emitted when it is not? To add one:
/// docs/adding-a-verification-rule.md.
///
/// Contract: every function is pure (no state, no randomness, safe from many threads). With a(x) = acceptance,
/// r = replacement and b = bonus law, an iteration accepts drafts x ~ q while U < a(x), U uniform on [0, 1) (so a = 0
/// never accepts and a = 1 always does), emits a token of r at the first rejection, and one of b(p) behind gamma
/// accepted drafts. The law emitted at a tested position is q(x) a(x) + (1 - sum q a) r(x): emitted_distribution()
/// computes it.
class VerificationRule {
 public:
  VerificationRule() = default;
  VerificationRule(const VerificationRule&) = delete;
  VerificationRule& operator=(const VerificationRule&) = delete;
  VerificationRule(VerificationRule&&) = delete;
  VerificationRule& operator=(VerificationRule&&) = delete;
  virtual ~VerificationRule() = default;

  /// More than one candidate: acceptance() and replacement() are those of the first, and behind its rejection the next
  /// ones are tried by recursive rejection (recursive_rejection.hpp), which leaves the emitted law as it is. Only a
  /// rule whose acceptance is min(1, p/q) and whose replacement is the residual of p and q may ask for it.
  [[nodiscard]] virtual CandidateScheme candidates() const { return {}; }

  /// Whether acceptance() depends on the rows beyond p(x) and q(x). If not, callers need not compute the rows.
  [[nodiscard]] virtual bool uses_row_statistic() const { return false; }

  /// What acceptance() has to know of whole rows, as one number: an argmax, a threshold from an entropy or a rank.
  /// Called once a position, and only if uses_row_statistic().
  [[nodiscard]] virtual double row_statistic(const PositionLaws& laws) const;

  /// a(x) in [0, 1]: probability that the drafted token is accepted.
  [[nodiscard]] virtual double acceptance(const DraftedToken& drafted, double row_statistic) const = 0;

  /// Writes r, the law of the token emitted after a rejection; sums to 1, `law` has the length of the rows. Where no
  /// draft can be rejected any law will do.
  virtual void replacement(const PositionLaws& laws, std::span<double> law) const = 0;

  /// Writes b, the law of the token emitted behind gamma accepted drafts: by default p itself.
  virtual void bonus(std::span<const double> target, std::span<double> law) const;
};

/// What carries out the rule of a scenario. Throws DomainError on parameters that scenario::check_rule rejects;
/// `vocabulary` in tokens, 0: not known.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const Rule& rule, std::int64_t vocabulary = 0);

/// The same for a context of given distributions, which may have a rule of their own; a reference to them is kept.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const GivenDistributions& given, std::size_t context,
                                                                const Rule& rule);

}  // namespace foredraft::sim

namespace foredraft::sim::rules {

// ---- What the files of this folder define, one for each rule of a scenario. Parameters have been checked.

using MadeRule = std::unique_ptr<const VerificationRule>;

[[nodiscard]] MadeRule make(const AcceptAll& rule);
[[nodiscard]] MadeRule make(const GreedyMatch& rule);
[[nodiscard]] MadeRule make(const Lenient& rule);
[[nodiscard]] MadeRule make(const MultiCandidate& rule);
[[nodiscard]] MadeRule make(const RejectionSampling& rule);
[[nodiscard]] MadeRule make(const SigmoidApproximation& rule);
[[nodiscard]] MadeRule make(const TopBeta& rule);
[[nodiscard]] MadeRule make(const TypicalAcceptance& rule);

}  // namespace foredraft::sim::rules

namespace foredraft::sim {

/// A rule of greedy decoding: behind a rejection and behind accepted drafts the target's most probable token is
/// emitted, the lowest index on ties.
class TopTokenRule : public VerificationRule {
 public:
  void replacement(const PositionLaws& laws, std::span<double> law) const final {
    write_point_mass(row_argmax(laws.target), law);
  }

  void bonus(std::span<const double> target, std::span<double> law) const final {
    write_point_mass(row_argmax(target), law);
  }
};

}  // namespace foredraft::sim
