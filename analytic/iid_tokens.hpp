#pragma once

#include <cstdint>

#include "core/words.hpp"

/// Law of the tokens X that one iteration yields when each draft is accepted independently with probability alpha.
/// [Leviathan2023, Eq. 1]; variance, generating function and quantile in docs/model.md.
///
/// With n = max_tokens(gamma, convention): P(X >= k) = alpha^(k-1) for 1 <= k <= n.
/// Every function throws DomainError for alpha outside [0, 1] or gamma below min_gamma(convention).
namespace foredraft::analytic {

/// One iteration under i.i.d. acceptance.
struct IidIteration {
  double alpha;           ///< acceptance probability of one drafted token, in [0, 1]
  std::int64_t gamma;     ///< drafted tokens, >= min_gamma(convention); 1e6 and more are fine
  Convention convention;  ///< whether a bonus token follows a fully accepted draft
};

/// E[X] = sum_{k=0}^{n-1} alpha^k, in [1, n].
[[nodiscard]] double tokens_per_iteration(const IidIteration& iteration);

/// Var[X], in tokens^2.
[[nodiscard]] double tokens_variance(const IidIteration& iteration);

/// P(X = tokens); 0 outside 1..n.
[[nodiscard]] double tokens_probability(const IidIteration& iteration, std::int64_t tokens);

/// P(X >= tokens); 1 for tokens <= 1.
[[nodiscard]] double tokens_at_least(const IidIteration& iteration, std::int64_t tokens);

/// Smallest k with P(X <= k) >= level; level in [0, 1].
[[nodiscard]] std::int64_t tokens_quantile(const IidIteration& iteration, double level);

/// P(all gamma drafts are accepted) = alpha^gamma.
[[nodiscard]] double all_accepted_probability(const IidIteration& iteration);

/// E[x^X] for x >= 0.
[[nodiscard]] double tokens_generating_function(const IidIteration& iteration, double x);

}  // namespace foredraft::analytic
