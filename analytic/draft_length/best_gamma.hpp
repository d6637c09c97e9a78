// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "analytic/cost/iteration_cost.hpp"
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

/// Speedup of an oracle that drafts exactly what will be accepted, 1 / (1 - alpha (1 - c)), and decodes
/// autoregressively where that is slower: at least 1; +infinity for alpha = 1, c = 0. Bonus convention, autoregressive
/// drafting. [Leviathan2023, Sec. 3.5]
[[nodiscard]] double oracle_speedup(double alpha, const DecodingCost& cost);

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

// ---- The best draft length of any acceptance process and any verification time that is a line in its tokens. The
// tokens of an iteration are concave in gamma (a later draft never gains more than an earlier one) and its time is
// linear, so that the speedup has one maximum. Derivation in docs/model.md.

/// Speedup at gamma `first` to `last`: rises, or stays, up to its maximum and never rises after it.
struct OneMaximum {
  std::function<double(std::int64_t gamma)> speedup;
  std::int64_t first;
  std::int64_t last;
};

/// The smallest gamma of the greatest speedup, to rounding; nothing where the speedup still rises at `last`. O(log
/// last) speedups.
[[nodiscard]] std::optional<std::int64_t> best_gamma(const OneMaximum& speedups);

/// All gammas around `best` whose speedup is at least (1 - fraction) of that there. fraction in [0, 1].
[[nodiscard]] GammaRange near_best_gamma(const OneMaximum& speedups, std::int64_t best, double fraction);

// ---- Draft lengths where the cost of an iteration is measured and follows no law.

/// The smallest entry of `speedups` that reaches (1 - fraction) of the largest: the draft length to use where the cost
/// of an iteration follows no law, so that all are looked at. At least one entry, each finite and > 0; fraction in [0,
/// 1].
[[nodiscard]] std::size_t first_near_best(std::span<const double> speedups, double fraction);

/// The alpha of i.i.d. acceptance at which `gamma` >= 1 drafts pay: 0 where any does, nothing where none does.
[[nodiscard]] std::optional<double> break_even_alpha(const MeasuredIteration& iteration, std::int64_t gamma,
                                                     Convention convention);

/// The time of one draft pass over plain_time at which an iteration of `passes` >= 1 passes pays; nothing
/// where even free drafts do not.
[[nodiscard]] std::optional<double> break_even_c(const MeasuredIteration& iteration, double tokens_per_iteration,
                                                 std::int64_t passes);

}  // namespace foredraft::analytic
