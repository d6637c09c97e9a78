// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/acceptance.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// State of a text in a process of runs.
struct RunsState {
  bool after_acceptance = false;  ///< the previous position was accepted, so the text is inside a run
  std::uint8_t kind = 0;          ///< kind of the run: 0 easy, 1 hard
};

/// The thresholds of a process of runs.
struct RunsDistribution {
  /// Texts start in the stationary state of an endless text with `gamma` drafts. Requires valid `runs`
  /// (check_scenario).
  RunsDistribution(const Runs& runs, std::int64_t gamma);

  Threshold begin{};                  ///< the position after a rejection is accepted
  std::array<Threshold, 2> within{};  ///< [kind]
  std::array<Threshold, 2> across{};  ///< [kind]: into the bonus token, and out of it
  Threshold accepted_before{};        ///< a text starts after an accepted bonus token
  Threshold easy_before{};            ///< the run is easy, given accepted_before
};

/// Steps through the iterations of texts.
class RunsStepper {
 public:
  /// `longest`: maximum draft length of an iteration.
  RunsStepper(const RunsDistribution& distribution, const RunKey& key, std::uint64_t block, std::int64_t longest)
      : distribution_(distribution),
        starts_(key, chain_start_draws, block, 2),
        draws_(key, bernoulli_draws, block, static_cast<std::uint64_t>(longest) + 2),
        kind_draw_(static_cast<std::uint64_t>(longest) + 1) {}

  [[nodiscard]] RunsState start(std::uint64_t text);

  /// Number of positions of an iteration of `gamma` drafts accepted before the first rejection: up to gamma + 1 with
  /// its bonus token. Advances `state` to the next iteration.
  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, RunsState& state, std::int64_t gamma);

 private:
  const RunsDistribution& distribution_;
  Draws starts_;
  Draws draws_;
  /// Index of the last draw of an iteration, which determines the kind of the run that begins in it. At most one run
  /// begins in an iteration.
  std::uint64_t kind_draw_;
};

/// Converts accepted counts per iteration, recorded at `gamma` drafts, to outcomes per token position: k accepted
/// drafts, then a rejection; after gamma accepted drafts with a bonus token, an unobserved position. Throws DomainError
/// for no counts, and for a count outside 0 to gamma.
[[nodiscard]] std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted,
                                                                  std::int64_t gamma, Convention convention);

/// Recorded outcomes of iterations that may begin at any position of a recording.
class RecordedOutcomes {
 public:
  explicit RecordedOutcomes(std::shared_ptr<const Recording> recording);

  [[nodiscard]] std::size_t sequences() const { return sizes_.size(); }
  [[nodiscard]] std::size_t size(std::size_t sequence) const { return sizes_[sequence]; }
  [[nodiscard]] std::uint64_t positions() const { return positions_; }

  /// Number of accepted drafts of `testable` <= size(sequence) - position drafts that start at `position`. The draw for
  /// an unobserved outcome depends only on its position.
  [[nodiscard]] std::size_t accepted(std::size_t sequence, std::size_t position, std::size_t testable,
                                     const RunKey& key) const {
    const std::size_t by_outcome = recording_->sequences.size();
    if (sequence >= by_outcome) {
      const auto from = recording_->accepted_from[sequence - by_outcome][position];
      return std::min(static_cast<std::size_t>(from), testable);
    }
    const std::vector<std::int8_t>& outcomes = recording_->sequences[sequence];
    std::size_t count = 0;
    while (count < testable && is_accepted(outcomes[position + count], offsets_[sequence] + position + count, key)) {
      ++count;
    }
    return count;
  }

 private:
  [[nodiscard]] bool is_accepted(std::int8_t outcome, std::uint64_t place, const RunKey& key) const;

  std::shared_ptr<const Recording> recording_;
  std::vector<std::size_t> sizes_;      // of `sequences`, then of `accepted_from`
  std::vector<std::uint64_t> offsets_;  // of each of `sequences` in the whole recording
  std::uint64_t positions_ = 0;
  Threshold frequency_{};  // acceptance rate of the observed outcomes
};

}  // namespace foredraft::sim
