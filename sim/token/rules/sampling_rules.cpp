// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/numbers.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Speculative sampling: accept x ~ q with probability min(1, p(x) / q(x)), otherwise draw from the residual
/// max(0, p - q) / sum max(0, p - q) [Leviathan2023, Alg. 1; Chen2023, Alg. 2]. The emitted distribution is p for every
/// q: min(p, q) + (1 - sum min(p, q)) * residual = p.
class RejectionSamplingRule : public VerificationRule {
 public:
  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const final {
    return drafted.target >= drafted.draft ? 1.0 : drafted.target / drafted.draft;
  }

  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const final {
    for (std::size_t x = 0; x < distribution.size(); ++x)
      distribution[x] = std::max(0.0, distributions.target[x] - distributions.draft[x]);
    const double mass = row_sum(distribution);
    if (mass > 0.0) {
      const double scale = 1.0 / mass;
      for (double& probability : distribution) probability *= scale;
    } else {
      std::copy(distributions.target.begin(), distributions.target.end(),
                distribution.begin());  // p = q: no draft is ever rejected
    }
  }
};

/// Rejection sampling against a fraction l of q: accept x ~ q with probability min(1, p(x) / (l q(x))) [Leviathan2023,
/// App. A.5]. The source does not state what a rejection draws from: here the residual of p and l q or, on request, the
/// residual of p and q. Either way no token is emitted with a probability above p(x) / l, and l = 1 is
/// rejection_sampling.
class LenientRule final : public VerificationRule {
 public:
  LenientRule(double lenience, double residual_lenience) : lenience_(lenience), residual_lenience_(residual_lenience) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    if (!(drafted.target > 0.0)) return 0.0;  // l q can underflow to 0
    const double demanded = lenience_ * drafted.draft;
    return drafted.target >= demanded ? 1.0 : drafted.target / demanded;
  }

  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      distribution[x] = std::max(0.0, distributions.target[x] - residual_lenience_ * distributions.draft[x]);
    }
    // p = q: nothing is rejected
    if (!normalise(distribution)) std::ranges::copy(distributions.target, distribution.begin());
  }

 private:
  double lenience_;
  double residual_lenience_;
};

/// Rejection sampling of all drafts of an iteration together [Sun2025, Alg. 2]: see block_verification.hpp.
class BlockVerificationRule final : public RejectionSamplingRule {
 public:
  [[nodiscard]] bool verifies_blocks() const override { return true; }
};

/// Several candidates at one position, tried one after the other by recursive rejection: drawn independently [Miao2024,
/// Alg. 2] or without replacement [Chen2024]. The emitted distribution is p, as with one candidate.
class MultiCandidateRule final : public RejectionSamplingRule {
 public:
  explicit MultiCandidateRule(const CandidateScheme& scheme) : scheme_(scheme) {}

  [[nodiscard]] CandidateScheme candidates() const override { return scheme_; }

 private:
  CandidateScheme scheme_;
};

/// A floating-point format in which every elementary operation is rounded.
enum class Format { half, single, full };

double rounded(double value, Format format) {
  switch (format) {
    case Format::half:
      return round_to_half(value);
    case Format::single:
      return static_cast<double>(static_cast<float>(value));
    case Format::full:
      break;
  }
  return value;
}

struct SigmoidScale {
  double low;   ///< a
  double high;  ///< b > a
  double shift;
  Format format;
};

/// Rejection sampling on sigmoids of scaled logits instead of probabilities: p^ = sigma((z_p - a) / (b - a)), the same
/// for q, acceptance min(1, p^ / q^), residual max(0, p^ - q^), normalized [Wagner2024, Eq. 5]. They do not sum to 1,
/// so the emitted distribution is not p. Logits are log p + `shift`. If the residual is empty a token of p is drawn.
class SigmoidApproximationRule final : public VerificationRule {
 public:
  explicit SigmoidApproximationRule(const SigmoidScale& scale)
      : scale_(scale),
        low_(rounded(scale.low, scale.format)),
        width_(round(rounded(scale.high, scale.format) - low_)) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    const double p = sigmoid(drafted.target);
    const double q = sigmoid(drafted.draft);
    if (!(p > 0.0)) return 0.0;  // U q < 0 never holds, including q = 0
    return p >= q ? 1.0 : round(p / q);
  }

  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      distribution[x] = std::max(0.0, round(sigmoid(distributions.target[x]) - sigmoid(distributions.draft[x])));
    }
    if (!normalise(distribution)) std::ranges::copy(distributions.target, distribution.begin());
  }

 private:
  [[nodiscard]] double round(double value) const { return rounded(value, scale_.format); }

  /// Probability 0 is the logit -infinity, whose sigmoid is 0.
  [[nodiscard]] double sigmoid(double probability) const {
    const double logit = round(std::log(probability) + scale_.shift);
    const double scaled = round(round(logit - low_) / width_);
    return round(1.0 / round(1.0 + round(std::exp(-scaled))));
  }

  SigmoidScale scale_;
  double low_;
  double width_;
};

Format format_of(std::int64_t bits) {
  if (bits == 16) return Format::half;
  return bits == 32 ? Format::single : Format::full;
}

/// Accepts every draft: drafting without verification, the extreme of trading exactness for acceptance. The
/// distribution emitted at a tested position is q; the bonus token is the target's.
class AcceptAllRule final : public VerificationRule {
 public:
  [[nodiscard]] double acceptance(const DraftedToken& /*drafted*/, double /*row_statistic*/) const override {
    return 1.0;
  }

  /// Never used.
  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    std::copy(distributions.target.begin(), distributions.target.end(), distribution.begin());
  }
};

}  // namespace

MadeRule make(const RejectionSampling& /*rule*/) { return std::make_unique<RejectionSamplingRule>(); }

MadeRule make(const BlockVerification& /*rule*/) { return std::make_unique<BlockVerificationRule>(); }

MadeRule make(const Lenient& rule) {
  return std::make_unique<LenientRule>(rule.lenience, rule.residual ? rule.lenience : 1.0);
}

MadeRule make(const MultiCandidate& rule) {
  return std::make_unique<MultiCandidateRule>(CandidateScheme{
      .count = rule.candidates,
      .draws = rule.replacement ? CandidateDraws::with_replacement : CandidateDraws::without_replacement});
}

MadeRule make(const SigmoidApproximation& rule) {
  return std::make_unique<SigmoidApproximationRule>(SigmoidScale{
      .low = rule.scale_low, .high = rule.scale_high, .shift = rule.logit_shift, .format = format_of(rule.bits)});
}

MadeRule make(const AcceptAll& /*rule*/) { return std::make_unique<AcceptAllRule>(); }

}  // namespace foredraft::sim::rules
