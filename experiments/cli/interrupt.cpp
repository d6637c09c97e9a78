// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/interrupt.hpp"

#include <unistd.h>
#include <csignal>

#include "experiments/cli/exit_codes.hpp"

namespace foredraft::experiments {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

void on_signal(int /*number*/) {
  if (interrupted.exchange(true)) ::_exit(exit_interrupted);
}

}  // namespace

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup: the run goes on without its terminal
    ::sigaction(number, &action, nullptr);
  }
  return interrupted;
}

}  // namespace foredraft::experiments
