// SPDX-License-Identifier: Apache-2.0
#include "sim/process/steppers.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace foredraft::sim {

SurvivalRow::SurvivalRow(Thresholds survival) : survival_(std::move(survival)) {
  std::uint32_t above = 0;
  for (std::size_t byte = from_byte_.size(); byte-- > 0;) {
    while (above < survival_.size() && survival_.high[above] >= byte * 256) ++above;
    from_byte_[byte] = above;
  }
  constexpr std::uint32_t no_draw = 0xffffffff;
  survival_.push_back({.high = no_draw, .low = 0});
}

std::shared_ptr<const SurvivalByState> survival_by_state(const AcceptanceProcess& process, std::int64_t positions) {
  SurvivalByState rows{SurvivalRow(survival_thresholds(process, positions, false))};
  if (std::holds_alternative<Markov>(process)) rows[1] = SurvivalRow(survival_thresholds(process, positions, true));
  return std::make_shared<const SurvivalByState>(std::move(rows));
}

std::shared_ptr<const ThresholdsByState> acceptance_by_state(const AcceptanceProcess& process, std::int64_t positions) {
  ThresholdsByState rows{acceptance_thresholds(process, positions, false)};
  if (std::holds_alternative<Markov>(process)) rows[1] = acceptance_thresholds(process, positions, true);
  return std::make_shared<const ThresholdsByState>(std::move(rows));
}

}  // namespace foredraft::sim
