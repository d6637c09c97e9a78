// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "foredraft/quantities.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/simulator.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {

/// The data of one drafted token in 16 bytes, so that a draw and its test read one cache line.
struct DraftSlot {
  AliasSlot alias;             ///< alias table of the draft distribution q
  std::uint32_t accept_own;    ///< acceptance of the slot's own token, in units of 2^-31
  std::uint32_t accept_alias;  ///< and of its alias
};

/// The same for block verification, with ratios of the slot's own token and of its alias.
struct BlockSlot {
  AliasSlot alias;
  double ratio_own;
  double ratio_alias;
};

/// Lookup tables of block verification over a pool of contexts.
class PooledBlocks {
 public:
  /// Bytes per token of each context.
  static constexpr std::int64_t bytes_per_entry = 2 * sizeof(BlockSlot) + ResidualMass::bytes_per_entry + sizeof(Token);

  /// Appends the next context.
  void add(const PositionDistributions& distributions);

  /// Slots of q, with ratios p / q; row-major as PooledTables::draft().
  [[nodiscard]] const std::vector<BlockSlot>& draft() const { return draft_; }
  /// Slots of max(0, p - q), normalized, with ratios q / p.
  [[nodiscard]] const std::vector<BlockSlot>& replacement() const { return replacement_; }
  [[nodiscard]] const ResidualMass& residual(std::size_t context) const { return residuals_[context]; }

  /// True if U < h for P = `ratio` < 1 in a context. S(P) = P m(1 / P) is convex, so chords between tabulated values
  /// give bounds; the exact value is computed only if the bounds do not decide.
  [[nodiscard]] bool keeps(std::size_t context, double ratio, double uniform) const;

 private:
  static constexpr std::size_t grid = 64;  ///< values of S on (0, 1]

  std::vector<BlockSlot> draft_;
  std::vector<BlockSlot> replacement_;
  std::vector<ResidualMass> residuals_;
  std::vector<double> masses_;  ///< S(i / grid), i = 0 to grid + 1, of each context
};

/// Lookup tables of recursive rejection over a pool of contexts, for use after the rejection of a first candidate.
class PooledCandidates {
 public:
  /// p and q of a token, adjacent.
  struct Pair {
    double target;
    double draft;
  };

  /// scheme.count >= 2.
  explicit PooledCandidates(const CandidateScheme& scheme) : scheme_(scheme) {}

  /// Memory for each token of each context.
  [[nodiscard]] static std::int64_t bytes_per_entry(const CandidateScheme& scheme);

  /// Appends the next context.
  void add(const PositionDistributions& distributions);

  [[nodiscard]] const CandidateScheme& scheme() const { return scheme_; }

  /// Row-major: token x of context k lies at k * vocabulary + x.
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }

  /// m(1), the mass of a context's first residual.
  [[nodiscard]] double first_mass(std::size_t context) const { return first_mass_[context]; }

  /// m(c) after 2 to scheme.count - 1 rejections; precomputed with replacement, where c is the same for all positions.
  [[nodiscard]] double mass(std::size_t context, std::size_t rejections, double c) const {
    return masses_.empty() ? steps_[context * (static_cast<std::size_t>(scheme_.count) - 2) + rejections - 2]
                           : masses_[context](c);
  }
  /// Prefetches what mass() will read.
  void prefetch_mass(std::size_t context, double c) const {
    if (!masses_.empty()) masses_[context].prefetch(c);
  }

 private:
  CandidateScheme scheme_;
  std::vector<Pair> pairs_;
  std::vector<double> first_mass_;
  std::vector<double> steps_;         ///< with replacement: the masses after 2, 3, ... rejections of each context
  std::vector<ResidualMass> masses_;  ///< without replacement: one per context
};

/// Slots prefetched ahead of their use; exceeds the outstanding cache misses of one core.
inline constexpr std::size_t prefetch_distance = 16;

/// Acceptance probabilities are integers in units of 2^-31: a draft is accepted if a uniform 31-bit number is smaller.
/// 0 never accepts, 1 always accepts, and any other probability is within 2^-32 of the rule's.
inline constexpr unsigned acceptance_bits = 31;

[[nodiscard]] std::uint32_t acceptance_threshold(double acceptance);

/// True if a uniform 64-bit word accepts at a threshold.
[[nodiscard]] inline bool accepts(std::uint64_t word, std::uint32_t threshold) {
  return word >> (64 - acceptance_bits) < threshold;
}

/// A verification rule tabulated over a pool of contexts: one row of slots per context.
class PooledTables {
 public:
  /// Reserves `contexts` rows for a rule with these candidates or with block verification. counts[i]: candidates of
  /// draft i + 1, at most scheme.count; empty: scheme.count for all. Throws DomainError above 2 GiB.
  PooledTables(std::int64_t vocabulary, std::int64_t contexts, const CandidateScheme& scheme = {},
               bool verifies_blocks = false, std::vector<std::int64_t> counts = {});

  /// Appends a context: the rule's acceptance and emitted distributions for these distributions.
  void add(const VerificationRule& rule, const PositionDistributions& distributions);

  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::size_t contexts() const { return contexts_; }

  /// Mean over the contexts of acceptance_probability(); NaN if that is, and if the number of candidates varies with
  /// depth. Clamped to [0, 1], because closed forms reject values outside of it that are due to round-off.
  [[nodiscard]] double expected_acceptance() const {
    return scheme_.varies ? unknown<double> : std::clamp(acceptance_sum_ / static_cast<double>(contexts_), 0.0, 1.0);
  }

  /// Mean over the contexts of optimal_acceptance(); NaN unless there are several independent candidates, the same
  /// number for each draft.
  [[nodiscard]] double optimal_acceptance() const { return optimum_sum_ / static_cast<double>(contexts_); }

  // Row-major: the slot s of context k lies at k * vocabulary() + s.
  [[nodiscard]] const std::vector<DraftSlot>& draft() const { return draft_; }
  [[nodiscard]] const std::vector<AliasSlot>& replacement() const { return replacement_; }
  [[nodiscard]] const std::vector<AliasSlot>& bonus() const { return bonus_; }

  [[nodiscard]] const CandidateScheme& scheme() const { return scheme_; }

  /// The candidates of draft `index` (from 0).
  [[nodiscard]] std::int64_t candidate_count(std::size_t index) const {
    return counts_.empty() ? scheme_.count : counts_[index];
  }

  /// Tables for block verification, instead of draft() and replacement(), which are then empty; null for other rules.
  [[nodiscard]] const PooledBlocks* blocks() const { return blocks_ ? &*blocks_ : nullptr; }

  /// Tables for the candidates after the first one; null if there are none, or if they are tested alike.
  [[nodiscard]] const PooledCandidates* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

 private:
  void add_draft(const VerificationRule& rule, const PositionDistributions& distributions);

  std::size_t vocabulary_;
  std::size_t contexts_ = 0;
  CandidateScheme scheme_;
  std::vector<std::int64_t> counts_;
  double acceptance_sum_ = 0.0;
  double optimum_sum_ = 0.0;
  std::vector<DraftSlot> draft_;
  std::vector<AliasSlot> replacement_;
  std::vector<AliasSlot> bonus_;
  std::optional<PooledCandidates> candidates_;
  std::optional<PooledBlocks> blocks_;
  std::vector<double> scratch_;
};

/// Iterations with pooled contexts. Every position draws a context of the pool uniformly and independently, so
/// acceptances are independent with the pool's mean acceptance. Under a lossless rule the emitted pairs (context,
/// token) are independent with distribution p_context(token) / contexts.
[[nodiscard]] std::unique_ptr<Simulator> make_pooled_simulator(PooledTables tables, const IterationShape& shape,
                                                               std::uint64_t iterations);

/// Throws DomainError if the tables of pool * vocabulary entries exceed 2 GiB.
void check_pool_size(std::int64_t contexts, std::int64_t vocabulary, const CandidateScheme& scheme = {},
                     bool verifies_blocks = false);

}  // namespace foredraft::sim
