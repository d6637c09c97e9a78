// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <system_error>
#include <utility>

#include "core/streams.hpp"
#include "experiments/config/work_estimate.hpp"

namespace foredraft::experiments {
namespace {

using namespace std::chrono_literals;
constexpr auto before_the_first = 2s;
constexpr auto bar_interval = 200ms;
constexpr auto line_interval = 10s;
constexpr int bar_width = 36;

}  // namespace

Progress::Progress(std::string counted, double total, double done)
    : name_(std::move(counted)), total_(total), done_(done), terminal_(::isatty(STDERR_FILENO) != 0) {
  start();
}

Progress::Progress(std::string phase) : Progress(std::move(phase), 0.0) {}

Progress::~Progress() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    watcher_.join();
  }
  if (drawn_) talk(fmt::format("\r{:{}}\r", "", bar_width + 70));
}

void Progress::show(double finished) {
  double before = finished_.load(std::memory_order_relaxed);
  while (before < finished && !finished_.compare_exchange_weak(before, finished, std::memory_order_relaxed)) {
  }
}

void Progress::start() {
  begin_ = Clock::now();
  try {
    watcher_ = std::jthread([this](const std::stop_token& end) { watch(end); });
  } catch (const std::system_error&) {  // no thread is left: the run says itself what it needs
  }
}

void Progress::watch(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  Clock::time_point next = begin_ + before_the_first;
  for (;;) {
    wake_.wait_until(lock, end, next, [] { return false; });
    if (end.stop_requested()) return;
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
  drawn_ = true;
}

}  // namespace foredraft::experiments
