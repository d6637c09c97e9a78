// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_law.hpp"

#include "analytic/numerics/compensated_sum.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"

namespace foredraft::analytic {
namespace {

/// Checks both arguments and gives the marginals that matter for the tokens: all gamma of them with a bonus token, one
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
  // About the mean, term by term: E[X^2] - E[X]^2 cancels where nearly every iteration yields the same number.
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

}  // namespace foredraft::analytic
