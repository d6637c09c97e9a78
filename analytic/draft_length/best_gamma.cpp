// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/draft_length_rule.hpp"
#include "analytic/numerics/exact_comparison.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const IidSetting& setting) {
  check_probability("alpha", setting.alpha);
  check_nonnegative("c", setting.c);
}

/// Smallest gamma: what remains when drafting more never pays.
BestGamma shortest(double c, Convention convention) {
  const std::int64_t gamma = min_gamma(convention);
  return {gamma, 1.0 / (1.0 + static_cast<double>(gamma) * c)};
}

BestGamma through_real_optimum(double alpha, double c, Convention convention) {
  const std::int64_t n = DraftLengthRule{alpha, c, convention}.best_tokens();
  const std::int64_t gamma = convention == Convention::bonus ? n - 1 : n;
  return {gamma, stable::geometric_sum(alpha, 1.0 - alpha, n) / (1.0 + static_cast<double>(gamma) * c)};
}

/// 0 < alpha < 1, c > 0; bonus: c < alpha.
BestGamma best_autoregressive(double alpha, double c, Convention convention) {
  // The marginal rule survival * cost <= c * tokens, draft by draft: five flops each and no transcendental function.
  // Products stay clear of under- and overflow within these limits.
  constexpr double smallest_c = 1e-290;
  constexpr double largest_c = 1e290;
  if (!(c > smallest_c && c < largest_c)) return through_real_optimum(alpha, c, convention);
  constexpr double relative_error = 1e-13;  // some tens of steps of a few roundings each
  const double c_above = c * (1.0 + relative_error);
  const double c_below = c * (1.0 - relative_error);
  const double first_gamma = static_cast<double>(min_gamma(convention));
  // The first steps without a branch, counting those that pay (once one does not, none does): where to stop is a coin
  // toss to the branch predictor, and a wrong guess costs more than these steps.
  constexpr std::size_t straight_steps = 8;
  std::array<double, straight_steps + 1> tokens{};
  std::array<double, straight_steps + 1> survival{};
  tokens[0] = 1.0;
  survival[0] = alpha;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < straight_steps; ++i) {
    const double cost = 1.0 + (first_gamma + static_cast<double>(i)) * c;
    steps += static_cast<std::size_t>(survival[i] * cost > c_above * tokens[i]);
    tokens[i + 1] = tokens[i] + survival[i];
    survival[i + 1] = survival[i] * alpha;
  }
  double gamma = first_gamma + static_cast<double>(steps);
  double emitted = tokens[steps];
  double next = survival[steps];
  double cost = 1.0 + gamma * c;
  if (steps == straight_steps) {
    constexpr double last_gamma = 64.0;  // further out, the real optimum is as fast
    while (next * cost > c_above * emitted) {
      if (gamma >= last_gamma) return through_real_optimum(alpha, c, convention);
      emitted += next;
      next *= alpha;
      gamma += 1.0;
      cost = 1.0 + gamma * c;
    }
  }
  if (next * cost > c_below * emitted) return through_real_optimum(alpha, c, convention);
  return {static_cast<std::int64_t>(gamma), emitted / cost};
}

/// A parallel drafter charges c whatever gamma >= 1, so more drafts always help unless none pays at all.
BestGamma best_block(double alpha, double c, Convention convention) {
  const bool grows = alpha > 0.0 && (convention == Convention::no_bonus || exact::block_limit_pays(alpha, c));
  if (!grows) return shortest(c, convention);
  return {std::nullopt, 1.0 / ((1.0 - alpha) * (1.0 + c))};
}

}  // namespace

BestGamma best_gamma(const IidSetting& setting) {
  check(setting);
  const auto [alpha, c, convention, drafting] = setting;
  if (drafting != Drafting::autoregressive) {
    return best_block(alpha, drafting == Drafting::free ? 0.0 : c, convention);
  }
  // c >= alpha: the first draft already does not pay (h(0) = 1/alpha <= 1/c), also at alpha = 0 = c.
  if (convention == Convention::bonus ? c >= alpha : alpha == 0.0) return shortest(c, convention);
  if (c == 0.0) return {std::nullopt, alpha == 1.0 ? infinity : 1.0 / (1.0 - alpha)};
  if (alpha == 1.0) return {std::nullopt, 1.0 / c};
  return best_autoregressive(alpha, c, convention);
}

std::optional<double> real_gamma(const IidSetting& setting) {
  check(setting);
  const auto [alpha, c, convention, drafting] = setting;
  if (drafting != Drafting::autoregressive) return std::nullopt;
  const bool has_bonus = convention == Convention::bonus;
  const auto shortest_gamma = static_cast<double>(min_gamma(convention));
  if (alpha == 0.0 || (has_bonus && c >= 1.0)) return shortest_gamma;
  if (alpha == 1.0 || c == 0.0) return std::nullopt;
  const double n = DraftLengthRule{alpha, c, convention}.real_tokens();
  return std::max(has_bonus ? n - 1.0 : n, shortest_gamma);
}

double oracle_speedup(double alpha, double c) {
  check_probability("alpha", alpha);
  check_nonnegative("c", c);
  // 1 - alpha (1 - c) as a sum of positive terms.
  return 1.0 / ((1.0 - alpha) + alpha * c);
}

}  // namespace foredraft::analytic
