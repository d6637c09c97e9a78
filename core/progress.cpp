// SPDX-License-Identifier: Apache-2.0
#include "core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/readable.hpp"
#include "core/streams.hpp"

namespace foredraft {
namespace {

using namespace std::chrono_literals;
constexpr auto before_the_first = 2s;
constexpr auto bar_interval = 200ms;
constexpr auto line_interval = 10s;
constexpr int bar_width = 36;

std::atomic<bool> interrupted{false};
std::atomic<bool> alarmed{false};  // alarm_timer exists
std::atomic<int> patience_ms{0};   // 0: without end
std::atomic<bool> bar_drawn{false};
timer_t alarm_timer{};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may touch nothing else");

void on_leaving(int /*number*/) {
  talk("interrupted; nothing was written\n");  // no more than a write
  ::_exit(exit_interrupted);
}

void on_alarm(int /*number*/) {
  say_interrupted();
  ::_exit(exit_interrupted);
}

void on_signal(int number) {
  const int patience = patience_ms;
  if (interrupted.exchange(true)) {
    if (patience != 0) on_alarm(number);  // `timeout` sends two signals at once
    ::_exit(exit_interrupted);
  }
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

void say_interrupted() {
  static std::atomic<bool> said{false};
  constexpr std::string_view line =
      "\ninterrupted; completed results are saved. Run the same command again to resume a sweep; other commands start "
      "over.\n";
  if (said) return;
  talk(bar_drawn ? line : line.substr(1));
  said = true;  // last, so that a signal in between prints it twice rather than never
}

void leave_at_interrupts() { handle_signals(on_leaving); }

const std::atomic<bool>& catch_interrupts(std::chrono::milliseconds patience) {
  patience_ms = static_cast<int>(patience.count());
  if (patience_ms == 0 && alarmed) {
    const itimerspec never{};
    ::timer_settime(alarm_timer, 0, &never, nullptr);
  } else if (patience_ms != 0 && !alarmed) {
    struct sigaction action {};
    action.sa_handler = on_alarm;
    ::sigaction(SIGALRM, &action, nullptr);
    alarmed = ::timer_create(CLOCK_MONOTONIC, nullptr, &alarm_timer) == 0;  // SIGALRM
  }
  handle_signals(on_signal);
  return interrupted;
}

Progress::Progress(std::string counted, double total, double done)
    : name_(std::move(counted)), total_(total), done_(done), terminal_(::isatty(STDERR_FILENO) != 0) {
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // no thread is available; the run reports that itself
  }
}

Progress::Progress(std::string phase) : Progress(std::move(phase), 0.0) {}

Progress::~Progress() {
  if (watcher_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    watcher_.join();
  }
  if (!drawn_) return;
  talk(fmt::format("\r{:{}}\r", "", bar_width + 70));
  bar_drawn = false;
}

void Progress::show(double finished) {
  double before = finished_.load(std::memory_order_relaxed);
  while (before < finished && !finished_.compare_exchange_weak(before, finished, std::memory_order_relaxed)) {
  }
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  Clock::time_point next = begin_ + before_the_first;
  for (;;) {
    if (wake_.wait_until(lock, next, [this] { return ended_; })) return;
    print(std::chrono::duration<double>(Clock::now() - begin_).count());
    next = Clock::now() + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
  }
}

void Progress::print(double seconds) {
  const double since = finished_.load(std::memory_order_relaxed);
  std::string text;
  double share = 0.0;
  if (total_ > 0.0) {
    const double finished = done_ + since;
    share = std::min(1.0, finished / total_);
    const auto count = [](double number) {
      return number < 1e7 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
    };
    const std::string left = since > 0.0 ? duration_text((total_ - finished) / (since / seconds)) : "?";
    text = fmt::format("{:3.0f} %  {}/{} {}   {:.3g} {}/s   {} left", 100.0 * share, count(std::min(finished, total_)),
                       count(total_), name_, since / seconds, name_, left);
  } else {
    text = fmt::format("  ...  {}: {} so far", name_, duration_text(seconds));
  }
  if (!terminal_) return say("{}", text);
  const int filled = static_cast<int>(share * bar_width);
  talk(total_ > 0.0 ? fmt::format("\r{:#<{}}{:-<{}}  {:60}", "", filled, "", bar_width - filled, text)
                    : fmt::format("\r{:{}}", text, bar_width + 62));
  drawn_ = bar_drawn = true;
}

}  // namespace foredraft
