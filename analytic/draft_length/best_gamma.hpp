// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "core/decoding_cost.hpp"
#include "foredraft/words.hpp"

/// Best draft length: maximizes speedup = tokens / (1 + draft passes * c).
namespace foredraft::analytic {

/// Parameters of the optimization.
struct IidSetting {
  double alpha;  ///< acceptance probability, in [0, 1]
  double c;      ///< time of a draft step divided by that of a decode step, >= 0 and finite
  Convention convention;
  Drafting drafting;
};

struct BestGamma {
  std::optional<std::int64_t> gamma;  ///< empty: unbounded; longer is always better
  double speedup{};                   ///< at gamma, or its limit, which may be +infinity
};

/// The optimal integer gamma, ties to the smaller one; exact for every alpha and c.
///
/// Autoregressive drafting: one more draft pays while H < K, H(n) = sum_{m=1}^{n} (alpha^-m - 1), so
///   bonus     gamma* = min{gamma >= 0 : 1 + H(gamma + 1) >= 1/c}, which is 0 iff c >= alpha;
///   no_bonus  gamma* = min{gamma >= 1 : H(gamma) >= 1/c}, possibly a loss.
/// Unbounded for c = 0 < alpha and for alpha = 1 (bonus: only if c < 1). Block drafting costs 1 + c for any gamma >= 1:
/// unbounded with the limit 1/((1-alpha)(1+c)) if that exceeds 1 (no_bonus: if alpha > 0), else the smallest gamma.
/// Free drafting is block drafting at c = 0.
[[nodiscard]] BestGamma best_gamma(const IidSetting& setting);

/// The optimal gamma for position-dependent acceptance by the rule m_(n) * cost > c * tokens, which is exact because
/// marginals never increase. Requires at least one marginal; the result is at most marginal.size(). c >= 0.
[[nodiscard]] BestGamma best_gamma(std::span<const double> marginal, double c, Convention convention,
                                   Drafting drafting);

/// The optimal gamma for a scenario's acceptance and a cost whose `iteration` does not depend on gamma. Unbounded if
/// longer drafts cost nothing and the marginals never reach 0. nullopt unless acceptance is i.i.d. or depends only on
/// the position.
[[nodiscard]] std::optional<BestGamma> best_gamma(const DraftedAcceptance& drafted, const DecodingCost& cost,
                                                  Convention convention, Drafting drafting);

/// The real-valued maximizer over gamma >= min_gamma: x = a n the positive root of e^x - 1 - x = a K, a = -log(alpha),
/// gamma = n - 1 and K = (1-c)/c with a bonus token, gamma = n and K = 1/c without. Nullopt for block and free
/// drafting, and if the optimum is unbounded.
[[nodiscard]] std::optional<double> real_gamma(const IidSetting& setting);

/// Speedup of an oracle that drafts exactly the tokens that will be accepted, with c = draft_ratio(cost):
/// 1 / (1 - alpha (1 - c)) / cost.iteration, at least 1. Without a bonus token it also drafts the token that is
/// corrected: 1 / (1 - alpha + c) / cost.iteration. Infinite for alpha = 1, c = 0. Autoregressive drafting.
/// [Leviathan2023, Sec. 3.5]
[[nodiscard]] double oracle_speedup(double alpha, const DecodingCost& cost, Convention convention = Convention::bonus);

/// Break-even alpha of `gamma` >= 1 drafts (speedup 1); nullopt if even alpha = 1 does not pay.
[[nodiscard]] std::optional<double> break_even_alpha(std::int64_t gamma, double c, Convention convention,
                                                     Drafting drafting);

/// Break-even c of `gamma` >= 1 drafts that yield these tokens (>= 1): (tokens - 1) / passes; infinite for free
/// drafting.
[[nodiscard]] double break_even_c(double tokens_per_iteration, std::int64_t gamma, Drafting drafting);

/// First and last gamma around a finite optimum with a speedup of at least (1 - fraction) of the best. `last` is
/// limited to 2^62, or to the optimum if that is larger.
struct NearBestRange {
  std::int64_t first;
  std::int64_t last;
};
/// Nullopt for an unbounded optimum. fraction in [0, 1].
[[nodiscard]] std::optional<NearBestRange> near_best_gamma(const IidSetting& setting, double fraction);

// ---- Best draft length for any acceptance process and a verification time that is linear in its tokens: tokens are
// concave in gamma, so the speedup has one maximum. Derivation in docs/model.md.

/// Speedup at gamma `first` to `last`; must be nondecreasing up to its maximum and nonincreasing after it.
struct OneMaximum {
  std::function<double(std::int64_t gamma)> speedup;
  std::int64_t first;
  std::int64_t last;
};

/// The smallest gamma with the maximum speedup, up to rounding; nullopt if the speedup increases up to `last`.
[[nodiscard]] std::optional<std::int64_t> best_gamma(const OneMaximum& speedups);

/// The range of gamma around `best` with a speedup of at least (1 - fraction) of that at `best`. fraction in [0, 1].
[[nodiscard]] NearBestRange near_best_gamma(const OneMaximum& speedups, std::int64_t best, double fraction);

// ---- Draft lengths for measured costs of an iteration without a formula.

/// Index of the smallest draft length whose speedup reaches (1 - fraction) of the largest. At least one entry, each
/// finite and > 0; fraction in [0, 1].
[[nodiscard]] std::size_t first_near_best(std::span<const double> speedups, double fraction);

/// Break-even alpha of i.i.d. acceptance for `gamma` >= 1 drafts: 0 if any alpha pays, nullopt if none does.
[[nodiscard]] std::optional<double> break_even_alpha(const MeasuredIteration& iteration, std::int64_t gamma,
                                                     Convention convention);

/// Break-even time of one of `passes` >= 1 draft passes relative to plain_time; nullopt if even free drafts do not pay.
[[nodiscard]] std::optional<double> break_even_c(const MeasuredIteration& iteration, double tokens_per_iteration,
                                                 std::int64_t passes);

}  // namespace foredraft::analytic
