// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration_shape.hpp"

#include <algorithm>
#include <numeric>

#include "core/contract.hpp"

namespace foredraft::sim {

Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts) {
  FOREDRAFT_EXPECT(accepted_counts.size() == static_cast<std::size_t>(shape.gamma) + 1);
  Tally tally = empty_tally(shape.gamma, shape.convention);
  const std::uint64_t all = std::accumulate(accepted_counts.begin(), accepted_counts.end(), std::uint64_t{0});
  std::uint64_t surviving = all;  // iterations that accepted at least k drafts
  for (std::size_t k = 0; k < accepted_counts.size(); ++k) {
    const std::uint64_t ended = accepted_counts[k];
    if (ended > 0) {
      const auto drafts = static_cast<std::int64_t>(k);
      const std::int64_t emitted = std::min(drafts + 1, shape.max_tokens());
      tally.tokens_count[static_cast<std::size_t>(emitted - 1)] += ended;
      tally.units.add({emitted, 1, shape.gamma, shape.draft_passes(), drafts, std::min(drafts + 1, shape.gamma)},
                      static_cast<std::int64_t>(ended));
    }
    if (k + 1 == accepted_counts.size()) break;
    tally.drafted_at[k] = all;
    tally.tested_at[k] = surviving;
    surviving -= ended;
    tally.accepted_at[k] = surviving;
  }
  return tally;
}

}  // namespace foredraft::sim
