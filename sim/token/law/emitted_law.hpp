// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/token/rules/verification_rule.hpp"

/// What a rule does at one position, exactly: the second route to every simulated number, and the measure of lossy
/// rules.
namespace foredraft::sim {

/// sum_x q(x) a(x): the probability that a draft is accepted. For several candidates that one of them is, as
/// candidate_acceptance() has it: NaN where that would take too many terms.
[[nodiscard]] double acceptance_probability(const VerificationRule& rule, const PositionLaws& laws);

/// q(x) a(x) + (1 - sum q a) r(x): the law of the token emitted at a tested position. For a lossless rule it is p.
/// Candidates behind the first one do not change it: recursive rejection emits the replacement's law.
[[nodiscard]] std::vector<double> emitted_law(const VerificationRule& rule, const PositionLaws& laws);

}  // namespace foredraft::sim
