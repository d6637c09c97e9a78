// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Accepts the draft if it is the target's most probable token; emits that token otherwise and after accepted drafts
/// [Stern2018; Xia2023, Eq. 1-3]. The output is the target's greedy decoding for every q and every temperature. This is
/// the target's distribution only at temperature 0, so the rule does not count as lossless.
class GreedyMatchRule final : public TopTokenRule {
 public:
  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The index of the most probable token: an integer below 2^53, so exact.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    return static_cast<double>(row_argmax(distributions.target));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
  }
};

/// The probability of the token of this rank, best first; for ranks beyond the row, of the last token.
double probability_of_rank(std::span<const double> target, std::int64_t rank) {
  std::vector<double> row(target.begin(), target.end());
  const auto last = row.begin() + std::min(static_cast<std::ptrdiff_t>(rank), std::ssize(row)) - 1;
  std::nth_element(row.begin(), last, row.end(), std::greater<>());
  return *last;
}

/// The model that provides the drafted token's probability.
enum class Judged { target, drafter };

/// Spec-Verification: accepts a drafted token that is among the target's beta most probable ones and within a
/// log-likelihood gap of the first, log p(top) - log p(x) <= tolerance [Xia2023, Eq. 8-10]. All tokens tied at rank
/// beta qualify. With beta = 1 or tolerance = 0 the rule is greedy_match.
///
/// The first publication [Xia2022, Eq. 6-7] uses the drafter's probability of the drafted token in both inequalities,
/// which compares the scales of two models. This is an option; with it, no setting equals greedy_match.
class TopBetaRule final : public TopTokenRule {
 public:
  TopBetaRule(std::int64_t beta, double tolerance, Judged judged)
      : beta_(beta), tolerance_(tolerance), judged_(judged) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The smallest accepted probability; the index of the top token if only that is accepted.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    const std::size_t top = row_argmax(distributions.target);
    if (greedy()) return static_cast<double>(top);
    return std::max(probability_of_rank(distributions.target, beta_),
                    distributions.target[top] * std::exp(-tolerance_));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    if (greedy()) return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
    const double judged = judged_ == Judged::target ? drafted.target : drafted.draft;
    return judged > 0.0 && judged >= row_statistic ? 1.0 : 0.0;  // a gap to 0 is infinite, even if exp underflows
  }

 private:
  [[nodiscard]] bool greedy() const { return judged_ == Judged::target && (beta_ == 1 || tolerance_ == 0.0); }

  std::int64_t beta_;
  double tolerance_;
  Judged judged_;
};

/// TensorRT-LLM's relaxed acceptance (relaxed_topk and relaxed_delta): accepts a drafted token that is
/// among the target's n most probable ones and at most delta less probable than the first, p(x) >= max p - delta. All
/// tokens tied at rank n qualify; with n = 1 the rule is greedy_match.
class TopNDeltaRule final : public TopTokenRule {
 public:
  TopNDeltaRule(std::int64_t n, double delta) : n_(n), delta_(delta) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The smallest accepted probability; the index of the top token if only that is accepted.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    const std::size_t top = row_argmax(distributions.target);
    if (n_ == 1) return static_cast<double>(top);
    return std::max(probability_of_rank(distributions.target, n_), distributions.target[top] - delta_);
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    if (n_ == 1) return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
    return drafted.target > 0.0 && drafted.target >= row_statistic ? 1.0 : 0.0;
  }

 private:
  std::int64_t n_;
  double delta_;
};

/// Accepts a drafted token if p(x) > min(epsilon, delta exp(-H(p))), H the entropy in nats [Cai2024]. The paper accepts
/// the first token of every iteration without a test; here it is the token after the last accepted draft, the target's
/// most probable one.
class TypicalAcceptanceRule final : public TopTokenRule {
 public:
  TypicalAcceptanceRule(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The threshold.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    return std::min(epsilon_, delta_ * std::exp(-row_entropy(distributions.target)));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return drafted.target > row_statistic ? 1.0 : 0.0;
  }

 private:
  double epsilon_;
  double delta_;
};

}  // namespace

MadeRule make(const GreedyMatch& /*rule*/) { return std::make_unique<GreedyMatchRule>(); }

MadeRule make(const TopBeta& rule) {
  return std::make_unique<TopBetaRule>(rule.top_beta, rule.tolerance, rule.judged ? Judged::drafter : Judged::target);
}

MadeRule make(const TopNDelta& rule) { return std::make_unique<TopNDeltaRule>(rule.relaxed_topk, rule.relaxed_delta); }

MadeRule make(const TypicalAcceptance& rule) {
  return std::make_unique<TypicalAcceptanceRule>(rule.epsilon, rule.delta > 0.0 ? rule.delta : std::sqrt(rule.epsilon));
}

}  // namespace foredraft::sim::rules
