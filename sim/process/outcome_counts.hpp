// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "foredraft/words.hpp"
#include "sim/tally.hpp"

namespace foredraft::sim {

/// Maximum draft length that is counted. Tallies have a few counters per position, a gigabyte for 2^24 positions.
inline constexpr std::int64_t max_counted_gamma = std::int64_t{1} << 24U;

/// Parameters that all iterations of a run share.
struct IterationShape {
  std::int64_t gamma;
  Convention convention;
  Drafting drafting;

  [[nodiscard]] std::int64_t max_tokens() const { return foredraft::max_tokens(gamma, convention); }
  [[nodiscard]] std::int64_t draft_passes() const { return foredraft::draft_passes(gamma, drafting); }
};

/// The tally of iterations, each a unit, of which `accepted_counts[k]` accepted exactly k drafts, k = 0..gamma.
[[nodiscard]] Tally tally_independent(const IterationShape& shape, std::span<const std::uint64_t> accepted_counts);

/// The outcome of one iteration.
struct Outcome {
  std::int64_t tokens;
  std::int64_t accepted;
  std::int64_t tested;
};

/// The outcome far from the end of the text. `accepted`: number of accepted token positions, possibly including the
/// bonus token's.
[[nodiscard]] inline Outcome iteration_outcome(const IterationShape& shape, std::int64_t accepted) {
  const std::int64_t drafts = std::min(accepted, shape.gamma);
  return {.tokens = std::min(drafts + 1, shape.max_tokens()),
          .accepted = drafts,
          .tested = std::min(drafts + 1, shape.gamma)};
}

/// The outcome if the text has `remaining` more tokens. Drafts after the end of the text are never tested. Their
/// positions do not depend on acceptance, which therefore stays unbiased.
[[nodiscard]] inline Outcome last_outcome(const IterationShape& shape, std::int64_t accepted, std::int64_t remaining) {
  const std::int64_t testable = std::min(shape.gamma, remaining);
  const std::int64_t in_text = std::min(accepted, testable);
  return {.tokens = std::min({in_text + 1, shape.max_tokens(), remaining}),
          .accepted = in_text,
          .tested = std::min(in_text + 1, testable)};
}

/// last_outcome() near the end of the text, else iteration_outcome().
[[nodiscard]] inline Outcome outcome_in_text(const IterationShape& shape, std::int64_t accepted,
                                             std::int64_t remaining) {
  return remaining >= shape.max_tokens() ? iteration_outcome(shape, accepted)
                                         : last_outcome(shape, accepted, remaining);
}

/// An iteration with its own draft length.
struct VaryingIteration {
  std::int64_t gamma;
  Outcome outcome;
  std::optional<std::int64_t> passes = {};  ///< passes of the drafter; empty: draft_passes(gamma, drafting)
};

/// Counts iterations in units; the caller ends each unit.
class OutcomeCounts {
 public:
  /// `longest`: the shape of the longest draft.
  explicit OutcomeCounts(const IterationShape& longest);

  /// Adds an iteration with the maximum draft length.
  void add(const Outcome& outcome) {
    ++tokens_count_[static_cast<std::size_t>(outcome.tokens - 1)];
    ++accepted_count_[static_cast<std::size_t>(outcome.accepted)];
    ++tested_count_[static_cast<std::size_t>(outcome.tested)];
    unit_.outcome.tokens += outcome.tokens;
    unit_.outcome.accepted += outcome.accepted;
    unit_.outcome.tested += outcome.tested;
    ++unit_.iterations;
  }
  void add(const VaryingIteration& iteration);

  /// Ends a unit; units without iterations are ignored.
  void end_unit();

  /// Sets the current unit aside for resume_unit() and starts another.
  void set_unit_aside();
  /// Adds the unit that was set aside to the current unit.
  void resume_unit();

  /// The tally of everything collected. All units must have been ended.
  [[nodiscard]] Tally tally() const;

 private:
  struct Unit {
    Outcome outcome{};  // summed
    std::int64_t iterations = 0;
    std::int64_t drafts_short = 0;  // of the longest draft
    std::int64_t passes_short = 0;
  };

  IterationShape longest_;
  std::vector<std::uint64_t> tokens_count_;    // [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> accepted_count_;  // [m]: iterations with m accepted drafts
  std::vector<std::uint64_t> tested_count_;    // [m]: iterations with m tested drafts
  std::vector<std::uint64_t> drafted_count_;   // [m]: iterations with m drafts, if added as VaryingIteration
  UnitMoments units_;
  Unit unit_;
  Unit aside_;
};

/// Counts iterations of one endless text in cycles. A cycle extends from one iteration after a rejected position to the
/// next. `accepted_steps(i, after)`: text positions of iteration i that are accepted before the first rejection,
/// including the bonus token's. The incomplete first and last cycles are joined into one unit.
template <class AcceptedSteps>
[[nodiscard]] Tally count_cycles(const IterationShape& shape, std::uint64_t iterations, bool after_acceptance,
                                 StopToken token, const AcceptedSteps& accepted_steps) {
  OutcomeCounts counts(shape);
  bool inside_first_cycle = after_acceptance;
  StopMeter stop(token);
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const std::int64_t steps = accepted_steps(i, after_acceptance);
    stop.spend(1 + steps);
    counts.add(iteration_outcome(shape, steps));
    after_acceptance = steps == shape.max_tokens();
    if (after_acceptance) continue;
    if (inside_first_cycle) {
      counts.set_unit_aside();
      inside_first_cycle = false;
    } else {
      counts.end_unit();
    }
  }
  counts.resume_unit();
  counts.end_unit();
  return counts.tally();
}

}  // namespace foredraft::sim
