// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "core/numbers.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

double best_probability(std::span<const double> row) { return row[row_argmax(row)]; }

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
/// App. A.5]. The source does not state the distribution after a rejection. Here it is the residual of p and l q or, as
/// an option, of p and q. In both cases no token is emitted with a probability above p(x) / l, and l = 1 is
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
    write_residual(distributions, residual_lenience_, distribution);
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
/// Alg. 2] or without replacement [Chen2024]. The emitted distribution is p, as with one candidate. In a tree of drafts
/// they are the children of a node; only children of accepted nodes are tried, so only these are drawn.
class MultiCandidateRule final : public RejectionSamplingRule {
 public:
  explicit MultiCandidateRule(MultiCandidate rule)
      : rule_(std::move(rule)), varies_(std::ranges::any_of(rule_.widths, [this](double width) {
          return width != static_cast<double>(rule_.candidates);
        })) {}

  [[nodiscard]] CandidateScheme candidates(std::int64_t depth) const override {
    return {.count = depth <= std::ssize(rule_.widths)
                         ? static_cast<std::int64_t>(rule_.widths[static_cast<std::size_t>(depth) - 1])
                         : rule_.candidates,
            .draws = rule_.replacement ? CandidateDraws::with_replacement : CandidateDraws::without_replacement,
            .varies = varies_};
  }

 private:
  MultiCandidate rule_;
  bool varies_;
};

/// Several candidates, each accepted with probability min(1, p / (rho q)). rho >= 1 is the smallest value for which the
/// residual of p is nonnegative [Sun2023, Alg. 2]: with b = sum min(q, p / rho), the root of 1 - (1 - b)^k = rho b in
/// [1, k]. The emitted distribution is p.
class KSeqRule final : public VerificationRule {
 public:
  explicit KSeqRule(std::int64_t count) : count_(count) {}

  [[nodiscard]] CandidateScheme candidates(std::int64_t /*depth*/) const override {
    return {.count = count_, .draws = CandidateDraws::with_replacement, .tested_alike = true};
  }

  [[nodiscard]] bool uses_row_statistic() const override { return count_ > 1; }

  /// rho, rounded so that it is not below the root; larger values are valid too.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    const auto k = static_cast<double>(count_);
    const auto excess = [&](double rho) {  // acceptance minus rho b
      double rest = 0.0;
      double rejected = 0.0;
      for (std::size_t x = 0; x < distributions.target.size(); ++x) {
        rest += std::max(0.0, distributions.target[x] - rho * distributions.draft[x]);
        rejected += std::max(0.0, distributions.draft[x] - distributions.target[x] / rho);
      }
      return rest - std::pow(rejected, k);
    };
    const double first = excess(1.0);
    const double last = excess(k);
    if (!(first > 0.0)) return 1.0;
    if (!(last < 0.0)) return k;
    std::uintmax_t evaluations = 200;
    const double root = boost::math::tools::toms748_solve(excess, 1.0, k, first, last,
                                                          boost::math::tools::eps_tolerance<double>(), evaluations)
                            .second;
    constexpr double round_off = 4.0 * std::numeric_limits<double>::epsilon();
    return root * (1.0 + round_off * k);
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    const double demanded = (count_ > 1 ? row_statistic : 1.0) * drafted.draft;
    return drafted.target >= demanded ? 1.0 : drafted.target / demanded;
  }

  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    if (count_ == 1) return write_residual(distributions, 1.0, distribution);
    const double rho = row_statistic(distributions);
    double accepted = 0.0;
    double rejected = 0.0;
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      const double p = distributions.target[x];
      const double q = distributions.draft[x];
      const double a = q > 0.0 ? acceptance({.token = static_cast<Token>(x), .target = p, .draft = q}, rho) : 0.0;
      distribution[x] = q * a;
      accepted += q * a;
      rejected += q * (1.0 - a);
    }
    // A candidate is accepted and is x with probability q(x) a(x) (1 - (1 - b)^k) / b.
    const double share = accepted > 0.0 ? (1.0 - std::pow(rejected, static_cast<double>(count_))) / accepted : 0.0;
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      distribution[x] = std::max(0.0, distributions.target[x] - distribution[x] * share);
    }
    if (!normalize(distribution)) std::ranges::copy(distributions.target, distribution.begin());
  }

 private:
  std::int64_t count_;
};

/// Speculative cascade: accepts the draft if the drafter is trusted, and applies rejection sampling if the decision is
/// deferred to the target [Narasimhan2025]. The emitted distribution is q or p, depending on the context. The paper
/// decides by the distributions before the temperature; here, as in all rules, after it. The bonus token is the
/// target's.
class CascadeRule final : public VerificationRule {
 public:
  /// The drafter is trusted if the probability of its best token is at least the demanded one.
  using Demanded = std::function<double(const PositionDistributions& distributions)>;

  explicit CascadeRule(Demanded demanded) : demanded_(std::move(demanded)) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// 1 if the decision is deferred to the target, else 0.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    return best_probability(distributions.draft) < demanded_(distributions) ? 1.0 : 0.0;
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return row_statistic == 0.0 || drafted.target >= drafted.draft ? 1.0 : drafted.target / drafted.draft;
  }

  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    write_residual(distributions, 1.0, distribution);
  }

 private:
  Demanded demanded_;
};

/// SGLang's test of a draft (sgl-kernel, tree_speculative_sampling_target_only, SGLang 0.5.17) with one candidate per
/// position: U <= p(x) / threshold_acc or p(x) >= threshold_single; q is not used. A rejection is replaced by a draw
/// from p without the rejected token, normalized. With both thresholds 1 the emitted distribution is p for every q. In
/// SGLang, the probabilities of siblings in a tree are added up and compared with one U; here positions have no
/// siblings.
class SglangThresholdsRule final : public VerificationRule {
 public:
  SglangThresholdsRule(double single, double cumulated) : single_(single), cumulated_(cumulated) {}

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double /*row_statistic*/) const override {
    return accepted(drafted.target);
  }

  /// The mean over the rejected token x, which has weight w(x) = q(x) (1 - a(x)): p(y) (sum over x != y of w(x) / (1 -
  /// p(x))).
  void replacement(const PositionDistributions& distributions, std::span<double> distribution) const override {
    double sum = 0.0;
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      const double p = distributions.target[x];
      distribution[x] = p < 1.0 ? distributions.draft[x] * (1.0 - accepted(p)) / (1.0 - p) : 0.0;
      sum += distribution[x];
    }
    for (std::size_t y = 0; y < distribution.size(); ++y) {
      distribution[y] = distributions.target[y] * std::max(0.0, sum - distribution[y]);
    }
    if (!normalize(distribution)) std::ranges::copy(distributions.target, distribution.begin());
  }

 private:
  [[nodiscard]] double accepted(double p) const { return p >= single_ || p >= cumulated_ ? 1.0 : p / cumulated_; }

  double single_;
  double cumulated_;
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
/// for q, acceptance min(1, p^ / q^), residual max(0, p^ - q^), normalized [Wagner2024, Eq. 5]. p^ and q^ do not sum to
/// 1, so the emitted distribution is not p. Logits are log p + `shift`. If the residual is empty, a token is drawn from
/// p.
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
    if (!normalize(distribution)) std::ranges::copy(distributions.target, distribution.begin());
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

/// Accepts every draft without verification. The distribution emitted at a tested position is q; the bonus token is the
/// target's.
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

MadeRule make(const KSeq& rule) { return std::make_unique<KSeqRule>(rule.candidates); }

MadeRule make(const CascadeChow& rule) {
  return std::make_unique<CascadeRule>(
      [demanded = 1.0 - rule.margin](const PositionDistributions& /*distributions*/) { return demanded; });
}

MadeRule make(const CascadeDiff& rule) {
  return std::make_unique<CascadeRule>([margin = rule.margin](const PositionDistributions& distributions) {
    return best_probability(distributions.target) - margin;
  });
}

MadeRule make(const CascadeOpt& rule) {
  return std::make_unique<CascadeRule>([margin = rule.margin](const PositionDistributions& distributions) {
    const double total_variation = 1.0 - overlap(distributions.target, distributions.draft);
    return best_probability(distributions.target) - margin * total_variation;
  });
}

MadeRule make(const SglangThresholds& rule) {
  return std::make_unique<SglangThresholdsRule>(rule.threshold_single, rule.threshold_acc);
}

MadeRule make(const MultiCandidate& rule) { return std::make_unique<MultiCandidateRule>(rule); }

MadeRule make(const SigmoidApproximation& rule) {
  return std::make_unique<SigmoidApproximationRule>(SigmoidScale{
      .low = rule.scale_low, .high = rule.scale_high, .shift = rule.logit_shift, .format = format_of(rule.bits)});
}

MadeRule make(const AcceptAll& /*rule*/) { return std::make_unique<AcceptAllRule>(); }

}  // namespace foredraft::sim::rules
