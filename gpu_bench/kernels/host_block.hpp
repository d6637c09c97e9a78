// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "gpu_bench/kernels/storage.hpp"

/// Runs kernels on the host, so that they are tested without a GPU: see README.md of this folder.
namespace foredraft::gpu_bench {

class HostBlockRun;

/// Interface of a kernel's thread to its block.
class HostBlock {
 public:
  HostBlock(HostBlockRun& run, const LaunchShape& shape, unsigned block, unsigned thread, std::byte* shared)
      : run_(run), shape_(shape), block_(block), thread_(thread), shared_(shared) {}

  [[nodiscard]] unsigned thread() const { return thread_; }
  [[nodiscard]] unsigned threads() const { return shape_.threads; }
  [[nodiscard]] unsigned block() const { return block_; }
  [[nodiscard]] unsigned blocks() const { return shape_.blocks; }
  [[nodiscard]] std::byte* shared() const { return shared_; }

  void sync();

  /// `value` of the lane whose number differs by `mask`; 32-bit types.
  template <class T>
  [[nodiscard]] T shuffle_xor(T value, unsigned mask) {
    return std::bit_cast<T>(exchange(std::bit_cast<std::uint32_t>(value), mask));
  }

  std::uint32_t atomic_add(std::uint32_t* address, std::uint32_t value) {
    const std::uint32_t before = *address;
    *address = before + value;
    return before;
  }
  void fence() {}

  /// Starts to copy a pack, at a multiple of 16 bytes, from global memory to shared memory of this thread alone.
  template <class Pack>
  void copy_to_shared(const void* from, Pack* to) {
    std::memcpy(to, from, sizeof(Pack));
  }
  /// Ends a group of copies that were started.
  void end_copies() {}
  /// Returns once the copies of all groups except the latest have arrived.
  void wait_for_copies() {}

  /// Returns once *address is `value`. Blocks run one after another here, so waiting for a later block is an error.
  void wait_until(const std::uint32_t* address, std::uint32_t value);

 private:
  std::uint32_t exchange(std::uint32_t value, unsigned mask);

  HostBlockRun& run_;
  const LaunchShape& shape_;
  unsigned block_;
  unsigned thread_;
  std::byte* shared_;
};

/// The order of blocks, and of threads between two barriers. A correct kernel gives the same bits for all orders.
enum class HostOrder { forward, reversed, shuffled };

/// Runs `body` once for each thread of each block. Throws std::logic_error if not all threads of a block reach a
/// barrier or not all lanes of a warp a shuffle, or if a thread waits for a later block. `body` must not throw.
void run_blocks(const LaunchShape& shape, const std::function<void(HostBlock&)>& body,
                HostOrder order = HostOrder::forward);

template <class Kernel>
void run_on_host(const Kernel& kernel, HostOrder order = HostOrder::forward) {
  run_blocks(
      kernel.shape(), [&kernel](HostBlock& block) { kernel(block); }, order);
}

}  // namespace foredraft::gpu_bench
