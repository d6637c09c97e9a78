// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim::rules {
namespace {

/// Accepts every draft: drafting without verification, the extreme of trading exactness for acceptance. The
/// distribution emitted at a tested position is q; the bonus token is the target's.
class AcceptAllRule final : public VerificationRule {
 public:
  [[nodiscard]] double acceptance(const DraftedToken& /*drafted*/, double /*row_statistic*/) const override {
    return 1.0;
  }

  /// Never used.
  void replacement(const PositionLaws& laws, std::span<double> law) const override {
    std::copy(laws.target.begin(), laws.target.end(), law.begin());
  }
};

}  // namespace

MadeRule make(const AcceptAll& /*rule*/) { return std::make_unique<AcceptAllRule>(); }

}  // namespace foredraft::sim::rules
