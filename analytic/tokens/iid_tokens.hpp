// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foredraft/words.hpp"

/// Law of the tokens X that one iteration yields when each draft is accepted independently with probability alpha.
/// [Leviathan2023, Sec. 3.1]; variance, generating function and quantile in docs/model.md.
///
/// With n = max_tokens(gamma, convention): P(X >= k) = alpha^(k-1) for 1 <= k <= n.
/// Every function is right to a few units in the last place for any alpha, 1 - alpha = 1e-16 included, and any gamma.
/// DomainError for alpha outside [0, 1] or gamma outside min_gamma(convention) to 7e18.
namespace foredraft::analytic {

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

}  // namespace foredraft::analytic
