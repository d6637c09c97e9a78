// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace foredraft::experiments {

/// Progress on stderr: a bar with rate and time left on a terminal, else a line every ten seconds. Thread-safe.
class Progress {
 public:
  /// `done` of `total` points were there before.
  Progress(std::uint64_t total, std::uint64_t done);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();  ///< clears the bar

  /// `points` finished since the beginning, fractions of those in flight included. Cheap: most calls do nothing.
  void show(double points);

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t total_;
  std::uint64_t done_;
  bool terminal_;
  Clock::time_point start_;
  std::mutex mutex_;
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace foredraft::experiments
