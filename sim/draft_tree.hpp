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

/// Where a drafted node hangs. Node 0 is the root, the token that the target yields in any case; branch i is node i
/// + 1.
struct Branch {
  std::int32_t parent;  ///< an earlier node
  std::int32_t rank;    ///< which candidate for its position it is, from 0
};

/// The shape of the trees that a drafter fills with tokens, iteration after iteration.
class DraftTree {
 public:
  struct Child {
    std::int32_t rank;
    std::int32_t node;
  };

  /// Throws DomainError on a parent that is no earlier node, a negative rank, or siblings of one rank.
  explicit DraftTree(std::span<const Branch> branches);

  /// Drafted tokens on the longest path.
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  /// Children of a node by rising rank.
  [[nodiscard]] std::span<const Child> children(std::int32_t node) const;
  /// The child of this rank.
  [[nodiscard]] std::optional<std::int32_t> child(std::int32_t node, std::int64_t rank) const;

 private:
  std::vector<std::vector<Child>> children_;
  std::int64_t depth_ = 0;
};

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
