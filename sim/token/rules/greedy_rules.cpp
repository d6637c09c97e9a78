// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// The probability of the token of this rank, best first; for ranks beyond the row, of the last token.
double probability_of_rank(std::span<const double> target, std::int64_t rank) {
  std::vector<double> row(target.begin(), target.end());
  const auto last = row.begin() + std::min(static_cast<std::ptrdiff_t>(rank), std::ssize(row)) - 1;
  std::nth_element(row.begin(), last, row.end(), std::greater<>());
  return *last;
}

/// The tokens that are accepted: those hardly less probable to the target than its most probable one.
struct NearTop {
  bool only_best = false;  ///< only the most probable token, the first of those tied; the rest is ignored
  std::int64_t rank = 1;   ///< all tokens tied at this rank qualify
  /// The smallest accepted probability is factor * p(best) - gap, or that of the rank if that is larger.
  double factor = 1.0, gap = 0.0;
  bool judged_by_draft = false;  ///< the drafter's probability of the drafted token is compared, not the target's
};

/// Accepts a drafted token that is one of these, and emits the target's most probable token otherwise and after
/// accepted drafts.
class NearTopRule final : public TopTokenRule {
 public:
  explicit NearTopRule(const NearTop& accepted) : accepted_(accepted) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The smallest accepted probability. If only the best token is accepted, its index, which is exact as a double.
  [[nodiscard]] double row_statistic(const PositionDistributions& distributions) const override {
    const std::size_t best = row_argmax(distributions.target);
    if (accepted_.only_best) return static_cast<double>(best);
    return std::max(probability_of_rank(distributions.target, accepted_.rank),
                    distributions.target[best] * accepted_.factor - accepted_.gap);
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    if (accepted_.only_best) return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
    const double judged = accepted_.judged_by_draft ? drafted.draft : drafted.target;
    // A probability of 0 is never accepted, even if the factor underflows.
    return judged > 0.0 && judged >= row_statistic ? 1.0 : 0.0;
  }

 private:
  NearTop accepted_;
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

/// The target's greedy decoding for every q and every temperature [Stern2018; Xia2023, Eq. 1-3]. This is the target's
/// distribution only at temperature 0, so the rule does not count as lossless.
MadeRule make(const GreedyMatch& /*rule*/) { return std::make_unique<NearTopRule>(NearTop{.only_best = true}); }

/// Spec-Verification: the drafted token must be among the target's beta most probable ones and within a log-likelihood
/// gap of the first, log p(top) - log p(x) <= tolerance [Xia2023, Eq. 8-10]. With beta = 1 or tolerance = 0 the rule is
/// greedy_match.
///
/// The first publication [Xia2022, Eq. 6-7] uses the drafter's probability of the drafted token in both inequalities,
/// which compares the scales of two models. This is an option; with it, no setting equals greedy_match.
MadeRule make(const TopBeta& rule) {
  return std::make_unique<NearTopRule>(
      NearTop{.only_best = !rule.judged && (rule.top_beta == 1 || rule.tolerance == 0.0),
              .rank = rule.top_beta,
              .factor = std::exp(-rule.tolerance),
              .judged_by_draft = rule.judged});
}

/// TensorRT-LLM's relaxed acceptance (relaxed_topk and relaxed_delta): the drafted token must be among the target's n
/// most probable ones and at most delta less probable than the first, p(x) >= max p - delta. With n = 1 the rule is
/// greedy_match.
MadeRule make(const TopNDelta& rule) {
  return std::make_unique<NearTopRule>(
      NearTop{.only_best = rule.relaxed_topk == 1, .rank = rule.relaxed_topk, .gap = rule.relaxed_delta});
}

MadeRule make(const TypicalAcceptance& rule) {
  return std::make_unique<TypicalAcceptanceRule>(rule.epsilon, rule.delta > 0.0 ? rule.delta : std::sqrt(rule.epsilon));
}

}  // namespace foredraft::sim::rules
