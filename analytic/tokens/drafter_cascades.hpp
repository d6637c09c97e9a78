// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analytic/tokens/token_count.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/words.hpp"

/// Drafters that combine several: rounds of an inner drafter, and several drafts verified at once. Derivations in
/// docs/model.md.
namespace foredraft::analytic {

// ---- Staged drafting [Spector2023; Chen2023cascade]. A round of k inner drafts adds J = 1 + (accepted inner drafts)
// tokens to the draft, P(J > i) = inner_alpha^i for i <= k. A draft of at most gamma tokens takes ceil(gamma / (k + 1))
// rounds; the target then accepts each token independently with probability alpha.

/// Long-run tokens of an iteration and the mean length N of its draft. With a bonus token E[X] = (1 - alpha
/// E[alpha^N]) / (1 - alpha), E[alpha^N] the product of the rounds' generating functions; without one E[X] = (1 -
/// E[alpha^N]) / (1 - alpha). Computed without cancellation, alpha = 1 included, in O(1). alpha in [0, 1], gamma >= 1.
[[nodiscard]] VaryingYield staged_tokens(const StagedDrafter& drafter, double alpha, std::int64_t gamma,
                                         Convention convention);

/// [k - 1]: P(more than k tokens), k = 1 to `gamma` <= max_staged_gamma. Used as marginal in the functions of
/// token_count.hpp. O(gamma^2).
[[nodiscard]] std::vector<double> staged_tokens_beyond(const StagedDrafter& drafter, double alpha, std::int64_t gamma,
                                                       Convention convention);

// ---- Several independent drafts, of which the longest accepted one is kept [Fu2024].

/// [i]: P(token i and all before it are accepted in at least one of `drafts` >= 1 drafts) = 1 - (1 - m_i)^drafts.
[[nodiscard]] std::vector<double> marginal_of_longest(std::span<const double> marginal, std::int64_t drafts);

}  // namespace foredraft::analytic
