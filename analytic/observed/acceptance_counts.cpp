// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/acceptance_counts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analytic/observed/clustered_estimate.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

double accepted_tokens_of(const AcceptanceCluster& counts) {
  return counts.accepted_at.empty() ? counts.accepted_tokens
                                    : std::accumulate(counts.accepted_at.begin(), counts.accepted_at.end(), 0.0);
}

void check_counts_of_one(const AcceptanceCluster& counts) {
  check_range("gamma", counts.gamma, 1, max_observed_gamma);
  check_positive("steps", counts.steps);
  check_probability("rounding", counts.rounding);
  const auto positions = static_cast<double>(counts.gamma);
  if (!counts.accepted_at.empty() && counts.accepted_at.size() != static_cast<std::size_t>(counts.gamma)) {
    throw DomainError(fmt::format("invalid accepted_at (must be empty or have gamma = {} entries, has {})",
                                  counts.gamma, counts.accepted_at.size()));
  }
  const double maximum = counts.steps * (1.0 + counts.rounding);
  for (const double accepted : counts.accepted_at) {
    if (!(accepted >= 0.0 && accepted <= maximum)) {
      throw DomainError(
          fmt::format("invalid accepted_at={} (must lie between 0 and steps = {})", accepted, counts.steps));
    }
  }
  if (!(counts.accepted_tokens >= 0.0 && counts.accepted_tokens <= positions * maximum)) {
    throw DomainError(fmt::format("invalid accepted_tokens={} (must lie between 0 and gamma * steps = {})",
                                  counts.accepted_tokens, positions * counts.steps));
  }
}

/// Raises the shares to the power at which they sum to `sum`; clears them if there is none.
void raise_to_sum(std::vector<double>& shares, double sum) {
  const auto sum_at = [&](double power) {
    double all = 0.0;
    for (const double share : shares) all += share > 0.0 ? std::pow(share, power) : 0.0;
    return all;
  };
  double below = 0.0;
  double above = 64.0;
  if (!(sum_at(below) >= sum && sum_at(above) <= sum)) return shares.clear();
  for (int i = 0; i < std::numeric_limits<double>::digits; ++i) {
    const double middle = 0.5 * (below + above);
    (sum_at(middle) > sum ? below : above) = middle;
  }
  for (double& share : shares) share = share > 0.0 ? std::pow(share, above) : 0.0;
}

PooledCounts pooled(std::int64_t gamma, std::span<const AcceptanceCluster* const> clusters) {
  PooledCounts all{
      .gamma = gamma, .steps = 0.0, .marginal = {}, .accepted = 0.0, .rounding = 0.0, .clusters = clusters.size()};
  double known_steps = 0.0;
  for (const AcceptanceCluster* one : clusters) {
    all.steps += one->steps;
    all.accepted += accepted_tokens_of(*one);
    all.rounding = std::max(all.rounding, one->rounding);
    if (one->accepted_at.empty()) continue;
    known_steps += one->steps;
    all.marginal.resize(static_cast<std::size_t>(gamma));
    for (std::size_t i = 0; i < all.marginal.size(); ++i) all.marginal[i] += one->accepted_at[i];
  }
  all.accepted = std::min(all.accepted / all.steps, static_cast<double>(gamma));
  for (double& share : all.marginal) share = std::min(share / known_steps, 1.0);
  if (known_steps < all.steps) raise_to_sum(all.marginal, all.accepted);
  return all;
}

std::map<std::int64_t, std::vector<const AcceptanceCluster*>> by_gamma(std::span<const AcceptanceCluster> clusters) {
  std::map<std::int64_t, std::vector<const AcceptanceCluster*>> groups;
  for (const AcceptanceCluster& one : clusters) groups[one.gamma].push_back(&one);
  return groups;
}

/// Scatter of accepted - mean * steps over the clusters of one gamma; `of_steps`: its variance if steps are
/// independent.
Uncertainty scatter_of_clusters(std::span<const AcceptanceCluster* const> clusters, const PooledCounts& counts,
                                double of_steps) {
  std::vector<double> deviations;
  double squares = 0.0;
  bool in_time = false;
  for (const AcceptanceCluster* one : clusters) {
    deviations.push_back(accepted_tokens_of(*one) - counts.accepted * one->steps);
    squares += one->steps * one->steps;
    in_time = in_time || one->in_time;
  }
  return scatter_of(deviations, counts.steps * counts.steps / squares, in_time, of_steps);
}

/// Minimum number of windows for the prior. Fewer count as two clusters, so that their interval is wide.
constexpr std::size_t few_windows = 5;

/// A small number of windows determines their variance poorly and their correlation even less. Both are therefore
/// moderated by a prior from windows of other logs [Smyth2004].
ClusterVariance with_prior_of_windows(const ClusterVariance& seen) {
  // Factors of 13 logs: 0.8 to 1.8 in 12 of them, 10 in one of mixed texts.
  constexpr ClusterVariance prior{.factor = 1.5, .degrees = 4.0};
  const double degrees = prior.degrees + seen.degrees;
  return {.factor = (prior.degrees * prior.factor + seen.degrees * seen.factor) / degrees, .degrees = degrees};
}

}  // namespace

void check_counts(std::span<const AcceptanceCluster> clusters) {
  if (clusters.empty()) throw DomainError("invalid counts (must hold at least one cluster of steps)");
  for (const AcceptanceCluster& one : clusters) check_counts_of_one(one);
}

std::vector<PooledCounts> pooled_by_gamma(std::span<const AcceptanceCluster> clusters) {
  check_counts(clusters);
  std::vector<PooledCounts> all;
  for (const auto& [gamma, group] : by_gamma(clusters)) all.push_back(pooled(gamma, group));
  return all;
}

double variance_of_a_step(const PooledCounts& counts) {
  if (counts.marginal.empty()) return counts.accepted * (static_cast<double>(counts.gamma) - counts.accepted);
  double square = 0.0;
  for (std::size_t i = 0; i < counts.marginal.size(); ++i) {
    square += static_cast<double>(2 * i + 1) * counts.marginal[i];
  }
  return std::max(0.0, square - counts.accepted * counts.accepted);
}

std::optional<ClusterVariance> cluster_variance(std::span<const AcceptanceCluster> clusters) {
  check_counts(clusters);
  double factors = 0.0;
  double by_degrees = 0.0;
  double weights = 0.0;
  bool many_windows = false;
  for (const auto& [gamma, group] : by_gamma(clusters)) {
    if (group.size() < 2) continue;
    many_windows = many_windows || (group.front()->in_time && group.size() >= few_windows);
    const PooledCounts counts = pooled(gamma, group);
    const double of_steps = counts.steps * variance_of_a_step(counts);
    const Uncertainty scatter = scatter_of_clusters(group, counts, of_steps);
    const double variance = scatter.standard_error * scatter.standard_error;
    const auto weight = static_cast<double>(group.size() - 1);
    const double weighted = weight * (of_steps > 0.0 ? std::max(1.0, variance / of_steps) : 1.0);
    factors += weighted;
    by_degrees += weighted * weighted / scatter.degrees;
    weights += weight;
  }
  if (weights == 0.0) return std::nullopt;
  const ClusterVariance seen{.factor = factors / weights, .degrees = factors * factors / by_degrees};
  return many_windows ? with_prior_of_windows(seen) : seen;
}

namespace {

/// logit(p) shifted by `shift` and transformed back, in a form that preserves 0 and 1.
double shifted_odds(double p, double shift) { return p == 1.0 ? p : p / (p + (1.0 - p) * std::exp(-shift)); }

/// One kind of run, by the probabilities that it continues.
struct Kind {
  double persistence;  ///< from one draft to the next of an iteration
  double over_bonus;   ///< from the last draft to the bonus token, or from there to the next draft
  double whole;        ///< persistence^(gamma - 1) over_bonus^2: from an iteration's first draft to the next one's
  double not_whole;    ///< 1 - whole
};

Kind kind_of(double persistence, double rho, std::int64_t gamma) {
  const double over_bonus = shifted_odds(persistence, std::log(rho));
  const double log_whole = static_cast<double>(gamma - 1) * std::log(persistence) + 2.0 * std::log(over_bonus);
  // 0 log 0 = 0: persistence does not matter in an iteration of one draft.
  const double exponent = gamma == 1 ? 2.0 * std::log(over_bonus) : log_whole;
  return {persistence, over_bonus, std::exp(exponent), -std::expm1(exponent)};
}

void check(const Runs& acceptance) {
  check_probability("a", acceptance.a);
  check_probability("b", acceptance.b);
  check_nonnegative("spread", acceptance.spread);
  check_positive("rho", acceptance.rho);
}

}  // namespace

std::vector<double> accepted_shares(const Runs& acceptance, std::int64_t gamma) {
  check(acceptance);
  check_range("gamma", gamma, 0, max_observed_gamma);
  if (gamma == 0) return {};
  const auto& [a, b, spread, rho] = acceptance;
  const double easy = shifted_odds(a, spread);
  const double hard = shifted_odds(a, -spread);
  std::array kinds{kind_of(easy, rho, gamma), kind_of(hard, rho, gamma)};
  // All terms are scaled by 1 - whole of both kinds, because `whole` is 1 for a run that never ends. Equal kinds are
  // scaled once, so that a = 1 needs no limit.
  const bool equal = easy == hard;
  const std::array scale{equal ? 0.5 : 0.5 * kinds[1].not_whole, equal ? 0.5 : 0.5 * kinds[0].not_whole};
  double starts = equal ? kinds[0].not_whole : kinds[0].not_whole * kinds[1].not_whole;
  std::vector<double> shares(static_cast<std::size_t>(gamma));
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    double reached = b * scale.at(kind);
    for (double& share : shares) {
      share += reached;
      starts += &share == &shares.back() ? reached * kinds.at(kind).over_bonus : 0.0;
      reached *= kinds.at(kind).persistence;
    }
  }
  for (double& share : shares) share /= starts;
  return shares;
}

double tokens_per_iteration(const Runs& acceptance, std::int64_t gamma) {
  const std::vector<double> shares = accepted_shares(acceptance, gamma);
  return std::accumulate(shares.begin(), shares.end(), 1.0);
}

TokenBounds tokens_left_open(double tokens, std::int64_t observed_gamma, std::int64_t gamma) {
  check_range("observed_gamma", observed_gamma, 1, max_observed_gamma);
  check_range("gamma", gamma, 0, max_observed_gamma);
  const auto n = static_cast<double>(observed_gamma + 1);
  if (!(tokens >= 1.0 && tokens <= n)) {
    throw DomainError(fmt::format("invalid tokens={} (must lie between 1 and gamma + 1 = {})", tokens, n));
  }
  const double min_alpha = 1.0 - 1.0 / tokens;
  const double max_alpha = std::min(1.0, min_alpha * n / (n - 1.0));
  TokenBounds open{any_process_bounds(min_alpha, gamma, Convention::bonus).low,
                   any_process_bounds(max_alpha, gamma, Convention::bonus).high};
  const std::int64_t max_parts =
      (std::max(gamma, observed_gamma) + 1 + std::min(gamma, observed_gamma)) / (std::min(gamma, observed_gamma) + 1);
  const auto parts = static_cast<double>(max_parts);
  if (gamma >= observed_gamma) {
    open = {std::max(open.low, tokens), std::min(open.high, parts * tokens)};
  } else {
    open = {std::max(open.low, tokens / parts), std::min(open.high, tokens)};
  }
  return open;
}

}  // namespace foredraft::analytic
