// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

/// Long work: without the GIL and in a separate thread, so that Python handles Ctrl-C and progress.
namespace foredraft::python {

inline constexpr std::chrono::milliseconds between_looks{50};

/// Progress of a run.
class ProgressBoard {
 public:
  void show(double finished, double total) {
    finished_.store(finished, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  [[nodiscard]] double finished() const { return finished_.load(std::memory_order_relaxed); }
  [[nodiscard]] double total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> finished_ = 0.0;
  std::atomic<double> total_ = 0.0;
};

/// The result of work(stop, board). Calls `progress` with (finished, total) meanwhile. An exception of a signal or of
/// `progress` ends the work and is rethrown.
template <class Work>
auto run_interruptibly(Work work, const nanobind::object& progress) {
  using Result = std::invoke_result_t<Work&, const std::atomic<bool>&, ProgressBoard&>;
  std::atomic<bool> stop = false;
  ProgressBoard board;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::optional<Result> result;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      result.emplace(work(stop, board));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  const auto wait = [&](bool to_the_end) {
    const nanobind::gil_scoped_release release;
    std::unique_lock lock(mutex);
    const auto is_done = [&] { return done; };
    if (!to_the_end) return changed.wait_for(lock, between_looks, is_done);
    changed.wait(lock, is_done);
    return true;
  };
  const auto end = [&] {
    stop = true;
    wait(true);
    worker.join();
  };
  while (!wait(false)) {
    if (PyErr_CheckSignals() != 0) {
      nanobind::python_error raised;
      end();
      throw raised;
    }
    if (progress.is_none()) continue;
    try {
      progress(board.finished(), board.total());
    } catch (...) {
      end();
      throw;
    }
  }
  worker.join();
  if (failure) std::rethrow_exception(failure);
  if (!progress.is_none() && board.total() > 0.0) progress(board.finished(), board.total());
  return std::move(*result);
}

}  // namespace foredraft::python
