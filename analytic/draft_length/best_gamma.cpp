// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <variant>

#include "analytic/numerics/stable_forms.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const IidSetting& setting) {
  check_probability("alpha", setting.alpha);
  check_nonnegative("c", setting.c);
}

/// The minimum gamma, which is the best if longer drafts never pay.
BestGamma shortest(double c, Convention convention) {
  const std::int64_t gamma = min_gamma(convention);
  return {gamma, 1.0 / (1.0 + static_cast<double>(gamma) * c)};
}

/// The first-order condition of the draft length under i.i.d. acceptance and autoregressive drafting, in terms of the
/// tokens n = max_tokens(gamma, convention). 0 < alpha < 1 and c > 0 (bonus: c < alpha).
///
/// With a = -log(alpha) and the excess cost K = (1 - c)/c (bonus) or 1/c (no_bonus):
///   integers  one more draft does not pay  <=>  H(n) = sum_{m=1}^{n} (alpha^-m - 1) >= K;
///   reals     dS/dn = 0                    <=>  e^x - 1 - x = a K,  x = a n.
struct DraftLengthRule {
  double alpha;
  double c;
  Convention convention;

  /// The real n that satisfies the first-order condition; bonus: c <= 1.
  [[nodiscard]] double real_tokens() const;

  /// True if one more draft does not improve an iteration of up to n tokens. Exact, including ties.
  [[nodiscard]] bool long_enough(std::int64_t n) const;

  /// Minimum n >= 1 that is long enough: an integer next to real_tokens().
  [[nodiscard]] std::int64_t best_tokens() const;
};

/// -log(alpha) - (1 - alpha) > 0 without cancellation near alpha = 1.
double log_excess(double alpha) {
  return alpha >= 0.5 ? -boost::math::log1pmx(alpha - 1.0) : -std::log(alpha) - (1.0 - alpha);
}

double DraftLengthRule::real_tokens() const {
  const double a = stable::negative_log(alpha, 1.0 - alpha);
  // In logarithms, because 1/c overflows for a subnormal c.
  const double log_excess_cost = (convention == Convention::bonus ? std::log1p(-c) : 0.0) - std::log(c);
  return stable::inverse_expm1_minus_x(std::log(a) + log_excess_cost) / a;
}

bool DraftLengthRule::long_enough(std::int64_t n) const {
  const double complement = 1.0 - alpha;
  const auto tokens = static_cast<double>(n);
  // (1 - alpha) H(n) = expm1(a n) - n (1 - alpha), split into two positive parts.
  const double exponent = tokens * stable::negative_log(alpha, complement);
  const double gain = stable::expm1_minus_x(exponent) + tokens * log_excess(alpha);
  const double threshold = complement * (convention == Convention::bonus ? 1.0 - c : 1.0) / c;
  // The relative error of e^x is x * 1.1e-16, and x <= 745 wherever it is finite.
  constexpr double relative_error = 1e-12;
  if (gain > threshold * (1.0 + relative_error)) return true;
  if (gain < threshold * (1.0 - relative_error)) return false;
  return exact::one_more_does_not_pay(alpha, c, n, convention == Convention::bonus ? n - 1 : n);
}

std::int64_t DraftLengthRule::best_tokens() const {
  // The speedup is unimodal in real n, so the best integer is adjacent to the real optimum. n stays below 7e18 because
  // a >= 1.1e-16 and a K < 1e308. For large n a double has a relative precision of only 1e-16, hence the bracket.
  const double real = real_tokens();
  constexpr double relative_error = 1e-13;
  auto too_short = static_cast<std::int64_t>(std::max(0.0, std::floor(real * (1.0 - relative_error)) - 1.0));
  auto enough = static_cast<std::int64_t>(std::ceil(real * (1.0 + relative_error))) + 1;
  while (enough - too_short > 1) {
    const std::int64_t middle = too_short + (enough - too_short) / 2;
    (long_enough(middle) ? enough : too_short) = middle;
  }
  return enough;
}

BestGamma through_real_optimum(double alpha, double c, Convention convention) {
  const std::int64_t n = DraftLengthRule{alpha, c, convention}.best_tokens();
  const std::int64_t gamma = convention == Convention::bonus ? n - 1 : n;
  return {gamma, stable::geometric_sum(alpha, 1.0 - alpha, n) / (1.0 + static_cast<double>(gamma) * c)};
}

/// 0 < alpha < 1, c > 0; bonus: c < alpha.
BestGamma best_autoregressive(double alpha, double c, Convention convention) {
  // The marginal rule survival * cost <= c * tokens, draft by draft: five flops each and no transcendental function.
  // Within these limits the products neither under- nor overflow.
  constexpr double smallest_c = 1e-290;
  constexpr double largest_c = 1e290;
  if (!(c > smallest_c && c < largest_c)) return through_real_optimum(alpha, c, convention);
  constexpr double relative_error = 1e-13;  // some tens of steps of a few roundings each
  const double c_above = c * (1.0 + relative_error);
  const double c_below = c * (1.0 - relative_error);
  const double first_gamma = static_cast<double>(min_gamma(convention));
  // The first steps have no branch; they count the drafts that pay (none pays after the first that does not). The
  // branch predictor cannot guess where to stop, and a misprediction costs more than these steps.
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
    constexpr double last_gamma = 64.0;  // for longer drafts, the real optimum is as fast
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

/// A block drafter costs c for any gamma >= 1, so longer drafts are better unless no draft pays.
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
  // c >= alpha: not even the first draft pays (1 + H(1) = 1/alpha >= 1/c), also at alpha = 0 = c.
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

double oracle_speedup(double alpha, const DecodingCost& cost, Convention convention) {
  check_probability("alpha", alpha);
  check_cost(cost);
  if (convention == Convention::no_bonus) return 1.0 / ((1.0 - alpha) + draft_ratio(cost)) / cost.iteration;
  // 1 - alpha (1 - c) as a sum of positive terms.
  return std::max(1.0, 1.0 / ((1.0 - alpha) + alpha * draft_ratio(cost)) / cost.iteration);
}

namespace {

/// The first value of `from` to `to` for which `holds` is false; `to` + 1 if there is none. `holds` must be true for
/// all values before it and false for all after it.
std::int64_t first_without(std::int64_t from, std::int64_t to, const auto& holds) {
  while (from <= to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (holds(middle)) {
      from = middle + 1;
    } else {
      to = middle - 1;
    }
  }
  return from;
}

}  // namespace

std::optional<std::int64_t> best_gamma(const OneMaximum& speedups) {
  const auto rises = [&](std::int64_t gamma) { return speedups.speedup(gamma + 1) > speedups.speedup(gamma); };
  // Doubles gamma first, because the time to evaluate a speedup grows with gamma.
  std::int64_t from = speedups.first;
  std::int64_t to = from;
  while (to < speedups.last && rises(to)) {
    from = to + 1;
    to = std::min(speedups.last, 2 * to + 1);
  }
  const std::int64_t best =
      first_without(from, to, [&](std::int64_t gamma) { return gamma < speedups.last && rises(gamma); });
  return best < speedups.last ? std::optional(best) : std::nullopt;
}

NearBestRange near_best_gamma(const OneMaximum& speedups, std::int64_t best, double fraction) {
  check_probability("fraction", fraction);
  const double enough = (1.0 - fraction) * speedups.speedup(best);
  const auto near = [&](std::int64_t gamma) { return speedups.speedup(gamma) >= enough; };
  return {first_without(speedups.first, best - 1, [&](std::int64_t gamma) { return !near(gamma); }),
          first_without(best + 1, speedups.last, near) - 1};
}

BestGamma best_gamma(std::span<const double> marginal, double c, Convention convention, Drafting drafting) {
  FOREDRAFT_EXPECT(!marginal.empty() && c >= 0.0);
  const auto last = static_cast<std::int64_t>(marginal.size());
  const bool has_bonus = convention == Convention::bonus;
  const bool per_draft = drafting == Drafting::autoregressive;
  if (drafting == Drafting::free) c = 0.0;
  // The marginal rule: add drafts while m cost > dc tokens. Marginals never increase and the cost dc of one more draft
  // is constant, so the first stop is the maximum. For a block drafter dc = 0 once it drafts; whether it drafts is
  // decided last.
  std::int64_t gamma = has_bonus && per_draft ? 0 : 1;
  double tokens = has_bonus && gamma == 1 ? 1.0 + marginal[0] : 1.0;
  double cost = 1.0 + static_cast<double>(gamma) * c;
  const double cost_of_one_more = per_draft ? c : 0.0;
  while (gamma < last) {
    const double gain = marginal[static_cast<std::size_t>(has_bonus ? gamma : gamma - 1)];
    if (!(gain * cost > cost_of_one_more * tokens)) break;
    tokens += gain;
    ++gamma;
    if (per_draft) cost = 1.0 + static_cast<double>(gamma) * c;
  }
  if (has_bonus && tokens <= cost) return {0, 1.0};
  return {gamma, tokens / cost};
}

std::optional<BestGamma> best_gamma(const DraftedAcceptance& drafted, const DecodingCost& cost, Convention convention,
                                    Drafting drafting) {
  std::optional<BestGamma> best;
  if (const auto* iid = std::get_if<Iid>(&drafted.process)) {
    best = best_gamma(IidSetting{iid->alpha, draft_ratio(cost), convention, drafting});
  } else if (const auto* positional = std::get_if<Positional>(&drafted.process)) {
    const std::span<const double> marginal = positional->marginal;
    const auto entries = static_cast<std::size_t>(drafted.useful.value_or(std::ssize(marginal)));
    best = best_gamma(marginal.first(entries), draft_ratio(cost), convention, drafting);
    // If another draft costs nothing, the speedup always increases; the entries include all but 1e-20 of it.
    const bool drafts = *best->gamma > min_gamma(convention);
    const bool free = drafting != Drafting::autoregressive || draft_ratio(cost) == 0.0;
    if (drafted.useful && free && drafts) best->gamma.reset();
  }
  if (best) best->speedup /= cost.iteration;
  return best;
}

std::size_t first_near_best(std::span<const double> speedups, double fraction) {
  check_probability("fraction", fraction);
  check_at_least("speedups", static_cast<std::int64_t>(speedups.size()), 1);
  double maximum = 0.0;
  for (const double speedup : speedups) {
    check_positive("speedup", speedup);
    maximum = std::max(maximum, speedup);
  }
  const auto near = [&](double speedup) { return speedup >= (1.0 - fraction) * maximum; };
  return static_cast<std::size_t>(std::find_if(speedups.begin(), speedups.end(), near) - speedups.begin());
}

std::optional<double> break_even_alpha(const MeasuredIteration& iteration, std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, 1);
  const double tokens = break_even_tokens(iteration);
  const std::int64_t maximum = max_tokens(gamma, convention);
  if (tokens <= 1.0) return 0.0;
  if (tokens > static_cast<double>(maximum)) return std::nullopt;
  return alpha_from_acceptance_length(tokens, gamma, convention);
}

std::optional<double> break_even_c(const MeasuredIteration& iteration, double tokens_per_iteration,
                                   std::int64_t passes) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_at_least("passes", passes, 1);
  const double rest = break_even_tokens(iteration) - iteration.drafting.time / plain_time(iteration);
  if (tokens_per_iteration <= rest) return std::nullopt;
  return (tokens_per_iteration - rest) / static_cast<double>(passes);
}

namespace {

/// Stands for "every larger gamma".
constexpr std::int64_t no_end = std::int64_t{1} << 62;

/// Decides exactly whether the speedup at gamma reaches (1 - fraction) of the best.
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

}  // namespace

std::optional<NearBestRange> near_best_gamma(const IidSetting& setting, double fraction) {
  check_probability("fraction", fraction);
  const std::optional<std::int64_t> best = best_gamma(setting).gamma;
  if (!best) return std::nullopt;
  const NearBest near(setting, *best, fraction);
  const std::int64_t first =
      first_without(min_gamma(setting.convention), *best - 1, [&](std::int64_t gamma) { return !near(gamma); });
  // A finite optimum of a block drafter is its minimum gamma. From the next gamma on, the speedup never decreases.
  if (setting.drafting != Drafting::autoregressive) return NearBestRange{first, near(*best + 1) ? no_end : *best};
  return NearBestRange{first, first_without(*best + 1, no_end, near) - 1};
}

std::optional<double> break_even_alpha(std::int64_t gamma, double c, Convention convention, Drafting drafting) {
  check_at_least("gamma", gamma, 1);
  check_gamma(gamma, convention);
  check_nonnegative("c", c);
  // tokens = cost. Subtracting one token and one target step leaves sum_{j=1}^{n-1} alpha^j = passes * c.
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
