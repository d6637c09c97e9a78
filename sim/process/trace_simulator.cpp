// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/random_stream.hpp"
#include "sim/process/outcome_counts.hpp"
#include "sim/process/simulators.hpp"
#include "sim/process/threshold.hpp"

namespace foredraft::sim {
namespace {

constexpr std::size_t enough_units = 30;

struct Observed {
  std::uint64_t accepted = 0;
  std::uint64_t tested = 0;
  std::uint64_t positions = 0;
};

Observed observe(const Recording& trace) {
  Observed seen;
  for (const auto& sequence : trace.accepted_from) seen.positions += sequence.size();
  for (const auto& sequence : trace.sequences) {
    seen.positions += sequence.size();
    for (const std::int8_t outcome : sequence) {
      seen.accepted += outcome == 1 ? 1 : 0;
      seen.tested += outcome >= 0 ? 1 : 0;
    }
  }
  return seen;
}

class TraceSimulator final : public Simulator {
 public:
  TraceSimulator(std::shared_ptr<const Recording> recording, const IterationShape& shape)
      : recording_(std::move(recording)), shape_(shape), seen_(observe(*recording_)) {
    if (seen_.tested == 0) return;
    const auto tested = static_cast<double>(seen_.tested);
    frequency_ = threshold_of(static_cast<double>(seen_.accepted) / tested,
                              static_cast<double>(seen_.tested - seen_.accepted) / tested);
  }

  [[nodiscard]] std::uint64_t blocks() const override { return 1; }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t /*block*/) const override {
    OutcomeCounts counts(shape_);
    StopMeter stop(key.stop);
    std::uint64_t offset = 0;  // of the sequence in the whole trace
    for (const auto& sequence : recording_->sequences) {
      const auto accepted_at = [&](std::size_t position, std::size_t testable) {
        std::size_t accepted = 0;
        while (accepted < testable && is_accepted(sequence[position + accepted], offset + position + accepted, key)) {
          ++accepted;
        }
        return accepted;
      };
      replay(sequence.size(), accepted_at, stop, counts);
      offset += sequence.size();
    }
    for (const auto& sequence : recording_->accepted_from) {
      const auto accepted_at = [&](std::size_t position, std::size_t testable) {
        return std::min(static_cast<std::size_t>(sequence[position]), testable);
      };
      replay(sequence.size(), accepted_at, stop, counts);
    }
    return counts.tally();
  }

 private:
  /// One sequence of `size` tokens; `accepted_at(position, testable)`: accepted drafts of an iteration.
  template <class AcceptedAt>
  void replay(std::size_t size, const AcceptedAt& accepted_at, StopMeter& stop, OutcomeCounts& counts) const {
    const std::size_t batches = batches_of(size);
    const std::size_t batch_size = (size + batches - 1) / batches;
    std::size_t batch_end = batch_size;
    for (std::size_t position = 0; position < size;) {
      const std::size_t remaining = size - position;
      const std::size_t accepted = accepted_at(position, std::min(static_cast<std::size_t>(shape_.gamma), remaining));
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
    if (recording_->sequences.size() + recording_->accepted_from.size() >= enough_units) return 1;
    return std::max<std::size_t>(1, tokens * enough_units / seen_.positions);
  }

  /// An unobserved outcome depends on its place in the trace alone: whatever meets it again finds it the same.
  [[nodiscard]] bool is_accepted(std::int8_t outcome, std::uint64_t place, const RunKey& key) const {
    if (outcome >= 0) return outcome == 1;
    const PhiloxWords words = philox4x32_10(
        philox_counter({.purpose = Purpose::trace, .point = key.point, .block = 0}, place), philox_key(key.seed));
    const std::uint32_t leading = words[2] >> 16U;
    const std::uint64_t trailing = std::uint64_t{words[1]} << 32U | words[0];
    return leading < frequency_.high || (leading == frequency_.high && trailing < frequency_.low);
  }

  std::shared_ptr<const Recording> recording_;
  IterationShape shape_;
  Observed seen_;
  Threshold frequency_{};
};

}  // namespace

std::unique_ptr<Simulator> make_trace_simulator(std::shared_ptr<const Recording> recording,
                                                const IterationShape& shape) {
  return std::make_unique<TraceSimulator>(std::move(recording), shape);
}

}  // namespace foredraft::sim
