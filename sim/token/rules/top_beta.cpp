// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Whose probability of the drafted token is compared with the threshold.
enum class Judged { target, drafter };

/// Spec-Verification: accepts a drafted token that is among the target's beta most probable ones and at most a
/// log-likelihood gap below the first, log p(top) - log p(x) <= tolerance; emits the top token otherwise, and after
/// accepted drafts [Xia2023, Eq. 8-10]. Tokens tied at rank beta all count as within it, as in the published
/// inequality. With beta = 1 or tolerance = 0 the rule is greedy_match, which among tied tokens accepts only the first.
///
/// The rule's first publication [Xia2022, Eq. 6-7] has the drafter's probability of the drafted token in both
/// inequalities (with thresholds from the target's tokens), which compares two models' scales. Available as an option;
/// then no setting is greedy_match.
class TopBetaRule final : public TopTokenRule {
 public:
  TopBetaRule(std::int64_t beta, double tolerance, Judged judged)
      : beta_(beta), tolerance_(tolerance), judged_(judged) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The smallest accepted probability; the index of the top token if only that is accepted.
  [[nodiscard]] double row_statistic(const PositionLaws& laws) const override {
    const std::size_t top = row_argmax(laws.target);
    if (greedy()) return static_cast<double>(top);
    std::vector<double> row(laws.target.begin(), laws.target.end());
    const auto last = row.begin() + std::min(static_cast<std::ptrdiff_t>(beta_), std::ssize(row)) - 1;
    std::nth_element(row.begin(), last, row.end(), std::greater<>());
    return std::max(*last, laws.target[top] * std::exp(-tolerance_));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    if (greedy()) return static_cast<double>(drafted.token) == row_statistic ? 1.0 : 0.0;
    const double judged = judged_ == Judged::target ? drafted.target : drafted.draft;
    return judged > 0.0 && judged >= row_statistic ? 1.0 : 0.0;  // a gap to 0 is infinite, even where exp underflows
  }

 private:
  [[nodiscard]] bool greedy() const { return judged_ == Judged::target && (beta_ == 1 || tolerance_ == 0.0); }

  std::int64_t beta_;
  double tolerance_;
  Judged judged_;
};

}  // namespace

MadeRule make(const TopBeta& rule) {
  return std::make_unique<TopBetaRule>(rule.top_beta, rule.tolerance, rule.judged ? Judged::drafter : Judged::target);
}

}  // namespace foredraft::sim::rules
