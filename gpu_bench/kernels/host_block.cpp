// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/host_block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "gpu_bench/kernels/fiber.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::size_t fiber_stack_bytes = std::size_t{128} * 1024;  // the sanitizers' frames are several times larger

std::vector<unsigned> in_order(unsigned count, HostOrder order) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (order == HostOrder::reversed) std::reverse(numbers.begin(), numbers.end());
  if (order == HostOrder::shuffled) {
    std::mt19937 engine(count);  // the same order every time
    std::shuffle(numbers.begin(), numbers.end(), engine);
  }
  return numbers;
}

}  // namespace

/// One block after another, each of its threads a fiber. A fiber runs until a barrier or its end.
class HostBlockRun {
 public:
  enum class State { ready, at_sync, at_shuffle, waiting, finished };

  HostBlockRun(const LaunchShape& shape, const std::function<void(HostBlock&)>& body, HostOrder order)
      : shape_(shape), body_(body), thread_order_(in_order(shape.threads, order)), threads_(shape.threads) {
    // Kept between runs: allocating and clearing them would cost more than the kernels.
    thread_local std::vector<std::unique_ptr<std::byte[]>> stacks;
    while (stacks.size() < threads_.size()) {
      stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(fiber_stack_bytes));
    }
    for (std::size_t i = 0; i < threads_.size(); ++i) threads_[i].stack = {stacks[i].get(), fiber_stack_bytes};
  }

  void run_block(unsigned block) {
    block_ = block;
    // A new allocation of the exact size, filled with a pattern: sanitizers detect accesses beyond it, results show
    // reads of unwritten memory.
    shared_ = std::make_unique<std::byte[]>(shape_.shared_bytes);
    std::fill_n(shared_.get(), shape_.shared_bytes, std::byte{0xff});
    for (unsigned thread = 0; thread < shape_.threads; ++thread) start(thread);
    while (step()) {
    }
  }

  void wait(unsigned thread, State state) {
    threads_[thread].state = state;
    threads_[thread].fiber.pause();
  }

  std::uint32_t exchange(unsigned thread, std::uint32_t value, unsigned mask) {
    // Two alternating slots: a lane may post for the next shuffle before the last one has read for this.
    Thread& lane = threads_[thread];
    const unsigned turn = lane.turn;
    lane.posted[turn] = value;
    lane.turn = 1 - turn;
    wait(thread, State::at_shuffle);
    return threads_[thread ^ mask].posted[turn];
  }

 private:
  struct Thread {
    std::span<std::byte> stack;
    Fiber fiber;
    State state = State::ready;
    std::array<std::uint32_t, 2> posted{};
    unsigned turn = 0;
  };

  void start(unsigned number) {
    Thread& thread = threads_[number];
    thread.state = State::ready;
    thread.posted = {};
    thread.turn = 0;
    thread.fiber.start(thread.stack, [this, number] {
      HostBlock view(*this, shape_, block_, number, shared_.get());
      body_(view);
      threads_[number].state = State::finished;
    });
  }

  /// Runs every ready thread to its next stop, then opens the barriers that are complete. Returns false at the end.
  bool step() {
    bool ran = false;
    for (const unsigned number : thread_order_) {
      if (threads_[number].state != State::ready) continue;
      threads_[number].fiber.resume();
      ran = true;
    }
    if (all_are(threads_.begin(), threads_.end(), State::finished)) return false;
    bool opened = open_if(threads_.begin(), threads_.end(), State::at_sync);
    for (auto warp = threads_.begin(); warp != threads_.end(); warp += warp_lanes) {
      opened = open_if(warp, warp + warp_lanes, State::at_shuffle) || opened;
    }
    if (!opened && !ran) reject();
    return true;
  }

  using Threads = std::vector<Thread>::iterator;

  static bool all_are(Threads first, Threads last, State state) {
    return std::all_of(first, last, [state](const Thread& thread) { return thread.state == state; });
  }

  static bool open_if(Threads first, Threads last, State state) {
    if (!all_are(first, last, state)) return false;
    std::for_each(first, last, [](Thread& thread) { thread.state = State::ready; });
    return true;
  }

  [[noreturn]] void reject() const {
    const auto count = [this](State state) {
      return std::count_if(threads_.begin(), threads_.end(), [state](const Thread& t) { return t.state == state; });
    };
    throw std::logic_error(fmt::format(
        "block {} hangs: of {} threads {} wait at sync, {} at a shuffle, {} for another block, {} have left", block_,
        shape_.threads, count(State::at_sync), count(State::at_shuffle), count(State::waiting),
        count(State::finished)));
  }

  LaunchShape shape_;
  const std::function<void(HostBlock&)>& body_;
  std::vector<unsigned> thread_order_;
  std::vector<Thread> threads_;
  std::unique_ptr<std::byte[]> shared_;
  unsigned block_ = 0;
};

void HostBlock::sync() { run_.wait(thread_, HostBlockRun::State::at_sync); }
void HostBlock::wait_until(const std::uint32_t* address, std::uint32_t value) {
  if (*address != value) run_.wait(thread_, HostBlockRun::State::waiting);
}
std::uint32_t HostBlock::exchange(std::uint32_t value, unsigned mask) { return run_.exchange(thread_, value, mask); }

void run_blocks(const LaunchShape& shape, const std::function<void(HostBlock&)>& body, HostOrder order) {
  if (shape.threads == 0 || shape.threads % warp_lanes != 0 || shape.threads > 1024 || shape.blocks == 0) {
    throw std::logic_error(fmt::format("a launch of {} blocks of {} threads", shape.blocks, shape.threads));
  }
  HostBlockRun run(shape, body, order);
  for (const unsigned block : in_order(shape.blocks, order)) run.run_block(block);
}

}  // namespace foredraft::gpu_bench
