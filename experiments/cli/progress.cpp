// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <string>

#include "core/streams.hpp"
#include "experiments/config/work_estimate.hpp"

namespace foredraft::experiments {
namespace {

using namespace std::chrono_literals;
constexpr auto bar_interval = 200ms;
constexpr auto line_interval = 10s;
constexpr int bar_width = 36;

}  // namespace

Progress::Progress(std::uint64_t total, std::uint64_t done)
    : total_(total),
      done_(done),
      terminal_(::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      next_(start_ + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval))) {}

Progress::~Progress() {
  if (drawn_) talk(fmt::format("\r{:{}}\r", "", bar_width + 60));
}

void Progress::show(double points) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is just showing
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = points / seconds;
  const auto total = static_cast<double>(total_);
  const double finished = static_cast<double>(done_) + points;
  const double share = total > 0.0 ? std::min(1.0, finished / total) : 1.0;
  const std::string left = rate > 0.0 ? duration_text((total - finished) / rate) : "?";
  const std::string text = fmt::format("{:.0f}/{} points   {:.3g} points/s   {} left", finished, total_, rate, left);
  if (terminal_) {
    const int filled = static_cast<int>(share * bar_width);
    talk(fmt::format("\r{:3.0f} %  {:#<{}}{:-<{}}  {:50}", 100.0 * share, "", filled, "", bar_width - filled, text));
    drawn_ = true;
  } else {
    say("{:3.0f} %  {}", 100.0 * share, text);
  }
}

}  // namespace foredraft::experiments
