// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/pooled_candidates.hpp"

#include <algorithm>
#include <utility>

namespace foredraft::sim {

std::int64_t PooledCandidates::bytes_per_entry(const CandidateScheme& scheme) {
  if (scheme.count < 2) return 0;
  const bool by_position = scheme.count > 2 && scheme.draws == CandidateDraws::without_replacement;
  return static_cast<std::int64_t>(sizeof(Pair)) + (by_position ? ResidualMass::bytes_per_entry : 0);
}

void PooledCandidates::add(const PositionLaws& laws) {
  double mass = 0.0;
  for (std::size_t x = 0; x < laws.target.size(); ++x) {
    pairs_.push_back({.target = laws.target[x], .draft = laws.draft[x]});
    mass += std::max(0.0, laws.target[x] - laws.draft[x]);
  }
  first_mass_.push_back(mass);
  if (scheme_.count == 2) return;
  ResidualMass residual(laws);
  if (scheme_.draws == CandidateDraws::without_replacement) {
    masses_.push_back(std::move(residual));
    return;
  }
  double c = 1.0;
  for (std::int64_t rejections = 2; rejections < scheme_.count; ++rejections) {
    c += mass;
    mass = residual(c);
    steps_.push_back(mass);
  }
}

}  // namespace foredraft::sim
