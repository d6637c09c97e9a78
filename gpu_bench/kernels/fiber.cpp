// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/fiber.hpp"

#include <memory>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace foredraft::gpu_bench {
namespace {

using Stack = std::span<const std::byte>;

// AddressSanitizer tracks threads by itself but must be notified of every other stack switch: before it with the
// destination, and after it. `kept` is its state of the stack that is left; null if that is never resumed.
#ifdef __SANITIZE_ADDRESS__
void leave_for(Stack next, void** kept) { __sanitizer_start_switch_fiber(kept, next.data(), next.size()); }

Stack arrive(void* kept) {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(kept, &bottom, &bytes);
  return {static_cast<const std::byte*>(bottom), bytes};
}
#else
void leave_for(Stack, void**) {}
Stack arrive(void*) { return {}; }
#endif

/// Brackets a stack switch that returns, normally or by an exception.
class RoundTrip {
 public:
  explicit RoundTrip(Stack to) { leave_for(to, &kept_); }
  RoundTrip(const RoundTrip&) = delete;
  RoundTrip& operator=(const RoundTrip&) = delete;
  RoundTrip(RoundTrip&&) = delete;
  RoundTrip& operator=(RoundTrip&&) = delete;
  ~RoundTrip() { arrive(kept_); }

 private:
  void* kept_ = nullptr;
};

class Stay {
 public:
  explicit Stay(Stack& outside) : outside_(outside) { outside_ = arrive(nullptr); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  Stay(Stay&&) = delete;
  Stay& operator=(Stay&&) = delete;
  ~Stay() { leave_for(outside_, nullptr); }

 private:
  Stack& outside_;
};

/// For Boost.Context: the caller owns the stack.
struct KeptStack {
  boost::context::stack_context stack;
  boost::context::stack_context allocate() { return stack; }
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

Fiber::~Fiber() {
  if (ended()) return;
  const RoundTrip trip(stack_);
  inside_ = {};
}

void Fiber::start(std::span<std::byte> stack, std::function<void()> body) {
  body_ = std::move(body);
  stack_ = stack;
  KeptStack kept;
  kept.stack.sp = stack.data() + stack.size();
  kept.stack.size = stack.size();
  inside_ = boost::context::fiber(std::allocator_arg, kept, [this](boost::context::fiber&& outside) {
    const Stay stay(stack_outside_);
    outside_ = std::move(outside);
    body_();
    return std::move(outside_);
  });
}

void Fiber::resume() {
  const RoundTrip trip(stack_);
  inside_ = std::move(inside_).resume();
}

void Fiber::pause() {
  const RoundTrip trip(stack_outside_);
  outside_ = std::move(outside_).resume();
}

}  // namespace foredraft::gpu_bench
