// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/interrupt.hpp"

#include <unistd.h>
#include <csignal>
#include <ctime>
#include <string_view>

#include "core/streams.hpp"

namespace foredraft::experiments {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<bool> alarmed{false};  // the timer below is there
std::atomic<int> patience_ms{0};   // 0: without end
timer_t alarm_timer{};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may touch nothing else");

void leave(std::string_view word) {
  talk(word);  // no more than a write
  ::_exit(exit_interrupted);
}

void on_leaving(int /*number*/) { leave("interrupted: nothing was written\n"); }

void on_alarm(int /*number*/) {
  leave("interrupted: what was written is safe; the same command resumes a sweep, and starts anything else again\n");
}

void on_signal(int /*number*/) {
  if (interrupted.exchange(true)) ::_exit(exit_interrupted);
  const int patience = patience_ms;
  if (patience == 0 || !alarmed) return;
  itimerspec once{};
  once.it_value.tv_nsec = patience * 1'000'000L;  // below a second
  ::timer_settime(alarm_timer, 0, &once, nullptr);
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup: the run goes on without its terminal
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

void leave_at_interrupts() { handle_signals(on_leaving); }

const std::atomic<bool>& catch_interrupts() {
  patience_ms = 0;
  if (alarmed) {
    const itimerspec never{};
    ::timer_settime(alarm_timer, 0, &never, nullptr);
  }
  handle_signals(on_signal);
  return interrupted;
}

const std::atomic<bool>& catch_interrupts(std::chrono::milliseconds patience) {
  if (!alarmed) {
    struct sigaction action {};
    action.sa_handler = on_alarm;
    ::sigaction(SIGALRM, &action, nullptr);
    alarmed = ::timer_create(CLOCK_MONOTONIC, nullptr, &alarm_timer) == 0;  // SIGALRM
  }
  patience_ms = static_cast<int>(patience.count());
  handle_signals(on_signal);
  return interrupted;
}

}  // namespace foredraft::experiments
