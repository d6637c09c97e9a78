#pragma once

#include <cstdint>
#include <span>

#include "core/words.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// What the iterations of a token run have in common.
struct IterationShape {
  std::int64_t gamma;
  Convention convention;
  Drafting drafting;
  std::uint64_t iterations;
};

/// The tally of independent iterations, `accepted_counts[k]` of which accepted exactly k drafts, k = 0..gamma.
[[nodiscard]] Tally tally_of_accepted_counts(const IterationShape& shape,
                                             std::span<const std::uint64_t> accepted_counts);

/// Number of blocks of `block_size` iterations. Throws DomainError where the random streams cannot number them.
[[nodiscard]] std::uint64_t block_count(const IterationShape& shape, std::uint64_t block_size);

/// Iterations of block `block`: block_size, or what is left for the last one.
[[nodiscard]] std::uint64_t block_iterations(const IterationShape& shape, std::uint64_t block_size,
                                             std::uint64_t block);

}  // namespace foredraft::sim
