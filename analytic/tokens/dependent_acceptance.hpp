// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "foredraft/words.hpp"

/// Tokens per iteration when acceptance is not i.i.d. Derivations in docs/model.md.
namespace foredraft::analytic {

/// E[X] and Var[X] for alpha ~ Beta(a, b), drawn for each iteration and shared by its drafts. a, b in [1e-100, 1e100].
/// Accurate to 1e-12 for any gamma: running products up to 4096 tokens, quadrature over alpha beyond.
[[nodiscard]] double tokens_per_iteration(const BetaMixture& mixture, std::int64_t gamma, Convention convention);
[[nodiscard]] double tokens_variance(const BetaMixture& mixture, std::int64_t gamma, Convention convention);
/// P(at least k drafts accepted) = E[alpha^k] = (a)_k / (a + b)_k, k >= 0.
[[nodiscard]] double accepted_at_least(const BetaMixture& mixture, std::int64_t k);
/// [k - 1]: P(at least k drafts accepted), k = 1 to `gamma` <= 1e6.
[[nodiscard]] std::vector<double> marginal_of(const BetaMixture& mixture, std::int64_t gamma);

/// Long-run tokens per iteration: [1 + b/(1-a)] / [1 + b a^(n-1) / (1 - a^n)], n = max_tokens(gamma, convention). A run
/// of R accepted positions up to the next rejection takes 1 + floor(R/n) iterations and yields R + 1 tokens. NaN for a
/// = 1, b = 0.
[[nodiscard]] double tokens_per_iteration(const Markov& chain, std::int64_t gamma, Convention convention);

/// Bounds under any stationary acceptance process of mean alpha, n = max_tokens(gamma, convention).
struct TokenBounds {
  double low;   ///< 1 / ((1 - alpha) + alpha / n): rejections in clusters
  double high;  ///< min(n, 1 / (1 - alpha)): rejections evenly spaced
};
[[nodiscard]] TokenBounds any_process_bounds(double alpha, std::int64_t gamma, Convention convention);

}  // namespace foredraft::analytic
