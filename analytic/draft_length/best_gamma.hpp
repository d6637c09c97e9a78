// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "foredraft/words.hpp"

/// The draft length that maximises speedup = tokens / (1 + draft passes * c).
namespace foredraft::analytic {

/// The setting of the question.
struct IidSetting {
  double alpha;  ///< acceptance probability, in [0, 1]
  double c;      ///< draft/target time of one step, >= 0 and finite
  Convention convention;
  Drafting drafting;
};

struct BestGamma {
  std::optional<std::int64_t> gamma;  ///< nothing: unbounded, longer is always better
  double speedup{};                   ///< at gamma, or its limit, which may be +infinity
};

/// The integer optimum by its closed rule, ties to the smaller gamma; exact for every alpha and c, no grid and no cap.
///
/// Autoregressive drafting: one more draft pays while H < K, H(n) = sum_{m=1}^{n} (alpha^-m - 1), so
///   bonus     gamma* = min{gamma >= 0 : 1 + H(gamma + 1) >= 1/c}, which is 0 (speculation does not pay) iff c >=
///   alpha; no_bonus  gamma* = min{gamma >= 1 : H(gamma) >= 1/c}, possibly a loss. Unbounded for c = 0 < alpha (limit
///   1/(1-alpha)) and for alpha = 1 (limit 1/c; bonus: only if c < 1).
/// Block drafting costs 1 + c for any gamma >= 1, so the optimum is the smallest gamma or unbounded, with the limit
///   1/((1-alpha)(1+c)), +infinity for alpha = 1:
///   bonus     unbounded iff that limit exceeds 1, i.e. c (1-alpha) < alpha; otherwise 0;
///   no_bonus  unbounded iff alpha > 0; otherwise 1.
/// Free drafting is block drafting at c = 0.
[[nodiscard]] BestGamma best_gamma(const IidSetting& setting);

/// The same for position-dependent acceptance, by the marginal rule m_(n) * cost > c * tokens, which is exact because
/// the marginals never rise; at most marginal.size() and therefore never unbounded.
[[nodiscard]] BestGamma best_gamma(std::span<const double> marginal, double c, Convention convention,
                                   Drafting drafting);

/// The real-valued maximiser over gamma >= min_gamma: with a = -log(alpha), x = a n the positive root of e^x - 1 - x =
/// a K, gamma = n - 1 and K = (1-c)/c with a bonus token, gamma = n and K = 1/c without; min_gamma where this lies
/// below it or there is no such root, because the speedup then falls from there on. Nothing for block and free
/// drafting, and where the optimum is unbounded.
[[nodiscard]] std::optional<double> real_gamma(const IidSetting& setting);

/// Speedup of an oracle that drafts exactly what will be accepted: 1 / (1 - alpha (1 - c)); +infinity for alpha = 1, c
/// = 0. Bonus convention, autoregressive drafting. [Leviathan2023, Sec. 3.5]
[[nodiscard]] double oracle_speedup(double alpha, double c);

/// Smallest alpha at which `gamma` drafts pay (speedup 1); nothing where even alpha = 1 does not. gamma >= 1.
[[nodiscard]] std::optional<double> break_even_alpha(std::int64_t gamma, double c, Convention convention,
                                                     Drafting drafting);

/// Largest c at which an iteration of `gamma` drafts with this many tokens pays: (tokens - 1) / draft passes, +infinity
/// for free drafting. gamma >= 1, tokens >= 1.
[[nodiscard]] double break_even_c(double tokens_per_iteration, std::int64_t gamma, Drafting drafting);

/// First and last gamma around a finite optimum whose speedup is at least (1 - fraction) of the best (0.01: 1 %),
/// exactly. `last` is 2^62, or an optimum beyond, where no end lies below that. Block drafting: the optimum alone, or
/// with everything beyond it.
struct GammaRange {
  std::int64_t first;
  std::int64_t last;
};
/// Nothing for an unbounded optimum. fraction in [0, 1].
[[nodiscard]] std::optional<GammaRange> near_best_gamma(const IidSetting& setting, double fraction);

}  // namespace foredraft::analytic
