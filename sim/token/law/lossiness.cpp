// SPDX-License-Identifier: Apache-2.0
#include "sim/token/law/lossiness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "sim/token/law/emitted_law.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {
namespace {

/// sum e ln(e / p) - e + p: the same number, as both sum to 1, in terms that are never negative and so keep the digits
/// of a small divergence.
double kl_divergence(std::span<const double> e, std::span<const double> p) {
  double sum = 0.0;
  for (std::size_t x = 0; x < e.size(); ++x) {
    if (e[x] > 0.0 && !(p[x] > 0.0)) return std::numeric_limits<double>::infinity();
    const double difference = e[x] - p[x];
    if (difference == 0.0) continue;
    const double ratio = difference / p[x];
    const double log_ratio = std::isfinite(ratio) ? std::log1p(ratio) : std::log(e[x]) - std::log(p[x]);
    sum += e[x] > 0.0 ? e[x] * log_ratio - difference : p[x];
  }
  return std::max(0.0, sum);
}

Estimate mean_of(std::span<const PositionLossiness> positions, double PositionLossiness::*member) {
  const auto n = static_cast<double>(positions.size());
  double sum = 0.0;
  for (const PositionLossiness& position : positions) sum += position.*member;
  const double mean = sum / n;
  double squares = 0.0;
  for (const PositionLossiness& position : positions) squares += std::pow(position.*member - mean, 2);
  return {.mean = mean, .standard_error = std::sqrt(squares / (n - 1.0) / n)};
}

}  // namespace

PositionLossiness lossiness(const VerificationRule& rule, const PositionLaws& laws) {
  const std::vector<double> emitted = emitted_law(rule, laws);
  const double acceptance = acceptance_probability(rule, laws);
  const std::size_t top = row_argmax(laws.target);
  const double largest = *std::max_element(emitted.begin(), emitted.end());
  constexpr double round_off = 1e-12;  // a tie of p stays one in e up to round-off
  return {.acceptance = acceptance,
          .acceptance_gain = acceptance - overlap(laws.target, laws.draft),
          .total_variation = 1.0 - overlap(emitted, laws.target),
          .kl_divergence = kl_divergence(emitted, laws.target),
          .top1_agreement = emitted[top] >= largest * (1.0 - round_off) ? 1.0 : 0.0,
          .top1_probability = emitted[top]};
}

Lossiness mean_lossiness(std::span<const PositionLossiness> positions) {
  check_at_least("positions", std::ssize(positions), 1);
  return {.acceptance = mean_of(positions, &PositionLossiness::acceptance),
          .acceptance_gain = mean_of(positions, &PositionLossiness::acceptance_gain),
          .total_variation = mean_of(positions, &PositionLossiness::total_variation),
          .kl_divergence = mean_of(positions, &PositionLossiness::kl_divergence),
          .top1_agreement = mean_of(positions, &PositionLossiness::top1_agreement),
          .top1_probability = mean_of(positions, &PositionLossiness::top1_probability)};
}

}  // namespace foredraft::sim
