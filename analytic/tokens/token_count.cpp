// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"

namespace foredraft::analytic {
namespace {

/// Checks both arguments and returns the marginals that determine the tokens: all gamma of them with a bonus token, one
/// fewer without (the last draft yields the same token whether it is accepted or corrected).
std::span<const double> relevant_marginal(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  check_marginal(marginal);
  check_range("gamma", gamma, min_gamma(convention), static_cast<std::int64_t>(marginal.size()));
  return marginal.first(static_cast<std::size_t>(max_tokens(gamma, convention) - 1));
}

}  // namespace

std::vector<double> marginal_from_conditional(std::span<const double> conditional) {
  check_probabilities("conditional", conditional);
  std::vector<double> marginal;
  marginal.reserve(conditional.size());
  double product = 1.0;
  for (const double acceptance : conditional) marginal.push_back(product *= acceptance);
  return marginal;
}

double tokens_per_iteration(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  CompensatedSum tokens;
  tokens.add(1.0);
  for (const double reached : relevant_marginal(marginal, gamma, convention)) tokens.add(reached);
  return tokens.value();
}

double tokens_variance(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  // About the mean, term by term: E[X^2] - E[X]^2 cancels if nearly every iteration yields the same number.
  const double mean = tokens_per_iteration(marginal, gamma, convention);
  const std::vector<double> pmf = tokens_pmf(marginal, gamma, convention);
  CompensatedSum variance;
  for (std::size_t i = 0; i < pmf.size(); ++i) {
    const double deviation = static_cast<double>(i + 1) - mean;
    variance.add(pmf[i] * deviation * deviation);
  }
  return variance.value();
}

std::vector<double> tokens_pmf(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  const std::span<const double> relevant = relevant_marginal(marginal, gamma, convention);
  std::vector<double> pmf;
  pmf.reserve(relevant.size() + 1);
  double previous = 1.0;
  for (const double reached : relevant) {
    pmf.push_back(previous - reached);
    previous = reached;
  }
  pmf.push_back(previous);
  return pmf;
}

namespace {

void check(const IidIteration& iteration) {
  check_probability("alpha", iteration.alpha);
  check_gamma(iteration.gamma, iteration.convention);
}

/// sum_{j<n} r^j and r^n of the ratio r = alpha * x >= 0, which may exceed 1.
struct GeometricSeries {
  double sum;
  double power;
};

GeometricSeries geometric_series(double alpha, double x, std::int64_t n) {
  if (n == 0) return {0.0, 1.0};
  const auto terms = static_cast<double>(n);
  const double r = alpha * x;
  // Rounding the product to a double would lose the distance of r from 1; one fused operation preserves it.
  const double distance = std::fma(alpha, x, -1.0);
  if (std::abs(distance) > 0.5) {
    const double power = std::pow(r, terms);
    return {(power - 1.0) / distance, power};
  }
  if (distance == 0.0) return {terms, 1.0};
  const double exponent = terms * std::log1p(distance);
  return {std::expm1(exponent) / distance, std::exp(exponent)};
}

}  // namespace

double tokens_per_iteration(const IidIteration& iteration) {
  check(iteration);
  const double alpha = iteration.alpha;
  return stable::geometric_sum(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_variance(const IidIteration& iteration) {
  check(iteration);
  const double alpha = iteration.alpha;
  return stable::truncated_geometric_variance(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_probability(const IidIteration& iteration, std::int64_t tokens) {
  check(iteration);
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (tokens < 1 || tokens > n) return 0.0;
  const double reached = std::pow(iteration.alpha, static_cast<double>(tokens - 1));
  return tokens == n ? reached : (1.0 - iteration.alpha) * reached;
}

double tokens_at_least(const IidIteration& iteration, std::int64_t tokens) {
  check(iteration);
  if (tokens <= 1) return 1.0;
  if (tokens > max_tokens(iteration.gamma, iteration.convention)) return 0.0;
  return std::pow(iteration.alpha, static_cast<double>(tokens - 1));
}

std::int64_t tokens_quantile(const IidIteration& iteration, double level) {
  check(iteration);
  check_probability("level", level);
  const double alpha = iteration.alpha;
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (alpha == 0.0 || level == 0.0) return 1;
  if (alpha == 1.0 || level == 1.0) return n;
  // P(X <= k) = 1 - alpha^k for k < n: the smallest k with alpha^k <= 1 - level. Doubles determine k to a relative
  // 1e-14; within these limits an exact comparison decides.
  const double estimate = std::log1p(-level) / std::log(alpha);
  constexpr double relative_error = 1e-14;
  const double lower = std::floor(estimate * (1.0 - relative_error));
  if (lower + 1.0 >= static_cast<double>(n)) return n;
  auto below = static_cast<std::int64_t>(std::max(lower, 0.0));
  auto reached = std::max(below + 1, static_cast<std::int64_t>(std::ceil(estimate * (1.0 + relative_error))));
  while (reached - below > 1) {
    const std::int64_t middle = below + (reached - below) / 2;
    (exact::power_at_most(alpha, middle, level) ? reached : below) = middle;
  }
  return std::min(reached, n);
}

double all_accepted_probability(const IidIteration& iteration) {
  check(iteration);
  return std::pow(iteration.alpha, static_cast<double>(iteration.gamma));
}

double tokens_generating_function(const IidIteration& iteration, double x) {
  check(iteration);
  check_nonnegative("x", x);
  const double alpha = iteration.alpha;
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (alpha == 1.0) return std::pow(x, static_cast<double>(n));
  // sum_k P(X = k) x^k term by term: all positive, where 1 + (x - 1) (...) would cancel for x < 1.
  const GeometricSeries series = geometric_series(alpha, x, n - 1);
  return x * ((1.0 - alpha) * series.sum + series.power);
}

namespace {

void check(const VaryingYield& yield) {
  check_positive("tokens", yield.tokens);
  check_nonnegative("mean_gamma", yield.mean_gamma);
}

}  // namespace

double mean_draft_passes(const VaryingYield& yield, Drafting drafting) {
  check(yield);
  switch (drafting) {
    case Drafting::autoregressive:
      return yield.mean_gamma;
    case Drafting::block:
      return 1.0;
    case Drafting::free:
      return 0.0;
  }
  throw std::logic_error("unknown drafting cost");
}

double operations_factor(const VaryingYield& yield, double operations_ratio, Convention convention) {
  check(yield);
  check_nonnegative("operations_ratio", operations_ratio);
  const double verified = yield.mean_gamma + (convention == Convention::bonus ? 1.0 : 0.0);
  return (yield.mean_gamma * operations_ratio + verified) / yield.tokens;
}

double accepted_over_drafted(const VaryingYield& yield) {
  check(yield);
  if (yield.mean_gamma == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return (yield.tokens - 1.0) / yield.mean_gamma;
}

double chains_tokens(double any_first, double conditional, std::int64_t depth) {
  check_probability("any_first", any_first);
  check_probability("conditional", conditional);
  check_at_least("depth", depth, 0);
  return 1.0 + any_first * stable::geometric_sum(conditional, 1.0 - conditional, depth);
}

double independent_drafts_tokens(double alpha, std::int64_t gamma, std::int64_t drafts) {
  constexpr std::int64_t longest = 1'000'000;
  check_probability("alpha", alpha);
  check_range("gamma", gamma, 0, longest);
  check_at_least("drafts", drafts, 1);
  // 1 + sum of the probabilities that some draft reaches i: none of them cancels.
  CompensatedSum tokens;
  tokens.add(1.0);
  double reach = 1.0;
  for (std::int64_t i = 0; i < gamma; ++i) {
    reach *= alpha;
    tokens.add(-std::expm1(static_cast<double>(drafts) * std::log1p(-reach)));
  }
  return tokens.value();
}

}  // namespace foredraft::analytic
