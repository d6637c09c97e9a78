// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rules/verification_rule.hpp"

#include <algorithm>

#include "scenario/family.hpp"

namespace foredraft::sim {

double VerificationRule::row_statistic(const PositionLaws& /*laws*/) const { return 0.0; }

void VerificationRule::bonus(std::span<const double> target, std::span<double> law) const {
  std::copy(target.begin(), target.end(), law.begin());
}

std::unique_ptr<const VerificationRule> make_rule(const Rule& rule, std::int64_t vocabulary) {
  scenario::check_rule(rule, vocabulary);
  return std::visit([](const auto& chosen) { return rules::make(chosen); }, rule);
}

}  // namespace foredraft::sim
