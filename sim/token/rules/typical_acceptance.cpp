// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Accepts a drafted token that is likely enough for the entropy of its distribution: p(x) > min(epsilon, delta
/// exp(-H(p))), H in nats [Cai2024]. The source decodes the first token of every iteration greedily and accepts it
/// without a test; here that token is the one emitted after the last accepted draft, so a rejection and the bonus both
/// emit the target's most probable token. At temperature 0 the rule is greedy_match.
class TypicalAcceptanceRule final : public TopTokenRule {
 public:
  TypicalAcceptanceRule(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {}

  [[nodiscard]] bool uses_row_statistic() const override { return true; }

  /// The threshold.
  [[nodiscard]] double row_statistic(const PositionLaws& laws) const override {
    double entropy = 0.0;
    for (const double p : laws.target) entropy -= p > 0.0 ? p * std::log(p) : 0.0;
    return std::min(epsilon_, delta_ * std::exp(-entropy));
  }

  [[nodiscard]] double acceptance(const DraftedToken& drafted, double row_statistic) const override {
    return drafted.target > row_statistic ? 1.0 : 0.0;
  }

 private:
  double epsilon_;
  double delta_;
};

}  // namespace

MadeRule make(const TypicalAcceptance& rule) {
  return std::make_unique<TypicalAcceptanceRule>(rule.epsilon, rule.delta > 0.0 ? rule.delta : std::sqrt(rule.epsilon));
}

}  // namespace foredraft::sim::rules
