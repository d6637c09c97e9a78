// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/intervals.hpp"
#include "core/parallel.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/policy_sources.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "sim/system/serving_simulation.hpp"

namespace foredraft::sim {

/// Balance of a replica when it stops: what arrived, departed and remains; times in ns.
struct RunAccount {
  std::int64_t arrived = 0;  ///< requests, counted as time advances
  std::int64_t departed = 0;
  std::int64_t in_service = 0;
  std::int64_t waiting = 0;
  Int128 emitted_tokens = 0;     ///< counted at every pass
  Int128 departed_tokens = 0;    ///< the lengths of the departed
  Int128 in_service_tokens = 0;  ///< emitted so far for those in service
  Int128 in_system_ns = 0;       ///< integral of the number of requests in the system over time
  Int128 departed_ns = 0;        ///< sum of arrival to departure
  Int128 remaining_ns = 0;       ///< sum of arrival to now over those in service and waiting
};

/// Throws std::logic_error unless every request that arrived departed, is served or waits, every token belongs to one
/// of them, and Little's law holds as an identity over the finite run including what remains at its end. [Little1961]
void check_account(const RunAccount& account);

// ---- Accepted drafts of the sequences of a batch. Each stepper implements `begin(request)`, the memory of a sequence
// when its request is admitted, and `accepted(draw, memory, gamma)` for the `draw`-th iteration of any sequence.

/// Memory of a sequence between iterations.
struct RowMemory {
  std::uint64_t emitted = 0;   ///< tokens
  std::uint64_t sequence = 0;  ///< index into a recording
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

/// Outputs that are each a text of runs.
class RunsOfRows {
 public:
  RunsOfRows(const RunsDistribution& law, const RunKey& key, std::uint64_t block, std::int64_t longest)
      : stepper_(law, key, block, longest) {}

  [[nodiscard]] RowMemory begin(std::uint64_t request) { return {.run = stepper_.start(request)}; }
  [[nodiscard]] std::int64_t accepted(std::uint64_t draw, RowMemory& memory, std::int64_t gamma) {
    return std::min(stepper_.accepted_steps(draw, memory.run, gamma), gamma);
  }

 private:
  RunsStepper stepper_;
};

/// Outputs that each replay a recorded sequence, drawn uniformly, from its start; a longer output starts over.
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

/// Survival thresholds of the longest draft, or what sequences with a memory draw from.
using PreparedAcceptance = std::variant<SurvivalByState, RunsDistribution, RecordedOutcomes>;

/// A checked simulation with the data that all its replicas share.
struct PreparedServing {
  ServingSimulation simulation;
  std::vector<IterationShape> shapes;  ///< [batch]
  IterationShape longest;              ///< longest of these
  PreparedAcceptance acceptance;

  [[nodiscard]] RowAcceptance rows(const RunKey& key, std::uint64_t block) const;
};

/// One replica: clock, batch and counts.
class Server {
 public:
  Server(const PreparedServing& prepared, const RunKey& key, std::uint64_t block);

  /// Serves until the last measured request is answered.
  [[nodiscard]] Tally run();

 private:
  struct Row {
    std::int64_t arrival_ns;
    std::int64_t first_token_ns;
    std::int64_t prompt;
    std::int64_t output;
    std::int64_t remaining;  ///< 0: finished, padding of a static batch
    bool measured;
    RowMemory memory;
  };

  void admit();
  /// The current static batch.
  [[nodiscard]] bool closed_to_others() const;
  /// Whether requests that arrived during the last prefill pass are prefilled before the next iteration.
  [[nodiscard]] bool admits_more() const;
  void read_prompts(std::size_t first_new);
  void iterate();
  /// Draws steps_; returns the minimum over the unfinished sequences.
  [[nodiscard]] std::int64_t draw_steps(std::int64_t gamma);
  [[nodiscard]] std::int64_t iteration_ns(const IterationShape& shape) const;
  void pass_time(std::int64_t duration_ns);
  void emit(Row& row, std::int64_t tokens);
  void depart(const Row& row);
  void leave_batch();
  [[nodiscard]] Replica record() const;
  void close_account();

  const PreparedServing& prepared_;
  const ServingSimulation& simulation_;
  std::uint64_t block_;
  ArrivalStream queue_;  // next to be admitted
  ArrivalStream doors_;  // next to arrive
  RandomStream prompts_;
  RandomStream outputs_;
  RowAcceptance acceptance_;
  StopMeter stop_;

  std::int64_t now_ns_ = 0;
  std::int64_t in_system_ = 0;
  std::uint64_t admitted_ = 0;
  std::uint64_t measured_left_;
  std::uint64_t draws_ = 0;
  std::vector<Row> rows_;
  std::vector<std::int64_t> steps_;  // drafts accepted in this iteration, by sequence
  std::int64_t unfinished_ = 0;      // sequences
  std::int64_t context_ = 0;         // cached tokens of all sequences

  RunAccount account_;  // from the start

  // Since the window opened.
  bool open_ = false;
  std::int64_t opened_ns_ = 0;
  Int128 in_system_before_ns_ = 0;
  std::int64_t window_tokens_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t rows_passed_ = 0;

  // For measured requests.
  VaryingCounts counts_;
  Int128 latency_sum_ns_ = 0;
  Int128 wait_sum_ns_ = 0;
  Int128 first_token_sum_ns_ = 0;
  Int128 per_token_sum_ns_ = 0;
  Int128 tpot_sum_ns_ = 0;
  Int128 measured_tokens_ = 0;
  Int128 tokens_in_goal_ = 0;
  ServingTally serving_;
};

}  // namespace foredraft::sim
