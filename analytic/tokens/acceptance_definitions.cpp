// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance_definitions.hpp"

#include <fmt/format.h>
#include <cmath>

#include "analytic/numerics/gamma_range.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_drafts(std::int64_t gamma, Convention convention) {
  check_at_least("gamma", gamma, 1);
  check_gamma(gamma, convention);
}

}  // namespace

AcceptanceNumbers acceptance_numbers(double alpha, std::int64_t gamma, Convention convention) {
  check_probability("alpha", alpha);
  check_at_least("gamma", gamma, 1);
  constexpr std::int64_t longest_vectors = 10'000'000;
  if (gamma > longest_vectors) check_range("gamma", gamma, 1, longest_vectors);
  const auto size = static_cast<std::size_t>(gamma);
  std::vector<double> marginal;
  marginal.reserve(size);
  for (std::size_t i = 1; i <= size; ++i) marginal.push_back(std::pow(alpha, static_cast<double>(i)));
  const double complement = 1.0 - alpha;
  return {.per_token = alpha,
          .conditional = std::vector<double>(size, alpha),
          .marginal = std::move(marginal),
          .accepted_over_drafted = alpha * stable::geometric_sum(alpha, complement, gamma) / static_cast<double>(gamma),
          .acceptance_length = stable::geometric_sum(alpha, complement, max_tokens(gamma, convention))};
}

double alpha_from_acceptance_length(double acceptance_length, std::int64_t gamma, Convention convention) {
  check_drafts(gamma, convention);
  const std::int64_t n = max_tokens(gamma, convention);
  if (n == 1) {
    throw DomainError(fmt::format(
        "invalid gamma={} (must be at least 2 under {}: an iteration of one token says nothing about alpha)", gamma,
        to_string(convention)));
  }
  if (!(acceptance_length >= 1.0 && acceptance_length <= static_cast<double>(n))) {
    throw DomainError(fmt::format("invalid acceptance_length={} (must lie in [1, {}])", acceptance_length, n));
  }
  return stable::alpha_of_geometric_total(acceptance_length - 1.0, n - 1);
}

double alpha_from_accepted_over_drafted(double accepted_over_drafted, std::int64_t gamma) {
  check_probability("accepted_over_drafted", accepted_over_drafted);
  check_drafts(gamma, Convention::bonus);
  return stable::alpha_of_geometric_total(accepted_over_drafted * static_cast<double>(gamma), gamma);
}

}  // namespace foredraft::analytic
