// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "analytic/numerics/compensated_sum.hpp"
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

/// Sum over the vocabulary of `term`, which for distributions lies in [0, 1]; p and q may miss a sum of one by
/// rounding.
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

}  // namespace foredraft::analytic
