// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace foredraft::experiments {

/// Progress on stderr of what takes longer than two seconds: a bar with rate and time left on a terminal, else a line
/// then and every ten seconds. A thread of its own shows it, so that it is seen also while nothing is finished.
class Progress {
 public:
  /// `done` of `total` of what is counted, in the plural, were there before.
  Progress(std::string counted, double total, double done = 0.0);
  /// Of what counts nothing: how long it has taken so far.
  explicit Progress(std::string phase);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();  ///< clears the bar

  /// So many finished since the beginning, fractions of those in flight included. Cheap, from any thread; what is less
  /// than was shown before is passed over.
  void show(double finished);

 private:
  using Clock = std::chrono::steady_clock;

  void start();
  void watch(const std::stop_token& end);
  void print(double seconds);

  std::string name_;
  double total_;
  double done_;
  bool terminal_;
  bool drawn_ = false;
  std::atomic<double> finished_{0.0};
  Clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  // last: it looks at all of the others
};

}  // namespace foredraft::experiments
