// SPDX-License-Identifier: Apache-2.0
#include <hwy/targets.h>
#include <ctime>

#include "app/scripts.hpp"

// What a page has not: programs to start, timers, instruction sets to choose from.
namespace foredraft::app {

PlotResult draw_figures(const std::string& /*folder*/) { return PlotResult::unavailable; }

}  // namespace foredraft::app

namespace hwy {

ChosenTarget& GetChosenTarget() {
  static ChosenTarget target;
  return target;
}
int64_t SupportedTargets() { return HWY_SCALAR; }
void SetSupportedTargetsForTest(int64_t /*targets*/) {}

}  // namespace hwy

extern "C" {
int timer_create(clockid_t /*clock*/, sigevent* /*event*/, timer_t* /*timer*/) { return -1; }
int timer_settime(timer_t /*timer*/, int /*flags*/, const itimerspec* /*value*/, itimerspec* /*old*/) { return -1; }
}
