// SPDX-License-Identifier: Apache-2.0
#include <hwy/targets.h>
#include <sys/random.h>
#include <unistd.h>
#include <csignal>
#include <ctime>
#include <vector>

#include "app/scripts.hpp"
#include "experiments/reproduce/registry.hpp"

// Stand-ins for what a page lacks: programs to start, papers to reproduce, timers, instruction sets to choose from.
namespace foredraft::app {

PlotResult draw_figures(const std::string& /*folder*/) { return PlotResult::unavailable; }

}  // namespace foredraft::app

namespace foredraft::experiments {

const std::vector<ExperimentEntry>& experiment_registry() {
  static const std::vector<ExperimentEntry> none;
  return none;
}

}  // namespace foredraft::experiments

namespace hwy {

ChosenTarget& GetChosenTarget() {
  static ChosenTarget target;
  return target;
}
int64_t SupportedTargets() { return HWY_SCALAR; }
void SetSupportedTargetsForTest(int64_t /*targets*/) {}

}  // namespace hwy

extern "C" {
ssize_t getrandom(void* bytes, size_t count, unsigned /*flags*/) {
  return ::getentropy(bytes, count) == 0 ? static_cast<ssize_t>(count) : -1;
}
int timer_create(clockid_t /*clock*/, sigevent* /*event*/, timer_t* /*timer*/) { return -1; }
int timer_settime(timer_t /*timer*/, int /*flags*/, const itimerspec* /*value*/, itimerspec* /*old*/) { return -1; }
}
