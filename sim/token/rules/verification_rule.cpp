// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/verification_rule.hpp"

#include <algorithm>

namespace foredraft::sim {

double VerificationRule::row_statistic(const PositionLaws& /*laws*/) const { return 0.0; }

void VerificationRule::bonus(std::span<const double> target, std::span<double> law) const {
  std::copy(target.begin(), target.end(), law.begin());
}

}  // namespace foredraft::sim
