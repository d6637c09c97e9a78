// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace foredraft {

enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,         ///< a check or the run failed
  exit_bad_input = 2,      ///< invalid usage or input; nothing was written
  exit_interrupted = 130,  ///< by a signal; the same command resumes a sweep
};

/// Makes SIGINT, SIGTERM and SIGHUP end the program immediately (130), for commands that write nothing. A SIGHUP that
/// is ignored at the start stays ignored.
void leave_at_interrupts();

/// The default of `patience` below: the program ends within a second, also on a busy machine.
inline constexpr std::chrono::milliseconds default_patience{700};

/// Makes these signals set the returned flag; a second signal ends the program immediately (130). `patience` (less than
/// a second) is for programs that can be killed without loss: this long after the first signal the program is ended, in
/// case it does not check the flag. 0: no limit.
[[nodiscard]] const std::atomic<bool>& catch_interrupts(std::chrono::milliseconds patience = {});

/// Prints once on stderr that the run was interrupted and how to resume. Safe to call in a signal handler.
void say_interrupted();

/// Shows progress on stderr after two seconds: on a terminal a bar with rate and time left, else a line every ten
/// seconds. A separate thread prints it, so it is also updated while no item finishes.
class Progress {
 public:
  /// `counted`: plural noun of the counted items; `done` of `total` were completed earlier.
  Progress(std::string counted, double total, double done = 0.0);
  /// Without items: shows the elapsed time.
  explicit Progress(std::string phase);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();  ///< clears the bar

  /// Sets the number of finished items, including fractions of those in progress. Fast and thread-safe; decreases are
  /// ignored.
  void show(double finished);

 private:
  using Clock = std::chrono::steady_clock;

  void watch();
  void print(double seconds);

  std::string name_;
  double total_;
  double done_;
  bool terminal_;
  bool drawn_ = false;
  std::atomic<double> finished_{0.0};
  Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;   ///< guarded by mutex_
  std::thread watcher_;  // last member, because it uses all others
};

/// Runs `work` while showing progress under a name, and returns its result.
auto in_phase(std::string name, const auto& work) {
  const Progress progress(std::move(name));
  return work();
}

}  // namespace foredraft
