// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "foredraft/scenario.hpp"
#include "sim/process/draws.hpp"
#include "sim/process/threshold.hpp"

namespace foredraft::sim {

/// Where a text stands in a process of runs.
struct RunsState {
  bool after_acceptance = false;  ///< the position before was accepted: a run goes on
  std::uint8_t kind = 0;          ///< of that run: 0 easy, 1 hard
};

/// The thresholds of a process of runs.
struct RunsLaw {
  /// A text starts as an endless one stands before its iterations of `gamma` drafts. Precondition: as check_scenario.
  RunsLaw(const Runs& runs, std::int64_t gamma);

  Threshold begin{};                  ///< the position behind a rejection is accepted
  std::array<Threshold, 2> within{};  ///< [kind]
  std::array<Threshold, 2> across{};  ///< [kind]: into the bonus token, and out of it
  Threshold accepted_before{};        ///< a text starts behind an accepted bonus token
  Threshold easy_before{};            ///< of an easy run, given that
};

/// Goes through the iterations of texts one after another.
class RunsStepper {
 public:
  /// `longest`: no iteration drafts more.
  RunsStepper(const RunsLaw& law, const RunKey& key, std::uint64_t block, std::int64_t longest)
      : law_(law),
        starts_(key, chain_start_draws, block, 2),
        draws_(key, bernoulli_draws, block, static_cast<std::uint64_t>(longest) + 2),
        kind_draw_(static_cast<std::uint64_t>(longest) + 1) {}

  [[nodiscard]] RunsState start(std::uint64_t text);

  /// Positions of an iteration of `gamma` drafts that are accepted one by one: gamma + 1 with its bonus token. Moves
  /// `state` to the next iteration.
  [[nodiscard]] std::int64_t accepted_steps(std::uint64_t iteration, RunsState& state, std::int64_t gamma);

 private:
  const RunsLaw& law_;
  Draws starts_;
  Draws draws_;
  std::uint64_t
      kind_draw_;  ///< the last draw of an iteration tells the kind of the run that begins in it: only one can
};

}  // namespace foredraft::sim
