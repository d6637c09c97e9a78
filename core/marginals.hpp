// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

/// Acceptance by position: m_i = P(draft i and all before it accepted) = prod_{j<=i} a_j, a_j the conditionals.
namespace foredraft {

/// Throws DomainError unless these are probabilities that do not increase.
void check_marginal(std::span<const double> marginal);

/// Computes a from m as ratios; 0 if the previous marginal is 0. Throws DomainError if m increases.
[[nodiscard]] std::vector<double> conditional_from_marginal(std::span<const double> marginal);

}  // namespace foredraft
