// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/stop.hpp"
#include "sim/process/varying_counts.hpp"
#include "sim/system/row_acceptance.hpp"
#include "sim/system/run_account.hpp"
#include "sim/system/serving_simulation.hpp"

namespace foredraft::sim {

/// Survival thresholds of the longest draft, or what rows with a memory are drawn from.
using PreparedAcceptance = std::variant<SurvivalByState, RunsLaw, RecordedOutcomes>;

/// A checked simulation with what all its replicas share.
struct PreparedServing {
  ServingSimulation simulation;
  std::vector<IterationShape> shapes;  ///< [batch]
  IterationShape longest;              ///< of these
  PreparedAcceptance acceptance;

  [[nodiscard]] RowAcceptance rows(const RunKey& key, std::uint64_t block) const;
};

/// One replica: the clock, the batch, and what is counted.
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
  /// A static batch that was taken.
  [[nodiscard]] bool closed_to_others() const;
  /// Whether somebody who came during the last prompt pass is read before the next iteration.
  [[nodiscard]] bool admits_more() const;
  void read_prompts(std::size_t first_new);
  void iterate();
  /// Draws steps_; returns the fewest of any unfinished row.
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
  ArrivalStream queue_;  // who is admitted next
  ArrivalStream doors_;  // who arrives next
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
  std::vector<std::int64_t> steps_;  // drafts accepted in this iteration, by row
  std::int64_t unfinished_ = 0;      // rows
  std::int64_t context_ = 0;         // cached tokens of all rows

  RunAccount account_;  // from the start

  // From the opening of the window.
  bool open_ = false;
  std::int64_t opened_ns_ = 0;
  Int128 in_system_before_ns_ = 0;
  std::int64_t window_tokens_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t rows_passed_ = 0;

  // Of measured requests.
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
