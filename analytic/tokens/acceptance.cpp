// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check(std::span<const double> p, std::span<const double> q) {
  check_distribution("p", p);
  check_distribution("q", q);
  if (p.size() != q.size()) {
    throw DomainError(fmt::format("invalid size of q={} (must equal the size of p={})", q.size(), p.size()));
  }
}

/// Sum over the vocabulary of `term`, clamped to [0, 1]; rounding may keep p and q from summing exactly to 1.
template <class Term>
double sum_over_tokens(std::span<const double> p, std::span<const double> q, const Term& term) {
  check(p, q);
  CompensatedSum sum;
  for (std::size_t i = 0; i < p.size(); ++i) sum.add(term(p[i], q[i]));
  return std::clamp(sum.value(), 0.0, 1.0);
}

}  // namespace

double acceptance_beta(std::span<const double> p, std::span<const double> q) {
  return sum_over_tokens(p, q, [](double target, double draft) { return std::min(target, draft); });
}

double total_variation(std::span<const double> p, std::span<const double> q) {
  return sum_over_tokens(p, q, [](double target, double draft) { return 0.5 * std::abs(target - draft); });
}

double leviathan_divergence(std::span<const double> p, std::span<const double> q) {
  return sum_over_tokens(p, q, [](double target, double draft) { return std::abs(target - 0.5 * (target + draft)); });
}

double envelope_acceptance(std::span<const double> p, std::span<const double> q) {
  check(p, q);
  double smallest_ratio = 1.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0.0) smallest_ratio = std::min(smallest_ratio, q[i] / p[i]);
  }
  return smallest_ratio;
}

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
        "invalid gamma={} (must be at least 2 under {}: an iteration of one token does not determine alpha)", gamma,
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

std::vector<double> decaying_acceptance(double first, double decay, std::int64_t gamma) {
  check_probability("first", first);
  check_probability("decay", decay);
  constexpr std::int64_t longest_vector = std::int64_t{1} << 24U;
  check_range("gamma", gamma, 0, longest_vector);
  std::vector<double> conditional;
  conditional.reserve(static_cast<std::size_t>(gamma));
  for (std::int64_t i = 0; i < gamma; ++i) conditional.push_back(first * std::pow(decay, static_cast<double>(i)));
  return conditional;
}

double recovered_decay(double decay, double recovery) {
  check_probability("decay", decay);
  check_probability("recovery", recovery);
  return std::pow(decay, 1.0 - recovery);
}

std::int64_t last_useful_draft(double first, double decay) {
  check_probability("first", first);
  check_probability("decay", decay);
  constexpr double negligible = 1e-20;
  constexpr std::int64_t most = 100'000;
  double conditional = first;
  double marginal = first;
  std::int64_t drafts = 1;
  while (drafts < most && marginal >= negligible) {
    conditional *= decay;
    marginal *= conditional;
    ++drafts;
  }
  return drafts;
}

}  // namespace foredraft::analytic
