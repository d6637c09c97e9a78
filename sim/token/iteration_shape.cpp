#include "sim/token/iteration_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/check.hpp"

namespace foredraft::sim {

Tally tally_of_accepted_counts(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts) {
  FOREDRAFT_EXPECT(accepted_counts.size() == static_cast<std::size_t>(shape.gamma) + 1);
  Tally tally = empty_tally(shape.gamma, shape.convention);
  const std::int64_t passes = foredraft::draft_passes(shape.gamma, shape.drafting);
  const std::uint64_t all = std::accumulate(accepted_counts.begin(), accepted_counts.end(), std::uint64_t{0});
  std::uint64_t surviving = all;  // iterations that accepted at least k drafts
  for (std::size_t k = 0; k < accepted_counts.size(); ++k) {
    const auto drafts = static_cast<std::int64_t>(k);
    const std::int64_t emitted = std::min(drafts + 1, max_tokens(shape.gamma, shape.convention));
    const std::int64_t tested_drafts = std::min(drafts + 1, shape.gamma);
    tally.units.add({emitted, 1, shape.gamma, passes, drafts, tested_drafts},
                    static_cast<std::int64_t>(accepted_counts[k]));
    tally.tokens_count[static_cast<std::size_t>(emitted - 1)] += accepted_counts[k];
    if (drafts == shape.gamma) break;
    tally.drafted_at[k] = all;
    tally.tested_at[k] = surviving;
    surviving -= accepted_counts[k];
    tally.accepted_at[k] = surviving;
  }
  return tally;
}

std::uint64_t block_count(const IterationShape& shape, std::uint64_t block_size) {
  const std::uint64_t blocks = shape.iterations / block_size + (shape.iterations % block_size != 0 ? 1 : 0);
  constexpr std::uint64_t most = std::uint64_t{1} << 32U;
  if (blocks > most) {
    throw DomainError(
        fmt::format("invalid iterations={} (must be at most {} here)", shape.iterations, most * block_size));
  }
  return blocks;
}

std::uint64_t block_iterations(const IterationShape& shape, std::uint64_t block_size, std::uint64_t block) {
  FOREDRAFT_EXPECT(block < block_count(shape, block_size));
  return std::min(block_size, shape.iterations - block * block_size);
}

}  // namespace foredraft::sim
