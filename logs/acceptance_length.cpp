// SPDX-License-Identifier: Apache-2.0
#include "logs/acceptance_length.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace foredraft::logs {
namespace {

constexpr std::size_t fewest_clusters = 10;

bool counted(const Observation& observation) {
  return observation.acceptance && observation.acceptance->steps > 0 && observation.acceptance->accepted_tokens;
}

/// Of the ratio of accepted tokens to steps, of `clusters` observations that do not depend on each other.
double error_between(std::span<const Observation> observations, double ratio, double steps, double clusters) {
  double squares = 0.0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    const double off = static_cast<double>(*observation.acceptance->accepted_tokens) -
                       ratio * static_cast<double>(observation.acceptance->steps);
    squares += off * off;
  }
  return std::sqrt(squares * clusters / (clusters - 1.0)) / steps;
}

/// Of steps that do not depend on each other: E[X^2] is the sum of (2 i - 1) P(X >= i) over positions i = 1, 2, ...
double error_within(std::span<const Observation> observations, double ratio, double steps) {
  double squares = 0.0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    if (observation.acceptance->accepted_at.empty() && *observation.acceptance->accepted_tokens > 0) return NAN;
    double weight = 1.0;
    for (const std::int64_t at : observation.acceptance->accepted_at) {
      squares += weight * static_cast<double>(at);
      weight += 2.0;
    }
  }
  return std::sqrt(std::max(0.0, squares / steps - ratio * ratio) / steps);
}

}  // namespace

std::optional<Estimate> acceptance_length(std::span<const Observation> observations) {
  double steps = 0.0;
  double accepted = 0.0;
  std::size_t clusters = 0;
  for (const Observation& observation : observations) {
    if (!counted(observation)) continue;
    steps += static_cast<double>(observation.acceptance->steps);
    accepted += static_cast<double>(*observation.acceptance->accepted_tokens);
    ++clusters;
  }
  if (clusters == 0) return std::nullopt;
  const double ratio = accepted / steps;
  const double error = clusters >= fewest_clusters
                           ? error_between(observations, ratio, steps, static_cast<double>(clusters))
                           : error_within(observations, ratio, steps);
  return Estimate{.mean = 1.0 + ratio, .standard_error = error};
}

}  // namespace foredraft::logs
