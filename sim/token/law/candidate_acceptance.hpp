// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// Probability that one of a position's candidates is accepted by recursive rejection. With replacement in closed form:
/// 1 - m(c_{k+1}), c_1 = 0, c_{i+1} = c_i + m(c_i), m of ResidualMass; that is 1 - prod (1 - beta_i). Without, a sum
/// over the rejected tokens: O(V log V) for two candidates, V^(k-1) terms for k, and NaN above 2^20 terms.
[[nodiscard]] double candidate_acceptance(const PositionLaws& laws, const CandidateScheme& scheme);

}  // namespace foredraft::sim
