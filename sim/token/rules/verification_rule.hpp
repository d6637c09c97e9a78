// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "foredraft/models.hpp"
#include "foredraft/verification_rule.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

using Token = std::int32_t;

/// The two distributions over the vocabulary at one position, after temperature; equal lengths, each sums to 1.
struct PositionDistributions {
  std::span<const double> target;  ///< p
  std::span<const double> draft;   ///< q
};

/// A token drawn from q, and its probability under both models.
struct DraftedToken {
  Token token;
  double target;  ///< p(token)
  double draft;   ///< q(token), > 0
};

/// How the candidates of one position are drawn.
enum class CandidateDraws {
  with_replacement,     ///< every one from q, independently
  without_replacement,  ///< from q without the tokens rejected before, normalized; once q is used up, uniformly from
                        ///< the tokens not yet rejected. Distinct candidates, so V of them always hold one to accept.
};

/// How many candidates a position gets, and how they are drawn.
struct CandidateScheme {
  std::int64_t count = 1;  ///< >= 1
  CandidateDraws draws = CandidateDraws::with_replacement;
  bool tested_alike = false;  ///< each is tested by the rule's acceptance(); false: by recursive rejection
  bool varies = false;        ///< drafts of other depths have another count
};

/// A verification rule: when is a drafted token accepted, and what is emitted when it is not? To add one:
/// docs/adding-a-verification-rule.md.
///
/// Contract: every function is pure (no state, no randomness, thread-safe). With a(x) = acceptance, r = replacement and
/// b = bonus distribution, an iteration accepts drafts x ~ q while U < a(x), U uniform on [0, 1) (so a = 0 never
/// accepts and a = 1 always does), emits a token of r at the first rejection, and one of b(p) after gamma accepted
/// drafts. The distribution emitted at a tested position is q(x) a(x) + (1 - sum q a) r(x): emitted_distribution()
/// computes it.
class VerificationRule {
 public:
  VerificationRule() = default;
  VerificationRule(const VerificationRule&) = delete;
  VerificationRule& operator=(const VerificationRule&) = delete;
  VerificationRule(VerificationRule&&) = delete;
  VerificationRule& operator=(VerificationRule&&) = delete;
  virtual ~VerificationRule() = default;

  /// Of draft `depth` of an iteration, from 1. If more than one: acceptance() and replacement() are those of the first;
  /// the next ones are tried by recursive rejection (emitted_distribution.hpp). Only for a rule whose acceptance is
  /// min(1, p/q) and whose replacement is the residual of p and q. Candidates that are tested alike are drawn
  /// independently, as many at each depth, and replacement() follows the last.
  [[nodiscard]] virtual CandidateScheme candidates(std::int64_t depth) const {
    static_cast<void>(depth);
    return {};
  }

  /// Whether the drafts of an iteration are verified together, by block verification (block_verification.hpp) over
  /// their acceptance() and replacement(), which are then those of an iteration of one draft. Only for such a rule as
  /// candidates() demands, with one candidate.
  [[nodiscard]] virtual bool verifies_blocks() const { return false; }

  /// Whether acceptance() depends on the rows beyond p(x) and q(x). If not, callers need not compute the rows.
  [[nodiscard]] virtual bool uses_row_statistic() const { return false; }

  /// The one number of the whole rows that acceptance() needs: an argmax, a threshold from an entropy or a rank. Called
  /// once per position, and only if uses_row_statistic().
  [[nodiscard]] virtual double row_statistic(const PositionDistributions& distributions) const;

  /// a(x) in [0, 1]: probability that the drafted token is accepted.
  [[nodiscard]] virtual double acceptance(const DraftedToken& drafted, double row_statistic) const = 0;

  /// Writes r, the distribution of the token emitted after a rejection; sums to 1, `distribution` has the length of the
  /// rows. If no draft can be rejected, any distribution is allowed.
  virtual void replacement(const PositionDistributions& distributions, std::span<double> distribution) const = 0;

  /// Writes b, the distribution of the token emitted after gamma accepted drafts: by default p itself.
  virtual void bonus(std::span<const double> target, std::span<double> distribution) const;
};

/// How many candidates each of the first drafts of an iteration gets: [i] of draft i + 1.
[[nodiscard]] std::vector<std::int64_t> candidate_counts(const VerificationRule& rule, std::int64_t gamma);

/// The rule of a checked scenario.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const Rule& rule);

/// The same for a context of given distributions, which may have a rule of their own. Keeps a reference to them.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const GivenDistributions& given, std::size_t context,
                                                                const Rule& rule);

}  // namespace foredraft::sim

namespace foredraft::sim::rules {

// ---- Defined by the files of this folder, one for each rule of a scenario. Parameters have been checked.

using MadeRule = std::unique_ptr<const VerificationRule>;

[[nodiscard]] MadeRule make(const AcceptAll& rule);
[[nodiscard]] MadeRule make(const BlockVerification& rule);
[[nodiscard]] MadeRule make(const CascadeChow& rule);
[[nodiscard]] MadeRule make(const CascadeDiff& rule);
[[nodiscard]] MadeRule make(const CascadeOpt& rule);
[[nodiscard]] MadeRule make(const GreedyMatch& rule);
[[nodiscard]] MadeRule make(const KSeq& rule);
[[nodiscard]] MadeRule make(const Lenient& rule);
[[nodiscard]] MadeRule make(const MultiCandidate& rule);
[[nodiscard]] MadeRule make(const RejectionSampling& rule);
[[nodiscard]] MadeRule make(const SglangThresholds& rule);
[[nodiscard]] MadeRule make(const SigmoidApproximation& rule);
[[nodiscard]] MadeRule make(const TopBeta& rule);
[[nodiscard]] MadeRule make(const TopNDelta& rule);
[[nodiscard]] MadeRule make(const TypicalAcceptance& rule);

}  // namespace foredraft::sim::rules

namespace foredraft::sim {

/// A replacement of max(0, p - l q), normalized; p itself where that is 0 (nothing is rejected).
void write_residual(const PositionDistributions& distributions, double l, std::span<double> distribution);

/// A rejection and the bonus emit the target's most probable token, the lowest index on ties.
class TopTokenRule : public VerificationRule {
 public:
  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const final {
    write_point_mass(row_argmax(distributions.target), distribution);
  }

  void bonus(std::span<const double> target, std::span<double> distribution) const final {
    write_point_mass(row_argmax(target), distribution);
  }
};

}  // namespace foredraft::sim
