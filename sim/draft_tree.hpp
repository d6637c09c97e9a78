// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "foredraft/words.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Parent and rank of a drafted node. Node 0 is the root, the token that the target yields in any case; branch i is
/// node i + 1.
struct Branch {
  std::int32_t parent;  ///< an earlier node
  std::int32_t rank;    ///< index of the candidate for its position, from 0
};

/// The shape of the trees that a drafter fills with tokens in every iteration.
class DraftTree {
 public:
  struct Child {
    std::int32_t rank;
    std::int32_t node;
  };

  /// Throws DomainError for a parent that is not an earlier node, a negative rank, or siblings of the same rank.
  explicit DraftTree(std::span<const Branch> branches);

  /// Depth: drafted tokens on the longest path.
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  /// Children of a node by ascending rank.
  [[nodiscard]] std::span<const Child> children(std::int32_t node) const;
  /// The child of this rank.
  [[nodiscard]] std::optional<std::int32_t> child(std::int32_t node, std::int64_t rank) const;

 private:
  std::vector<std::vector<Child>> children_;
  std::int64_t depth_ = 0;
};

/// Parameters that all iterations of a run share.
struct IterationShape {
  std::int64_t gamma;
  Convention convention;
  Drafting drafting;

  [[nodiscard]] std::int64_t max_tokens() const { return foredraft::max_tokens(gamma, convention); }
  [[nodiscard]] std::int64_t draft_passes() const { return foredraft::draft_passes(gamma, drafting); }
};

/// The tally of independent iterations, of which `accepted_counts[k]` accepted exactly k drafts, k = 0..gamma. Unit:
/// the iteration.
[[nodiscard]] Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts);

}  // namespace foredraft::sim
