// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Every draft stands: drafting without verification, the far end of every trade of exactness for acceptance. The law
/// emitted at a tested position is q; the bonus token is the target's.
class AcceptAllRule final : public VerificationRule {
 public:
  [[nodiscard]] double acceptance(const DraftedToken& /*drafted*/, double /*row_statistic*/) const override {
    return 1.0;
  }

  /// Never drawn from.
  void replacement(const PositionLaws& laws, std::span<double> law) const override {
    std::copy(laws.target.begin(), laws.target.end(), law.begin());
  }
};

}  // namespace

MadeRule make(const AcceptAll& /*rule*/) { return std::make_unique<AcceptAllRule>(); }

}  // namespace foredraft::sim::rules
