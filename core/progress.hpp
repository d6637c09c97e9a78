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
  exit_failed = 1,         ///< a check failed, or the run did
  exit_bad_input = 2,      ///< bad usage or bad input; nothing was written
  exit_interrupted = 130,  ///< by a signal; the same command resumes
};

/// From now on SIGINT, SIGTERM and SIGHUP end the program at once (130): for what writes nothing. A SIGHUP that was
/// ignored at the start stays ignored.
void leave_at_interrupts();

/// Within a second, with some room for a machine that is busy.
inline constexpr std::chrono::milliseconds default_patience{700};

/// From now on they set the returned flag instead; a second one ends the program at once (130). `patience`, below a
/// second, is for what may be killed at any moment without a loss: so long after the first signal the program is ended
/// as by a second one, in case it does something that looks at no flag. 0: without end.
[[nodiscard]] const std::atomic<bool>& catch_interrupts(std::chrono::milliseconds patience = {});

/// Says on stderr, once and on a line of its own, that the run was interrupted and how to go on. A signal handler may
/// call it.
void say_interrupted();

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
  std::thread watcher_;  // last: it looks at all of the others
};

/// Does the work, whose result it returns, with progress under a name.
auto in_phase(std::string name, const auto& work) {
  const Progress progress(std::move(name));
  return work();
}

}  // namespace foredraft
