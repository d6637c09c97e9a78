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

// ---- Law of the tokens X that one iteration yields when each draft is accepted independently with probability alpha.
// [Leviathan2023, Sec. 3.1]; variance, generating function and quantile in docs/model.md.
//
// With n = max_tokens(gamma, convention): P(X >= k) = alpha^(k-1) for 1 <= k <= n.
// Every function is right to a few units in the last place for any alpha, 1 - alpha = 1e-16 included, and any gamma.
// DomainError for alpha outside [0, 1] or gamma outside min_gamma(convention) to 7e18.

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

/// Smallest k >= 1 with P(X <= k) >= level; level in [0, 1]. Exact, ties included.
[[nodiscard]] std::int64_t tokens_quantile(const IidIteration& iteration, double level);

/// P(all gamma drafts are accepted) = alpha^gamma.
[[nodiscard]] double all_accepted_probability(const IidIteration& iteration);

/// E[x^X] for x >= 0; +infinity where it overflows.
[[nodiscard]] double tokens_generating_function(const IidIteration& iteration, double x);

// ---- Drafts whose length changes from iteration to iteration: what the long-run means of an iteration come to.

/// Long-run means of one iteration. Whatever chooses the length drafts at least one token unless drafting is free.
struct VaryingYield {
  double tokens;      ///< emitted, the corrected or bonus token included
  double mean_gamma;  ///< drafted
};

/// Passes of the drafter in an iteration.
[[nodiscard]] double mean_draft_passes(const VaryingYield& yield, Drafting drafting);

/// (mean_gamma * operations_ratio + verified positions) / tokens; verified are the drafts, and one more position an
/// iteration with a bonus token.
[[nodiscard]] double operations_factor(const VaryingYield& yield, double operations_ratio, Convention convention);

/// Accepted over drafted tokens with a bonus token, where each iteration emits exactly one token that is no accepted
/// draft: (tokens - 1) / mean_gamma. NaN without drafts.
[[nodiscard]] double accepted_over_drafted(const VaryingYield& yield);

// ---- Several drafts of one position onwards that never share a token but the first: E[X] of an iteration.

/// Chains that begin with different candidates of one position: `any_first` is the probability that one of these is
/// accepted, `conditional` that of each later token. 1 + P (1 - p^d) / (1 - p), at most 1 + 1 / (1 - p). depth >= 0.
/// [Chen2024, Sec. 3.1]
[[nodiscard]] double chains_tokens(double any_first, double conditional, std::int64_t depth);

/// `drafts` independent drafts of gamma tokens, each accepted with probability alpha; the longest accepted prefix is
/// kept: (gamma + 1) - sum_{i=1}^{gamma} (1 - alpha^i)^drafts. Optimistic: the drafts of one model overlap. gamma from
/// 0 to 10^6, drafts >= 1. [Fu2024, Sec. 4]
[[nodiscard]] double independent_drafts_tokens(double alpha, std::int64_t gamma, std::int64_t drafts);

}  // namespace foredraft::analytic
