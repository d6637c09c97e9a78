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

/// Whose probability of the drafted token has to pass the threshold.
enum class Judged { target, drafter };

/// Spec-Verification: accept a drafted token that is among the target's beta most probable ones and not more than a
/// log-likelihood gap below the first, log p(top) - log p(x) <= tolerance; otherwise, and behind accepted drafts, emit
/// the top token [Xia2023, Eq. 8-10]. Tokens tied at rank beta all count as within it, as the published inequality has
/// it. With beta = 1 or tolerance = 0 the rule is greedy_match, where of tied tokens the first alone is right.
///
/// The rule's first publication [Xia2022, Eq. 6-7] prints the drafter's probability of the drafted token in both
/// inequalities (the target's tokens still set the thresholds), which compares two models' scales. Kept on request;
/// then no setting is greedy_match.
class TopBetaRule final : public TopTokenRule {
 public:
  TopBetaRule(std::int64_t beta, double tolerance, Judged judged)
      : beta_(beta), tolerance_(tolerance), judged_(judged) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The smallest probability that is accepted; where only the top token is, its index.
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
