// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/drafter_acceptance.hpp"

#include <cmath>

#include "core/check.hpp"

namespace foredraft::analytic {

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
