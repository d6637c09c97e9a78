// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <span>

namespace foredraft::gpu_bench {

/// A function with a stack of its own that runs, when resumed, until it pauses or ends. All on one thread. Changing
/// stacks makes no system call, as swapcontext() would: kernels on the host do little else.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  Fiber(Fiber&&) = delete;
  Fiber& operator=(Fiber&&) = delete;
  /// What has not ended is unwound: its locals are destroyed.
  ~Fiber();

  /// The first resume() will call `body` on `stack`, which outlives this. Only where nothing runs: at first, and once
  /// ended. `body` must not throw.
  void start(std::span<std::byte> stack, std::function<void()> body);

  /// Returns when `body` pauses or ends. Not once ended.
  void resume();

  /// Within `body`: back to resume(), whose next call goes on here.
  void pause();

  [[nodiscard]] bool ended() const { return !inside_; }

 private:
  std::function<void()> body_;
  boost::context::fiber inside_;   ///< where `body` goes on; empty while it runs and once it has ended
  boost::context::fiber outside_;  ///< where resume() goes on
  std::span<const std::byte> stack_;
  std::span<const std::byte> stack_outside_;
};

}  // namespace foredraft::gpu_bench
