// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/block_verification.hpp"

#include <algorithm>
#include <cstddef>

namespace foredraft::sim {

double block_residual_mass(double ratio, const PositionDistributions& distributions) {
  double mass = 0.0;
  for (std::size_t x = 0; x < distributions.target.size(); ++x) {
    mass += std::max(0.0, ratio * distributions.target[x] - distributions.draft[x]);
  }
  return mass;
}

}  // namespace foredraft::sim
