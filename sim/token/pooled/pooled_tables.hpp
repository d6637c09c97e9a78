// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/token/pooled/draft_slot.hpp"
#include "sim/token/pooled/pooled_candidates.hpp"
#include "sim/token/rows/alias_table.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// Acceptance probabilities are integers in units of 2^-31: a draft is accepted iff a uniform 31-bit number is below.
/// So 0 never accepts, 1 always does, and any other probability is within 2^-32 of the rule's.
inline constexpr unsigned acceptance_bits = 31;

[[nodiscard]] std::uint32_t acceptance_threshold(double acceptance);

/// Whether a uniform 64-bit word accepts at a threshold.
[[nodiscard]] inline bool accepts(std::uint64_t word, std::uint32_t threshold) {
  return word >> (64 - acceptance_bits) < threshold;
}

/// A verification rule worked out over a pool of contexts: one row of slots a context.
class PooledTables {
 public:
  /// Reserves rows for `contexts` contexts of a rule with these candidates. Throws DomainError where they would take
  /// more than 2 GiB.
  PooledTables(std::int64_t vocabulary, std::int64_t contexts, const CandidateScheme& scheme = {});

  /// Appends the next context: the rule's acceptance and laws at these two distributions.
  void add(const VerificationRule& rule, const PositionLaws& laws);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::size_t contexts() const { return contexts_; }

  /// Mean over the contexts of acceptance_probability(). Each is a sum over a law, which sums to 1 within rounding:
  /// where every draft is accepted, or none, the mean may leave [0, 1] by a unit in the last place, and no closed form
  /// would take it for a probability any more. NaN stays what it is.
  [[nodiscard]] double expected_acceptance() const {
    return std::clamp(acceptance_sum_ / static_cast<double>(contexts_), 0.0, 1.0);
  }

  // Row-major: the slot s of context k lies at k * vocabulary() + s.
  [[nodiscard]] const std::vector<DraftSlot>& draft() const { return draft_; }
  [[nodiscard]] const std::vector<AliasSlot>& replacement() const { return replacement_; }
  [[nodiscard]] const std::vector<AliasSlot>& bonus() const { return bonus_; }

  /// What the candidates behind the first one need; null where there are none.
  [[nodiscard]] const PooledCandidates* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

 private:
  std::size_t vocabulary_;
  std::size_t contexts_ = 0;
  double acceptance_sum_ = 0.0;
  std::vector<DraftSlot> draft_;
  std::vector<AliasSlot> replacement_;
  std::vector<AliasSlot> bonus_;
  std::optional<PooledCandidates> candidates_;
  std::vector<double> scratch_;
};

/// Throws DomainError unless pool * vocabulary entries can be prepared within 2 GiB.
void check_pool_size(std::int64_t contexts, std::int64_t vocabulary, const CandidateScheme& scheme = {});

}  // namespace foredraft::sim
