// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/logit_ladder.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/random_stream.hpp"

namespace foredraft::experiments {

LadderContexts::LadderContexts(std::int64_t contexts, std::int64_t ranks, std::uint64_t seed)
    : ranks_(static_cast<std::size_t>(ranks)) {
  check_at_least("contexts", contexts, 1);
  check_at_least("ranks", ranks, 1);
  RandomStream random(seed, {.purpose = Purpose::logits, .point = 0, .block = 0});
  gaps_.reserve(static_cast<std::size_t>(contexts) * ranks_);
  for (std::int64_t context = 0; context < contexts; ++context) {
    double gap = 0.0;
    gaps_.push_back(gap);
    for (std::size_t rank = 1; rank < ranks_; ++rank) {
      gap -= std::log1p(-random.uniform()) / static_cast<double>(rank);
      gaps_.push_back(gap);
    }
  }
}

double LadderContexts::acceptance(const LogitLadder& ladder, const TopBetaRule& rule) const {
  check_positive("spread", ladder.spread);
  check_positive("noise", ladder.noise);
  check_probability("unlike", ladder.unlike);
  check_range("top_beta", rule.top_beta, 1, static_cast<std::int64_t>(ranks_));
  check_nonnegative("tolerance", rule.tolerance);
  const auto top_beta = static_cast<std::size_t>(rule.top_beta);
  double total = 0.0;
  for (std::size_t first = 0; first < gaps_.size(); first += ranks_) {
    double mass = 0.0;
    double accepted = 0.0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const double gap = ladder.spread * gaps_[first + rank];
      const double weight = std::exp(-gap / ladder.noise);
      mass += weight;
      if (rank < top_beta && gap <= rule.tolerance) accepted += weight;
    }
    total += accepted / mass;
  }
  const double contexts = static_cast<double>(gaps_.size()) / static_cast<double>(ranks_);
  return (1.0 - ladder.unlike) * total / contexts;
}

}  // namespace foredraft::experiments
