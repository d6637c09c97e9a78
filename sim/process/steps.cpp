// SPDX-License-Identifier: Apache-2.0
#include "sim/process/steps.hpp"

#include <utility>

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

}  // namespace foredraft::sim
