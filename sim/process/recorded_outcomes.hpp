// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "foredraft/scenario.hpp"
#include "sim/process/threshold.hpp"
#include "sim/simulator.hpp"

namespace foredraft::sim {

/// What a recording says of an iteration that begins anywhere in it.
class RecordedOutcomes {
 public:
  explicit RecordedOutcomes(std::shared_ptr<const Recording> recording);

  [[nodiscard]] std::size_t sequences() const { return sizes_.size(); }
  [[nodiscard]] std::size_t size(std::size_t sequence) const { return sizes_[sequence]; }
  [[nodiscard]] std::uint64_t positions() const { return positions_; }

  /// Accepted ones of `testable` drafts behind `position`. Precondition: position + testable <= size(sequence). An
  /// outcome that was not observed depends on its place alone: whatever meets it again finds it the same.
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
  Threshold frequency_{};  // of acceptance among the observed outcomes
};

}  // namespace foredraft::sim
