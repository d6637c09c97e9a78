// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <span>

namespace foredraft::gpu_bench {

/// A function with its own stack that runs, when resumed, until it pauses or ends. All on one thread. Switching stacks
/// makes no system call, unlike swapcontext(): kernels on the host switch very often.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  Fiber(Fiber&&) = delete;
  Fiber& operator=(Fiber&&) = delete;
  /// Unwinds an unfinished fiber: its locals are destroyed.
  ~Fiber();

  /// The first resume() will call `body` on `stack`, which must outlive this. Only before the first run and after one
  /// has ended. `body` must not throw.
  void start(std::span<std::byte> stack, std::function<void()> body);

  /// Runs `body` until it pauses or ends. Must not be called after it has ended.
  void resume();

  /// Within `body`: returns to resume(), whose next call continues here.
  void pause();

  [[nodiscard]] bool ended() const { return !inside_; }

 private:
  std::function<void()> body_;
  boost::context::fiber inside_;   ///< continuation of `body`; empty while it runs and after it has ended
  boost::context::fiber outside_;  ///< continuation of resume()
  std::span<const std::byte> stack_;
  std::span<const std::byte> stack_outside_;
};

}  // namespace foredraft::gpu_bench
