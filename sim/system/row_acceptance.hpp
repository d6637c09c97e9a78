// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "sim/process/recorded_outcomes.hpp"
#include "sim/process/runs_stepper.hpp"
#include "sim/process/steps.hpp"

/// How many drafts the rows of a batch accept. Each stepper answers `begin(request)`, what a row knows when its request
/// is admitted, and `accepted(draw, memory, gamma)` for the `draw`-th iteration of any row.
namespace foredraft::sim {

/// What a row remembers between iterations.
struct RowMemory {
  std::uint64_t emitted = 0;   ///< tokens
  std::uint64_t sequence = 0;  ///< of a recording
  RunsState run = {};
};

/// Iterations that do not depend on each other.
class IndependentRows {
 public:
  /// `survival`: [0] of the longest draft.
  IndependentRows(const SurvivalByState& survival, const RunKey& key, std::uint64_t block)
      : stepper_(survival, key, block) {}

  [[nodiscard]] static RowMemory begin(std::uint64_t /*request*/) { return {}; }
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, RowMemory& /*memory*/, std::int64_t gamma) {
    return stepper_.accepted_steps(draw, false, gamma);
  }

 private:
  SurvivalStepper stepper_;
};

/// Answers that are each a text of runs.
class RunsOfRows {
 public:
  RunsOfRows(const RunsLaw& law, const RunKey& key, std::uint64_t block, std::int64_t longest)
      : stepper_(law, key, block, longest) {}

  [[nodiscard]] RowMemory begin(std::uint64_t request) { return {.run = stepper_.start(request)}; }
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, RowMemory& memory, std::int64_t gamma) {
    return std::min(stepper_.accepted_steps(draw, memory.run, gamma), gamma);
  }

 private:
  RunsStepper stepper_;
};

/// Answers that each replay a recorded sequence, drawn with equal chance, from its start; a longer answer begins it
/// again.
class ReplayedRows {
 public:
  ReplayedRows(const RecordedOutcomes& recorded, const RunKey& key, std::uint64_t block)
      : recorded_(recorded),
        key_(key),
        choices_(key.seed, {.purpose = Purpose::recording, .point = key.point, .block = block}) {}

  [[nodiscard]] RowMemory begin(std::uint64_t request);
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, const RowMemory& memory, std::int64_t gamma) const;

 private:
  const RecordedOutcomes& recorded_;
  RunKey key_;
  RandomStream choices_;
};

using RowAcceptance = std::variant<IndependentRows, RunsOfRows, ReplayedRows>;

}  // namespace foredraft::sim
