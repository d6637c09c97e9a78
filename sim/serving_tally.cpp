// SPDX-License-Identifier: Apache-2.0
#include "sim/serving_tally.hpp"

#include <algorithm>

namespace foredraft::sim {

void ServingTally::merge(const ServingTally& other) {
  latency.merge(other.latency);
  first_token.merge(other.first_token);
  per_token.merge(other.per_token);
  tpot.merge(other.tpot);
  const auto middle = static_cast<std::ptrdiff_t>(replicas.size());
  replicas.insert(replicas.end(), other.replicas.begin(), other.replicas.end());
  std::inplace_merge(replicas.begin(), replicas.begin() + middle, replicas.end(),
                     [](const Replica& one, const Replica& next) { return one.number < next.number; });
}

}  // namespace foredraft::sim
