// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/words.hpp"

/// Acceptance that depends on the position in the draft. Everything follows from the marginals m_i = P(draft i and all
/// before it accepted), m_i = prod_{j<=i} a_j with a_j the conditionals.
namespace foredraft::analytic {

/// Marginals from conditionals: running products.
[[nodiscard]] std::vector<double> marginal_from_conditional(std::span<const double> conditional);

/// E[X] of an iteration that drafts `gamma` tokens, gamma <= marginal.size().
/// bonus: 1 + sum_{i<=gamma} m_i; no_bonus: 1 + sum_{i<gamma} m_i.
[[nodiscard]] double tokens_per_iteration(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// P(X = k) at index k - 1, for k = 1..max_tokens(gamma, convention).
[[nodiscard]] std::vector<double> tokens_pmf(std::span<const double> marginal, std::int64_t gamma,
                                             Convention convention);

// ---- Distribution of the tokens X of one iteration when each draft is accepted independently with probability alpha.
// [Leviathan2023, Sec. 3.1]; variance, generating function and quantile in docs/model.md.
//
// With n = max_tokens(gamma, convention): P(X >= k) = alpha^(k-1) for 1 <= k <= n.
// Every function is accurate to a few units in the last place for any alpha, including 1 - alpha = 1e-16, and any
// gamma. DomainError for alpha outside [0, 1] or gamma outside min_gamma(convention) to 7e18.

/// One iteration under i.i.d. acceptance.
struct IidIteration {
  double alpha;           ///< acceptance probability of one drafted token, in [0, 1]
  std::int64_t gamma;     ///< drafted tokens, >= min_gamma(convention); 1e6 and more are fine
  Convention convention;  ///< whether a bonus token follows a fully accepted draft
};

/// E[X] = sum_{k=0}^{n-1} alpha^k, in [1, n].
[[nodiscard]] double tokens_per_iteration(const IidIteration& iteration);

/// Var[X] = [alpha - (2n-1) (1-alpha) alpha^n - alpha^(2n)] / (1-alpha)^2, in tokens^2; computed without cancellation.
[[nodiscard]] double tokens_variance(const IidIteration& iteration);

/// P(X = tokens); 0 outside 1..n.
[[nodiscard]] double tokens_probability(const IidIteration& iteration, std::int64_t tokens);

/// P(X >= tokens); 1 for tokens <= 1.
[[nodiscard]] double tokens_at_least(const IidIteration& iteration, std::int64_t tokens);

/// Minimum k >= 1 with P(X <= k) >= level; level in [0, 1]. Exact, including ties.
[[nodiscard]] std::int64_t tokens_quantile(const IidIteration& iteration, double level);

/// P(all gamma drafts are accepted) = alpha^gamma.
[[nodiscard]] double all_accepted_probability(const IidIteration& iteration);

/// E[x^X] for x >= 0; +infinity where it overflows.
[[nodiscard]] double tokens_generating_function(const IidIteration& iteration, double x);

// ---- Drafts whose length varies between iterations: long-run means of an iteration.

/// Long-run means of one iteration. At least one token is drafted unless drafting is free.
struct VaryingYield {
  double tokens;      ///< emitted tokens, including the corrected or bonus token
  double mean_gamma;  ///< drafted
};

/// Draft passes of an iteration.
[[nodiscard]] double mean_draft_passes(const VaryingYield& yield, Drafting drafting);

/// (mean_gamma * operations_ratio + verified positions) / tokens; verified positions are the drafts, plus one per
/// iteration with a bonus token.
[[nodiscard]] double operations_factor(const VaryingYield& yield, double operations_ratio, Convention convention);

/// Accepted divided by drafted tokens with a bonus token, where each iteration emits exactly one token that is not an
/// accepted draft: (tokens - 1) / mean_gamma. NaN without drafts.
[[nodiscard]] double accepted_over_drafted(const VaryingYield& yield);

// ---- Several drafts from one position that share no token but the first: E[X] of an iteration.

/// E[X] of chains that begin with different candidates of one position: `any_first` is the probability that one of
/// these is accepted, `conditional` that of each later token. 1 + P (1 - p^d) / (1 - p), at most 1 + 1 / (1 - p). depth
/// >= 0. [Chen2024, Sec. 3.1]
[[nodiscard]] double chains_tokens(double any_first, double conditional, std::int64_t depth);

/// E[X] of `drafts` independent drafts of gamma tokens, each token accepted with probability alpha, keeping the longest
/// accepted prefix: (gamma + 1) - sum_{i=1}^{gamma} (1 - alpha^i)^drafts. An upper bound in practice: the drafts of one
/// model overlap. gamma from 0 to 10^6, drafts >= 1. [Fu2024, Sec. 4]
[[nodiscard]] double independent_drafts_tokens(double alpha, std::int64_t gamma, std::int64_t drafts);

}  // namespace foredraft::analytic
