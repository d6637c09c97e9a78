// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/problems.hpp"

namespace foredraft {

/// Whether somebody asked for an end: handed down to whatever may take long. Looking at it changes no result.
class StopToken {
 public:
  StopToken() = default;  ///< nobody can ask
  /// `asked` outlives every copy; null: nobody can ask.
  StopToken(const std::atomic<bool>* asked) : asked_(asked) {}  // NOLINT(google-explicit-constructor): a flag is one

  [[nodiscard]] bool asked() const { return asked_ != nullptr && asked_->load(std::memory_order_relaxed); }

  /// Throws Interrupted when asked.
  void check() const {
    if (asked()) throw Interrupted();
  }

 private:
  const std::atomic<bool>* asked_ = nullptr;
};

/// For loops whose steps are too short to look at the token at each: looks once in a while of work.
class StopMeter {
 public:
  StopMeter() = default;
  explicit StopMeter(StopToken stop) : stop_(stop) { stop_.check(); }

  /// Says that a step is next whose work is about that of `units` additions or draws. Throws Interrupted when asked.
  void spend(std::int64_t units) {
    left_ -= units;
    if (left_ > 0) return;
    left_ = between_looks;
    stop_.check();
  }

 private:
  static constexpr std::int64_t between_looks = 250'000;  ///< some milliseconds of draws, less of additions

  StopToken stop_;
  std::int64_t left_ = between_looks;
};

/// Calls `work(i)` once for each i in [0, count), on at most `threads` threads (0: one per hardware thread). Which
/// thread does what is not defined, so `work` must depend on `i` alone. The first exception ends the loop and is
/// rethrown.
void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work);

/// `threads`, or the number of hardware threads for 0; at least 1.
[[nodiscard]] unsigned resolve_threads(unsigned threads);

}  // namespace foredraft
