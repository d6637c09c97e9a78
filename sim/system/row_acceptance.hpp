// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <variant>

#include "core/random_stream.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "sim/process/steppers.hpp"
#include "sim/simulator.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {

// ---- Accepted drafts of the sequences of a batch. Each stepper implements `begin(request)`, the initial memory of a
// sequence, and `accepted(draw, memory, gamma)`, the accepted drafts of an iteration; `draw` numbers the iterations of
// all sequences.

/// Memory of a sequence between iterations.
struct RowMemory {
  std::uint64_t emitted = 0;   ///< tokens
  std::uint64_t sequence = 0;  ///< index into a recording
  RunsState run = {};
};

/// Sequences with independent iterations.
class IndependentRows {
 public:
  /// `survival`: [0]: thresholds of the longest draft.
  IndependentRows(const std::shared_ptr<const SurvivalByState>& survival, const RunKey& key, std::uint64_t block)
      : stepper_(survival, key, block) {}

  [[nodiscard]] static RowMemory begin(std::uint64_t /*request*/) { return {}; }
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, RowMemory& /*memory*/, std::int64_t gamma) {
    return stepper_.accepted_steps(draw, false, gamma);
  }

 private:
  SurvivalStepper stepper_;
};

/// Each output is a text of a Runs process.
class RunsOfRows {
 public:
  RunsOfRows(const RunsDistribution& distribution, const RunKey& key, std::uint64_t block, std::int64_t longest)
      : stepper_(distribution, key, block, longest) {}

  [[nodiscard]] RowMemory begin(std::uint64_t request) { return {.run = stepper_.start(request)}; }
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, RowMemory& memory, std::int64_t gamma) {
    return std::min(stepper_.accepted_steps(draw, memory.run, gamma), gamma);
  }

 private:
  RunsStepper stepper_;
};

/// Each output replays a recorded sequence, drawn uniformly, from its start; longer outputs repeat the sequence.
class ReplayedRows {
 public:
  ReplayedRows(const RecordedOutcomes& recorded, const RunKey& key, std::uint64_t block)
      : recorded_(recorded),
        key_(key),
        choices_(key.seed, {.purpose = Purpose::recording, .point = key.point, .block = block}) {}

  [[nodiscard]] RowMemory begin(std::uint64_t /*request*/) {
    return {.sequence = uniform_index(choices_.next_u64(), recorded_.sequences())};
  }

  [[nodiscard]] std::int64_t accepted(std::uint64_t /*draw*/, const RowMemory& memory, std::int64_t gamma) const {
    const std::size_t size = recorded_.size(memory.sequence);
    if (size == 0) return 0;
    const auto drafts = static_cast<std::size_t>(gamma);
    std::size_t all = 0;
    for (std::size_t position = memory.emitted % size; all < drafts; position = 0) {
      const std::size_t testable = std::min(drafts - all, size - position);
      const std::size_t accepted = recorded_.accepted(memory.sequence, position, testable, key_);
      all += accepted;
      if (accepted < testable) break;
    }
    return static_cast<std::int64_t>(all);
  }

 private:
  const RecordedOutcomes& recorded_;
  RunKey key_;
  RandomStream choices_;
};

using RowAcceptance = std::variant<IndependentRows, RunsOfRows, ReplayedRows>;

}  // namespace foredraft::sim
