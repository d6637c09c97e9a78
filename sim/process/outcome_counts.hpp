// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "sim/draft_tree.hpp"

namespace foredraft::sim {

/// The outcome of one iteration.
struct Outcome {
  std::int64_t tokens;
  std::int64_t accepted;
  std::int64_t tested;
};

/// The outcome of an iteration whose first `accepted` token positions were accepted (including possibly the bonus
/// token's), far from the end of the text.
[[nodiscard]] inline Outcome iteration_outcome(const IterationShape& shape, std::int64_t accepted) {
  const std::int64_t drafts = std::min(accepted, shape.gamma);
  return {.tokens = std::min(drafts + 1, shape.max_tokens()),
          .accepted = drafts,
          .tested = std::min(drafts + 1, shape.gamma)};
}

/// The outcome of an iteration whose first `accepted` drafts were accepted, when the text has `remaining` more tokens
/// including this iteration's. Drafts after the end of the text are drafted but never tested. Which ones these are is
/// determined before any of them is drawn, so acceptance stays unbiased.
[[nodiscard]] inline Outcome last_outcome(const IterationShape& shape, std::int64_t accepted, std::int64_t remaining) {
  const std::int64_t testable = std::min(shape.gamma, remaining);
  const std::int64_t in_text = std::min(accepted, testable);
  return {.tokens = std::min({in_text + 1, shape.max_tokens(), remaining}),
          .accepted = in_text,
          .tested = std::min(in_text + 1, testable)};
}

/// Collects iterations one after another, in units that the caller ends.
class OutcomeCounts {
 public:
  explicit OutcomeCounts(const IterationShape& shape);

  void add(const Outcome& outcome) {
    ++tokens_count_[static_cast<std::size_t>(outcome.tokens - 1)];
    ++accepted_count_[static_cast<std::size_t>(outcome.accepted)];
    ++tested_count_[static_cast<std::size_t>(outcome.tested)];
    unit_.tokens += outcome.tokens;
    unit_.accepted += outcome.accepted;
    unit_.tested += outcome.tested;
    ++unit_iterations_;
  }

  /// Ends a unit; one without iterations does not count.
  void end_unit();

  /// Sets the unit in progress aside and starts another; the next call of resume_unit() continues it.
  void set_unit_aside();
  /// Adds the unit that was set aside to the unit in progress.
  void resume_unit();

  /// The tally of everything collected. All units must have been ended.
  [[nodiscard]] Tally tally() const;

 private:
  IterationShape shape_;
  std::vector<std::uint64_t> tokens_count_;    // [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> accepted_count_;  // [m]: iterations with m accepted drafts
  std::vector<std::uint64_t> tested_count_;    // [m]: iterations with m tested drafts
  UnitMoments units_;
  Outcome unit_{};
  std::int64_t unit_iterations_ = 0;
  Outcome aside_{};
  std::int64_t aside_iterations_ = 0;
};

/// Counts iterations of one endless text in cycles. A cycle runs from an iteration that starts after a rejected
/// position to the next such iteration. `after_acceptance`: whether the first one starts after an accepted position.
/// `accepted_steps(i, after)`: number of text positions of iteration i that are accepted before the first rejection,
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

/// An iteration with its own draft length.
struct VaryingIteration {
  std::int64_t gamma;
  Outcome outcome;
};

/// Collects iterations of varying draft lengths one after another, in units that the caller ends. OutcomeCounts is the
/// faster form for one length.
class VaryingCounts {
 public:
  /// `longest`: the shape of the longest draft.
  explicit VaryingCounts(const IterationShape& longest);

  void add(const VaryingIteration& iteration);

  /// Ends a unit; one without iterations does not count.
  void end_unit();

  /// The tally of everything collected. All units must have been ended.
  [[nodiscard]] Tally tally() const;

 private:
  IterationShape longest_;
  std::vector<std::uint64_t> tokens_count_;    // [k-1]: iterations that emitted k tokens
  std::vector<std::uint64_t> drafted_count_;   // [m]: iterations with m drafts
  std::vector<std::uint64_t> tested_count_;    // [m]: iterations with m tested drafts
  std::vector<std::uint64_t> accepted_count_;  // [m]: iterations with m accepted drafts
  UnitMoments units_;
  UnitMoments::Values unit_{};
};

}  // namespace foredraft::sim
