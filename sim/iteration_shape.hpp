// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "foredraft/words.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// What every iteration of a run has in common.
struct IterationShape {
  std::int64_t gamma;
  Convention convention;
  Drafting drafting;

  [[nodiscard]] std::int64_t max_tokens() const { return foredraft::max_tokens(gamma, convention); }
  [[nodiscard]] std::int64_t draft_passes() const { return foredraft::draft_passes(gamma, drafting); }
};

/// The tally of independent iterations, `accepted_counts[k]` of which accepted exactly k drafts, k = 0..gamma. Unit:
/// the iteration.
[[nodiscard]] Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts);

}  // namespace foredraft::sim
