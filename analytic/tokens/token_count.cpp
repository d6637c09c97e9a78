// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_count.hpp"

#include <fmt/format.h>
#include <cmath>
#include <iterator>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

/// The marginals that determine the tokens: all gamma of them with a bonus token, one fewer without (the last draft
/// yields the same token whether it is accepted or corrected).
std::span<const double> relevant_marginal(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  FOREDRAFT_EXPECT(gamma >= min_gamma(convention) && gamma <= std::ssize(marginal));
  return marginal.first(static_cast<std::size_t>(max_tokens(gamma, convention) - 1));
}

}  // namespace

double tokens_per_iteration(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  CompensatedSum tokens;
  tokens.add(1.0);
  for (const double reached : relevant_marginal(marginal, gamma, convention)) tokens.add(reached);
  return tokens.value();
}

double variance_about(double mean, std::span<const double> pmf) {
  CompensatedSum variance;
  for (std::size_t i = 0; i < pmf.size(); ++i) {
    const double deviation = static_cast<double>(i + 1) - mean;
    variance.add(pmf[i] * deviation * deviation);
  }
  return variance.value();
}

double tokens_variance(std::span<const double> marginal, std::int64_t gamma, Convention convention) {
  // Summed about the mean, because E[X^2] - E[X]^2 cancels if nearly all iterations yield the same number.
  return variance_about(tokens_per_iteration(marginal, gamma, convention), tokens_pmf(marginal, gamma, convention));
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

void expect_legal([[maybe_unused]] const IidIteration& iteration) {
  FOREDRAFT_EXPECT(iteration.alpha >= 0.0 && iteration.alpha <= 1.0);
  FOREDRAFT_EXPECT(iteration.gamma >= min_gamma(iteration.convention) && iteration.gamma <= largest_gamma);
}

}  // namespace

double tokens_per_iteration(const IidIteration& iteration) {
  expect_legal(iteration);
  const double alpha = iteration.alpha;
  return stable::geometric_sum(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_variance(const IidIteration& iteration) {
  expect_legal(iteration);
  const double alpha = iteration.alpha;
  return stable::truncated_geometric_variance(alpha, 1.0 - alpha, max_tokens(iteration.gamma, iteration.convention));
}

double tokens_probability(const IidIteration& iteration, std::int64_t tokens) {
  expect_legal(iteration);
  const std::int64_t n = max_tokens(iteration.gamma, iteration.convention);
  if (tokens < 1 || tokens > n) return 0.0;
  const double reached = std::pow(iteration.alpha, static_cast<double>(tokens - 1));
  return tokens == n ? reached : (1.0 - iteration.alpha) * reached;
}

std::vector<double> tokens_pmf(const IidIteration& iteration) {
  std::vector<double> pmf;
  for (std::int64_t k = 1; k <= max_tokens(iteration.gamma, iteration.convention); ++k) {
    pmf.push_back(tokens_probability(iteration, k));
  }
  return pmf;
}

double tokens_at_least(const IidIteration& iteration, std::int64_t tokens) {
  expect_legal(iteration);
  if (tokens <= 1) return 1.0;
  if (tokens > max_tokens(iteration.gamma, iteration.convention)) return 0.0;
  return std::pow(iteration.alpha, static_cast<double>(tokens - 1));
}

double all_accepted_probability(const IidIteration& iteration) {
  expect_legal(iteration);
  return std::pow(iteration.alpha, static_cast<double>(iteration.gamma));
}

double alpha_from_acceptance_length(double acceptance_length, std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, 1);
  check_gamma(gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n == 1) {
    throw DomainError(fmt::format(
        "invalid gamma={} (must be at least 2 under {}: an iteration of one token does not determine alpha)", gamma,
        to_string(convention)));
  }
  if (!(acceptance_length >= 1.0 && acceptance_length <= static_cast<double>(n))) {
    throw DomainError(fmt::format("invalid acceptance_length={} (must lie in [1, {}])", acceptance_length, n));
  }
  return stable::alpha_of_geometric_total(acceptance_length - 1.0, n - 1);
}

}  // namespace foredraft::analytic
