// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <limits>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/numerics/exact_comparison.hpp"
#include "analytic/numerics/gamma_range.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// Stands for every larger gamma.
constexpr std::int64_t no_end = std::int64_t{1} << 62;

/// Whether the speedup at gamma reaches (1 - fraction) of the one at best, exactly.
class NearBest {
 public:
  NearBest(const IidSetting& setting, std::int64_t best, double fraction)
      : setting_(setting), best_(best), fraction_(fraction), threshold_((1.0 - fraction) * speedup(best)) {}

  [[nodiscard]] bool operator()(std::int64_t gamma) const {
    const double value = speedup(gamma);
    constexpr double relative_error = 1e-12;
    if (value > threshold_ * (1.0 + relative_error)) return true;
    if (value < threshold_ * (1.0 - relative_error)) return false;
    return exact::within_fraction(setting_.alpha, setting_.c, iteration(gamma), iteration(best_), fraction_);
  }

 private:
  [[nodiscard]] double speedup(std::int64_t gamma) const {
    const auto [n, passes] = iteration(gamma);
    return stable::geometric_sum(setting_.alpha, 1.0 - setting_.alpha, n) /
           (1.0 + static_cast<double>(passes) * setting_.c);
  }

  [[nodiscard]] exact::Iteration iteration(std::int64_t gamma) const {
    return {max_tokens(gamma, setting_.convention), draft_passes(gamma, setting_.drafting)};
  }

  IidSetting setting_;
  std::int64_t best_;
  double fraction_;
  double threshold_;
};

/// Smallest gamma in [low, best] that is near, given that `best` is and that nearness does not end in between.
std::int64_t first_near(const NearBest& near, std::int64_t low, std::int64_t best) {
  std::int64_t far = low - 1;
  std::int64_t found = best;
  while (found - far > 1) {
    const std::int64_t middle = far + (found - far) / 2;
    (near(middle) ? found : far) = middle;
  }
  return found;
}

/// Largest gamma in [best, no_end] that is near, likewise; best where it lies beyond.
std::int64_t last_near(const NearBest& near, std::int64_t best) {
  std::int64_t found = best;
  std::int64_t stride = 1;
  while (stride <= no_end - found && near(found + stride)) {
    found += stride;
    stride *= 2;
  }
  std::int64_t far = stride <= no_end - found ? found + stride : no_end + 1;
  while (far - found > 1) {
    const std::int64_t middle = found + (far - found) / 2;
    (near(middle) ? found : far) = middle;
  }
  return found;
}

}  // namespace

std::optional<GammaRange> near_best_gamma(const IidSetting& setting, double fraction) {
  check_probability("fraction", fraction);
  const std::optional<std::int64_t> best = best_gamma(setting).gamma;
  if (!best) return std::nullopt;
  const NearBest near(setting, *best, fraction);
  const std::int64_t first = first_near(near, min_gamma(setting.convention), *best);
  // A finite optimum of a block drafter is its shortest draft, beyond which the speedup never falls.
  if (setting.drafting != Drafting::autoregressive) return GammaRange{first, near(*best + 1) ? no_end : *best};
  return GammaRange{first, last_near(near, *best)};
}

std::optional<double> break_even_alpha(std::int64_t gamma, double c, Convention convention, Drafting drafting) {
  check_at_least("gamma", gamma, 1);
  check_gamma(gamma, convention);
  check_nonnegative("c", c);
  // tokens = cost, less the one token and the one target step that both contain: sum_{j=1}^{n-1} alpha^j = passes * c.
  const std::int64_t m = max_tokens(gamma, convention) - 1;
  const double draft_cost = static_cast<double>(draft_passes(gamma, drafting)) * c;
  if (draft_cost == 0.0) return 0.0;
  if (draft_cost > static_cast<double>(m)) return std::nullopt;
  return stable::alpha_of_geometric_total(draft_cost, m);
}

double break_even_c(double tokens_per_iteration, std::int64_t gamma, Drafting drafting) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  if (tokens_per_iteration < 1.0) {
    throw DomainError(fmt::format("invalid tokens_per_iteration={} (must be at least 1)", tokens_per_iteration));
  }
  check_at_least("gamma", gamma, 1);
  const std::int64_t passes = draft_passes(gamma, drafting);
  if (passes == 0) return std::numeric_limits<double>::infinity();
  return (tokens_per_iteration - 1.0) / static_cast<double>(passes);
}

}  // namespace foredraft::analytic
