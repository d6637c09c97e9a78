// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "foredraft/words.hpp"

/// Tokens per iteration when acceptance is not i.i.d. Derivations in docs/model.md.
namespace foredraft::analytic {

/// E[X] and Var[X] for alpha ~ Beta(a, b), drawn for each iteration and shared by its drafts. a, b in [1e-100, 1e100].
/// Accurate to 1e-12 for any gamma: running products up to 4096 tokens, quadrature over alpha beyond.
struct BetaMixture {
  double a;
  double b;
};
[[nodiscard]] double tokens_per_iteration(const BetaMixture& mixture, std::int64_t gamma, Convention convention);
[[nodiscard]] double tokens_variance(const BetaMixture& mixture, std::int64_t gamma, Convention convention);
/// P(at least k drafts accepted) = E[alpha^k] = (a)_k / (a + b)_k, k >= 0.
[[nodiscard]] double accepted_at_least(const BetaMixture& mixture, std::int64_t k);
/// The same for k = 1 to `gamma` <= 1e6, at [k - 1].
[[nodiscard]] std::vector<double> marginal_of(const BetaMixture& mixture, std::int64_t gamma);

/// Stationary two-state chain over token positions: would the draft at this position be accepted?
struct MarkovAcceptance {
  double a;  ///< P(accept | previous position accepted)
  double b;  ///< P(accept | previous position rejected)
};
/// Fraction of accepted positions, b / (1 - a + b). NaN for a = 1, b = 0 (two closed states).
[[nodiscard]] double stationary_alpha(const MarkovAcceptance& chain);
/// Long-run tokens per iteration: [1 + b/(1-a)] / [1 + b a^(n-1) / (1 - a^n)], n = max_tokens(gamma, convention). A run
/// of R accepted positions up to the next rejection takes 1 + floor(R/n) iterations and yields R + 1 tokens. NaN for a
/// = 1, b = 0.
[[nodiscard]] double tokens_per_iteration(const MarkovAcceptance& chain, std::int64_t gamma, Convention convention);

/// Bounds of the tokens per iteration under any stationary acceptance process of mean alpha, n = max_tokens(gamma,
/// convention).
struct TokenBounds {
  double low;   ///< 1 / ((1 - alpha) + alpha / n): rejections in clusters
  double high;  ///< min(n, 1 / (1 - alpha)): rejections evenly spaced
};
[[nodiscard]] TokenBounds any_process_bounds(double alpha, std::int64_t gamma, Convention convention);

/// Tokens per iteration if alpha varies between prompts with mean alpha-bar: 1 / E[1/tau(alpha)] <= tau(alpha-bar) <=
/// E[tau(alpha)].
struct JensenSandwich {
  double ratio_of_totals;  ///< 1 / E[1 / tau(alpha)]: equal tokens per prompt
  double at_mean;          ///< tau(alpha-bar)
  double mean_of_ratios;   ///< E[tau(alpha)]
};
[[nodiscard]] JensenSandwich jensen_sandwich(const BetaMixture& alpha_distribution, std::int64_t gamma,
                                             Convention convention);

/// E[f(alpha, 1 - alpha)] for alpha ~ Beta(a, b), a, b > 0, by double-exponential quadrature on both sides of the mode.
/// Accurate to about 1e-13 for positive f that are smooth on a logarithmic scale of alpha and of 1 - alpha. Internal to
/// analytic.
///
/// f receives 1 - alpha with full precision, as alpha itself may round to 1. Boundary layers such as that of alpha^n at
/// 1 - alpha = 1/n cost nothing extra, nor do sharp modes, up to a, b of about 1e12.
[[nodiscard]] double beta_expectation(double a, double b, const std::function<double(double, double)>& f);

}  // namespace foredraft::analytic
