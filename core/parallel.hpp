// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/problems.hpp"

namespace foredraft {

/// A stop request that is passed to long computations. Checking it changes no result.
class StopToken {
 public:
  StopToken() = default;  ///< never asks to stop
  /// `asked` must outlive all copies; null: never asks to stop.
  StopToken(const std::atomic<bool>* asked) : asked_(asked) {}  // NOLINT(google-explicit-constructor): a flag is one

  [[nodiscard]] bool asked() const { return asked_ != nullptr && asked_->load(std::memory_order_relaxed); }

  /// Throws Interrupted if a stop was requested.
  void check() const {
    if (asked()) throw Interrupted();
  }

 private:
  const std::atomic<bool>* asked_ = nullptr;
};

/// Checks a stop token at regular amounts of work, for loops with short steps.
class StopMeter {
 public:
  StopMeter() = default;
  explicit StopMeter(StopToken stop) : stop_(stop) { stop_.check(); }

  /// Call before a step whose work equals about `units` additions or draws. Throws Interrupted if a stop was requested.
  void spend(std::int64_t units) {
    left_ -= units;
    if (left_ > 0) return;
    left_ = between_looks;
    stop_.check();
  }

 private:
  static constexpr std::int64_t between_looks = 250'000;  ///< a few milliseconds of draws, less of additions

  StopToken stop_;
  std::int64_t left_ = between_looks;
};

/// Calls `work(i)` once for each i in [0, count), on at most `threads` threads (0: one per hardware thread). The
/// assignment of i to threads is undefined, so `work` must depend only on `i`. The first exception ends the loop and is
/// rethrown.
void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work);

/// `threads`, or the number of hardware threads for 0; at least 1.
[[nodiscard]] unsigned resolve_threads(unsigned threads);

}  // namespace foredraft
