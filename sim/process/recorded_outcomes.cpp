// SPDX-License-Identifier: Apache-2.0
#include "sim/process/recorded_outcomes.hpp"

#include "core/random_stream.hpp"

namespace foredraft::sim {

RecordedOutcomes::RecordedOutcomes(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {
  std::uint64_t accepted = 0;
  std::uint64_t tested = 0;
  for (const auto& sequence : recording_->sequences) {
    offsets_.push_back(positions_);
    sizes_.push_back(sequence.size());
    positions_ += sequence.size();
    for (const std::int8_t outcome : sequence) {
      accepted += outcome == 1 ? 1 : 0;
      tested += outcome >= 0 ? 1 : 0;
    }
  }
  for (const auto& sequence : recording_->accepted_from) {
    sizes_.push_back(sequence.size());
    positions_ += sequence.size();
  }
  if (tested == 0) return;
  const auto number = static_cast<double>(tested);
  frequency_ = threshold_of(static_cast<double>(accepted) / number, static_cast<double>(tested - accepted) / number);
}

bool RecordedOutcomes::is_accepted(std::int8_t outcome, std::uint64_t place, const RunKey& key) const {
  if (outcome >= 0) return outcome == 1;
  const PhiloxWords words = philox4x32_10(
      philox_counter({.purpose = Purpose::trace, .point = key.point, .block = 0}, place), philox_key(key.seed));
  const std::uint32_t leading = words[2] >> 16U;
  const std::uint64_t trailing = std::uint64_t{words[1]} << 32U | words[0];
  return leading < frequency_.high || (leading == frequency_.high && trailing < frequency_.low);
}

}  // namespace foredraft::sim
