// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/confidence_threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr std::int64_t longest_draft = std::int64_t{1} << 24U;

void check_between(std::string_view name, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in [{}, {}])", name, value, low, high));
  }
}

void check(const ConfidenceThreshold& policy) {
  check_probability("alpha", policy.alpha);
  check_between("concentration", policy.concentration, 1e-6, 1e9);
  check_probability("threshold", policy.threshold);
  check_between("bias", policy.bias, 1e-3, 1e3);
  check_range("gamma", policy.gamma, 1, longest_draft);
}

}  // namespace

GoOn go_on(const ConfidenceThreshold& policy) {
  check(policy);
  const auto [alpha, concentration, threshold, bias, gamma] = policy;
  if (threshold == 0.0) return {1.0, alpha};
  if (alpha == 0.0) return {0.0, 0.0};
  if (alpha == 1.0) return {1.0, 1.0};
  // The acceptance probability x whose confidence is the threshold; 1 - x with its own digits, as x may be close to 1.
  const double log_x = std::log(threshold) / bias;
  const double below_one = -std::expm1(log_x);
  const double a = alpha * concentration;
  const double b = (1.0 - alpha) * concentration;
  // P(Beta(a, b) >= x) = P(Beta(b, a) <= 1 - x); E[x; x >= t] = a / (a + b) P(Beta(a + 1, b) >= t).
  return {boost::math::ibeta(b, a, below_one), alpha * boost::math::ibeta(b, a + 1.0, below_one)};
}

std::vector<double> reached(const ConfidenceThreshold& policy, Convention convention) {
  const double accepted = go_on(policy).accepted;
  std::vector<double> result;
  double product = convention == Convention::bonus ? policy.alpha : accepted;
  for (std::int64_t k = 0; k < policy.gamma; ++k) {
    result.push_back(product);
    product *= accepted;
  }
  return result;
}

VaryingYield confidence_threshold(const ConfidenceThreshold& policy, Convention convention) {
  const auto [probability, accepted] = go_on(policy);
  const double drafted = stable::geometric_sum(probability, 1.0 - probability, policy.gamma);
  const double tested = stable::geometric_sum(accepted, 1.0 - accepted, policy.gamma);
  // Without a bonus token the last position yields its token whether the draft is accepted or corrected.
  return {convention == Convention::bonus ? 1.0 + policy.alpha * tested : tested, drafted};
}

}  // namespace foredraft::analytic
