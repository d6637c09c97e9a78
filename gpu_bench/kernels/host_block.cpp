#include "gpu_bench/kernels/host_block.hpp"

#include <fmt/core.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace foredraft::gpu_bench {
namespace {

constexpr std::size_t fiber_stack_bytes = std::size_t{128} * 1024;  // the sanitizers' frames are several times larger

std::vector<unsigned> in_order(unsigned count, HostOrder order) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (order == HostOrder::reversed) std::reverse(numbers.begin(), numbers.end());
  if (order == HostOrder::shuffled) {
    std::mt19937 engine(count);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same order every time
    std::shuffle(numbers.begin(), numbers.end(), engine);
  }
  return numbers;
}

}  // namespace

/// One block after another, each of its threads a fiber. A fiber runs until a barrier or its end.
class HostBlockRun {
 public:
  enum class FiberState { ready, at_sync, at_shuffle, waiting, finished };

  HostBlockRun(const LaunchShape& shape, const std::function<void(HostBlock&)>& body, HostOrder order)
      : shape_(shape),
        body_(body),
        thread_order_(in_order(shape.threads, order)),
        fibers_(shape.threads),
        lanes_(shape.threads) {
    // Kept from run to run: taking and clearing them would cost more than the kernels.
    thread_local std::vector<std::unique_ptr<std::byte[]>> stacks;
    while (stacks.size() < fibers_.size()) {
      stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(fiber_stack_bytes));
    }
    for (std::size_t i = 0; i < fibers_.size(); ++i) fibers_[i].stack = stacks[i].get();
  }

  void run_block(unsigned block) {
    block_ = block;
    // A fresh allocation of the exact size, filled with a pattern: sanitizers see a reach beyond it, results a read
    // of what nobody wrote.
    shared_ = std::make_unique<std::byte[]>(shape_.shared_bytes);
    std::fill_n(shared_.get(), shape_.shared_bytes, std::byte{0xff});
    for (unsigned thread = 0; thread < shape_.threads; ++thread) start(thread);
    while (step()) {
    }
  }

  [[nodiscard]] const LaunchShape& shape() const { return shape_; }
  [[nodiscard]] unsigned block() const { return block_; }
  [[nodiscard]] std::byte* shared() const { return shared_.get(); }

  void wait(unsigned thread, FiberState state) {
    fibers_[thread].state = state;
    swapcontext(&fibers_[thread].context, &scheduler_);
  }

  std::uint32_t exchange(unsigned thread, std::uint32_t value, unsigned mask) {
    // Two slots in turn: a lane may post for the next shuffle before the last one has read for this.
    Lane& lane = lanes_[thread];
    const unsigned turn = lane.turn;
    lane.posted[turn] = value;
    lane.turn = 1 - turn;
    wait(thread, FiberState::at_shuffle);
    return lanes_[thread ^ mask].posted[turn];
  }

 private:
  struct Fiber {
    ucontext_t context;
    std::byte* stack;
    FiberState state;
  };

  struct Lane {
    std::array<std::uint32_t, 2> posted{};
    unsigned turn = 0;
  };

  static void enter() { running->run_thread(); }

  void run_thread() {
    const unsigned thread = current_;
    HostBlock view(*this, thread);
    body_(view);
    fibers_[thread].state = FiberState::finished;
    swapcontext(&fibers_[thread].context, &scheduler_);
  }

  void start(unsigned thread) {
    Fiber& fiber = fibers_[thread];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = fiber_stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &HostBlockRun::enter, 0);
    fiber.state = FiberState::ready;
    lanes_[thread] = {};
  }

  /// Lets every ready thread run to its next stop, then opens the barriers that are complete. False at the end.
  bool step() {
    bool ran = false;
    for (const unsigned thread : thread_order_) {
      if (fibers_[thread].state != FiberState::ready) continue;
      current_ = thread;
      running = this;
      swapcontext(&scheduler_, &fibers_[thread].context);
      ran = true;
    }
    const auto all = [](auto first, auto last, FiberState state) {
      return std::all_of(first, last, [state](const Fiber& fiber) { return fiber.state == state; });
    };
    if (all(fibers_.begin(), fibers_.end(), FiberState::finished)) return false;
    bool opened = open_if(fibers_.begin(), fibers_.end(), FiberState::at_sync);
    for (auto warp = fibers_.begin(); warp != fibers_.end(); warp += warp_lanes) {
      opened = open_if(warp, warp + warp_lanes, FiberState::at_shuffle) || opened;
    }
    if (!opened && !ran) refuse();
    return true;
  }

  template <class Iterator>
  static bool open_if(Iterator first, Iterator last, FiberState state) {
    if (!std::all_of(first, last, [state](const Fiber& fiber) { return fiber.state == state; })) return false;
    std::for_each(first, last, [](Fiber& fiber) { fiber.state = FiberState::ready; });
    return true;
  }

  [[noreturn]] void refuse() const {
    const auto count = [this](FiberState state) {
      return std::count_if(fibers_.begin(), fibers_.end(), [state](const Fiber& f) { return f.state == state; });
    };
    throw std::logic_error(fmt::format(
        "block {} hangs: of {} threads {} wait at sync, {} at a shuffle, {} for another block, {} have left", block_,
        shape_.threads, count(FiberState::at_sync), count(FiberState::at_shuffle), count(FiberState::waiting),
        count(FiberState::finished)));
  }

  static thread_local HostBlockRun* running;

  LaunchShape shape_;
  const std::function<void(HostBlock&)>& body_;
  std::vector<unsigned> thread_order_;
  std::vector<Fiber> fibers_;
  std::vector<Lane> lanes_;
  std::unique_ptr<std::byte[]> shared_;
  ucontext_t scheduler_{};
  unsigned block_ = 0;
  unsigned current_ = 0;
};

thread_local HostBlockRun* HostBlockRun::running = nullptr;

unsigned HostBlock::threads() const { return run_.shape().threads; }
unsigned HostBlock::block() const { return run_.block(); }
unsigned HostBlock::blocks() const { return run_.shape().blocks; }
std::byte* HostBlock::shared() const { return run_.shared(); }
void HostBlock::sync() { run_.wait(thread_, HostBlockRun::FiberState::at_sync); }
void HostBlock::wait_until(const std::uint32_t* address, std::uint32_t value) {
  if (*address != value) run_.wait(thread_, HostBlockRun::FiberState::waiting);
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
