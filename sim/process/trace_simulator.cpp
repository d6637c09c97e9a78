// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/process/outcome_counts.hpp"
#include "sim/process/recorded_outcomes.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

constexpr std::size_t enough_units = 30;

class TraceSimulator final : public Simulator {
 public:
  TraceSimulator(std::shared_ptr<const Recording> recording, const IterationShape& shape)
      : recorded_(std::move(recording)), shape_(shape) {}

  [[nodiscard]] std::uint64_t blocks() const override { return 1; }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t /*block*/) const override {
    OutcomeCounts counts(shape_);
    StopMeter stop(key.stop);
    for (std::size_t sequence = 0; sequence < recorded_.sequences(); ++sequence) replay(sequence, key, stop, counts);
    return counts.tally();
  }

 private:
  void replay(std::size_t sequence, const RunKey& key, StopMeter& stop, OutcomeCounts& counts) const {
    const std::size_t size = recorded_.size(sequence);
    const std::size_t batches = batches_of(size);
    const std::size_t batch_size = (size + batches - 1) / batches;
    std::size_t batch_end = batch_size;
    for (std::size_t position = 0; position < size;) {
      const std::size_t remaining = size - position;
      const std::size_t testable = std::min(static_cast<std::size_t>(shape_.gamma), remaining);
      const std::size_t accepted = recorded_.accepted(sequence, position, testable, key);
      const Outcome outcome =
          last_outcome(shape_, static_cast<std::int64_t>(accepted), static_cast<std::int64_t>(remaining));
      stop.spend(1 + outcome.tested);
      counts.add(outcome);
      position += static_cast<std::size_t>(outcome.tokens);
      if (position >= batch_end) {
        counts.end_unit();
        while (batch_end <= position) batch_end += batch_size;
      }
    }
    counts.end_unit();
  }

  [[nodiscard]] std::size_t batches_of(std::size_t tokens) const {
    if (recorded_.sequences() >= enough_units) return 1;
    return std::max<std::size_t>(1, tokens * enough_units / recorded_.positions());
  }

  RecordedOutcomes recorded_;
  IterationShape shape_;
};

}  // namespace

std::unique_ptr<Simulator> make_trace_simulator(std::shared_ptr<const Recording> recording,
                                                const IterationShape& shape) {
  return std::make_unique<TraceSimulator>(std::move(recording), shape);
}

}  // namespace foredraft::sim
