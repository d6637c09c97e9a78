// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "foredraft/words.hpp"

/// Distribution of the tokens X of one iteration. Functions of the marginals m_i = P(draft i and all before it
/// accepted), which never increase (acceptance_by_position.hpp), require min_gamma(convention) <= gamma <=
/// marginal.size().
namespace foredraft::analytic {

/// E[X]. bonus: 1 + sum_{i<=gamma} m_i; no_bonus: 1 + sum_{i<gamma} m_i.
[[nodiscard]] double tokens_per_iteration(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(std::span<const double> marginal, std::int64_t gamma, Convention convention);

/// P(X = k) at index k - 1, for k = 1..max_tokens(gamma, convention).
[[nodiscard]] std::vector<double> tokens_pmf(std::span<const double> marginal, std::int64_t gamma,
                                             Convention convention);

/// Variance of X about its mean, in tokens^2, from P(X = k) at index k - 1.
[[nodiscard]] double variance_about(double mean, std::span<const double> pmf);

// ---- The same when each draft is accepted independently with probability alpha.
// [Leviathan2023, Sec. 3.1]; variance, generating function and quantile in docs/model.md.
//
// With n = max_tokens(gamma, convention): P(X >= k) = alpha^(k-1) for 1 <= k <= n.
// Every function is accurate to a few units in the last place for any alpha, including 1 - alpha = 1e-16, and any gamma
// from min_gamma(convention) to 7e18.

/// One iteration under i.i.d. acceptance.
struct IidIteration {
  double alpha;           ///< acceptance probability of one drafted token, in [0, 1]
  std::int64_t gamma;     ///< drafted tokens, >= min_gamma(convention)
  Convention convention;  ///< whether a bonus token follows a fully accepted draft
};

/// E[X] = sum_{k=0}^{n-1} alpha^k, in [1, n].
[[nodiscard]] double tokens_per_iteration(const IidIteration& iteration);

/// Var[X] = [alpha - (2n-1) (1-alpha) alpha^n - alpha^(2n)] / (1-alpha)^2, in tokens^2; computed without cancellation.
[[nodiscard]] double tokens_variance(const IidIteration& iteration);

/// P(X = tokens); 0 outside 1..n.
[[nodiscard]] double tokens_probability(const IidIteration& iteration, std::int64_t tokens);

/// P(X = k) at index k - 1, for k = 1..n.
[[nodiscard]] std::vector<double> tokens_pmf(const IidIteration& iteration);

/// P(X >= tokens); 1 for tokens <= 1.
[[nodiscard]] double tokens_at_least(const IidIteration& iteration, std::int64_t tokens);

/// P(all gamma drafts are accepted) = alpha^gamma.
[[nodiscard]] double all_accepted_probability(const IidIteration& iteration);

/// The alpha of i.i.d. acceptance with `acceptance_length` tokens per iteration, in [1, max_tokens]. Requires gamma >=
/// 1 and max_tokens >= 2; one token does not determine alpha.
[[nodiscard]] double alpha_from_acceptance_length(double acceptance_length, std::int64_t gamma, Convention convention);

/// Long-run means of an iteration whose draft length varies.
struct VaryingYield {
  double tokens;  ///< emitted tokens, including the corrected or bonus token
  double mean_gamma;
};

}  // namespace foredraft::analytic
