#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/words.hpp"

/// The draft length that maximises speedup = tokens / (1 + draft passes * c).
namespace foredraft::analytic {

/// The setting of the question.
struct IidSetting {
  double alpha;           ///< acceptance probability, in [0, 1]
  double c;               ///< draft/target time of one step, >= 0 and finite
  Convention convention;
  Drafting drafting;
};

struct BestGamma {
  std::optional<std::int64_t> gamma;  ///< nothing: unbounded, longer is always better
  double speedup;                     ///< at gamma, or its limit; +infinity for alpha = 1, c = 0
};

/// The integer optimum by its closed rule: gamma* = min{gamma : h(gamma) >= 1/c},
/// h(gamma) = 1 + sum_{m=1}^{gamma+1} (alpha^-m - 1) for autoregressive drafting with a bonus token. Ties go to the
/// smaller gamma. Under `bonus` the answer may be 0 (speculation does not pay); under `no_bonus` it is at least 1.
[[nodiscard]] BestGamma best_gamma(const IidSetting& setting);

/// The same for position-dependent acceptance; at most marginal.size().
[[nodiscard]] BestGamma best_gamma(std::span<const double> marginal, double c, Convention convention,
                                   Drafting drafting);

/// The real-valued maximiser; nothing where there is none (unbounded, alpha = 0, c = 0, c > 1, block drafting).
[[nodiscard]] std::optional<double> real_gamma(const IidSetting& setting);

/// Speedup of an oracle that drafts exactly what will be accepted: 1 / (1 - alpha (1 - c)); +infinity for alpha = 1, c = 0.
/// Bonus convention, autoregressive drafting. [Leviathan2023, Sec. 3.5]
[[nodiscard]] double oracle_speedup(double alpha, double c);

/// Smallest alpha at which `gamma` drafts pay (speedup 1); nothing where even alpha = 1 does not. gamma >= 1.
[[nodiscard]] std::optional<double> break_even_alpha(std::int64_t gamma, double c, Convention convention,
                                                     Drafting drafting);

/// Largest c at which an iteration of `gamma` drafts with this many tokens pays: (tokens - 1) / draft passes. gamma >= 1.
[[nodiscard]] double break_even_c(double tokens_per_iteration, std::int64_t gamma, Drafting drafting);

/// First and last gamma whose speedup is within `fraction` (0.01: 1 %) of the best, around a finite optimum.
struct GammaRange {
  std::int64_t first;
  std::int64_t last;
};
[[nodiscard]] std::optional<GammaRange> near_best_gamma(const IidSetting& setting, double fraction);

}  // namespace foredraft::analytic
