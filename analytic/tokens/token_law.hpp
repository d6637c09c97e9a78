// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/words.hpp"

/// Acceptance that depends on the position in the draft: everything follows from the marginals
/// m_i = P(draft i and all before it accepted), m_i = prod_{j<=i} a_j with a_j the conditionals.
namespace foredraft::analytic {

/// m from a: running products.
[[nodiscard]] std::vector<double> marginal_from_conditional(std::span<const double> conditional);

/// E[X] of an iteration that drafts `gamma` tokens, gamma <= marginal.size().
/// bonus: 1 + sum_{i<=gamma} m_i; no_bonus: 1 + sum_{i<gamma} m_i.
[[nodiscard]] double tokens_per_iteration(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// P(X = k) at index k - 1, for k = 1..max_tokens(gamma, convention).
[[nodiscard]] std::vector<double> tokens_pmf(std::span<const double> marginal, std::int64_t gamma,
                                             Convention convention);

}  // namespace foredraft::analytic
