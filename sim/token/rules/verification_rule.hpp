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
  without_replacement,  ///< from q without the rejected tokens, normalized; when q is exhausted, uniformly from the
                        ///< tokens not yet rejected. Candidates are distinct, so one of V is accepted.
};

/// Number of candidates of a position, and how they are drawn.
struct CandidateScheme {
  std::int64_t count = 1;  ///< >= 1
  CandidateDraws draws = CandidateDraws::with_replacement;
  bool tested_alike = false;  ///< true: each is tested by the rule's acceptance(); false: by recursive rejection
  bool varies = false;        ///< the count depends on the depth
};

/// A verification rule decides when a drafted token is accepted and what is emitted otherwise. To add one:
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

  /// Candidates of draft `depth` (from 1) of an iteration. If there are several, acceptance() and replacement() apply
  /// to the first, and the others are tried by recursive rejection (emitted_distribution.hpp). This requires acceptance
  /// min(1, p/q) and the residual of p and q as replacement. Candidates with tested_alike are drawn independently, the
  /// same number at each depth, and replacement() applies after the last.
  [[nodiscard]] virtual CandidateScheme candidates(std::int64_t depth) const {
    static_cast<void>(depth);
    return {};
  }

  /// True if the drafts of an iteration are verified together by block verification (block_verification.hpp).
  /// acceptance() and replacement() then describe an iteration of one draft. Requires one candidate, and acceptance and
  /// replacement as in candidates().
  [[nodiscard]] virtual bool verifies_blocks() const { return false; }

  /// True if acceptance() depends on more than p(x) and q(x). If false, callers need not compute the rows.
  [[nodiscard]] virtual bool uses_row_statistic() const { return false; }

  /// The statistic of the rows that acceptance() needs: an argmax, or a threshold from an entropy or a rank. Called
  /// once per position if uses_row_statistic().
  [[nodiscard]] virtual double row_statistic(const PositionDistributions& distributions) const;

  /// a(x) in [0, 1]: probability that the drafted token is accepted.
  [[nodiscard]] virtual double acceptance(const DraftedToken& drafted, double row_statistic) const = 0;

  /// Writes r, the distribution of the token emitted after a rejection; sums to 1, `distribution` has the length of the
  /// rows. If no draft can be rejected, any distribution is allowed.
  virtual void replacement(const PositionDistributions& distributions, std::span<double> distribution) const = 0;

  /// Writes b, the distribution of the token emitted after gamma accepted drafts: by default p itself.
  virtual void bonus(std::span<const double> target, std::span<double> distribution) const;
};

/// [i]: number of candidates of draft i + 1.
[[nodiscard]] std::vector<std::int64_t> candidate_counts(const VerificationRule& rule, std::int64_t gamma);

/// The rule of a checked scenario.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const Rule& rule);

/// The rule for a context of given distributions, which may define their own rule. Keeps a reference to them.
[[nodiscard]] std::unique_ptr<const VerificationRule> make_rule(const GivenDistributions& given, std::size_t context,
                                                                const Rule& rule);

}  // namespace foredraft::sim

namespace foredraft::sim::rules {

// ---- One function per rule, defined in the files of this folder. Parameters are checked already.

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

/// Writes the replacement max(0, p - l q), normalized, or p if that is 0 (nothing is rejected).
void write_residual(const PositionDistributions& distributions, double l, std::span<double> distribution);

/// Base of rules that emit the target's most probable token (lowest index on ties) after a rejection and as bonus
/// token.
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
