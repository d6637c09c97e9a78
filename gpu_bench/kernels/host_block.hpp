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

  /// Four matrices of 8 x 8 from shared memory: lane 8 i + r gives the address of row r of matrix i, a multiple of 16
  /// bytes. to[i]: two neighbors of matrix i, in row lane / 4, the first in column lane % 4 * 2. All lanes take part.
  template <class Storage>
  void load_matrices(const Storage* row, std::uint32_t (&to)[4]) {
    for (unsigned i = 0; i < 4; ++i) {
      const Storage* from = row_of_lane(row, 8 * i + lane() / 4) + lane() % 4 * 2;
      to[i] = word_of(from[0], from[1]);
    }
  }
  /// As load_matrices(), of the transposed matrices.
  template <class Storage>
  void load_transposed(const Storage* row, std::uint32_t (&to)[4]) {
    for (unsigned i = 0; i < 4; ++i) {
      const Storage* first = row_of_lane(row, 8 * i + lane() % 4 * 2);
      const Storage* second = row_of_lane(row, 8 * i + lane() % 4 * 2 + 1);
      to[i] = word_of(first[lane() / 4], second[lane() / 4]);
    }
  }

  /// sum += a b, in fp32, of matrices 16 x 16 and 16 x 8 that the lanes of a warp hold together; README.md has the
  /// layout. All lanes take part.
  template <class Storage>
  void multiply_add(const std::uint32_t (&a)[4], std::uint32_t b_low, std::uint32_t b_high, float (&sum)[4]) {
    for (unsigned holder = 0; holder < 8; ++holder) {  // of two neighbors of the inner dimension
      std::uint32_t of_a[2];
      std::uint32_t of_b[2];
      for (unsigned i = 0; i < 2; ++i) {
        of_a[i] = of_lane(a[holder / 4 * 2 + i], lane() / 4 * 4 + holder % 4);
        of_b[i] = of_lane(holder < 4 ? b_low : b_high, (lane() % 4 * 2 + i) * 4 + holder % 4);
      }
      for (const unsigned shift : {0U, 16U}) {
        const auto element = [&](std::uint32_t word) {
          return to_float(Storage{static_cast<std::uint16_t>(word >> shift)});
        };
        for (unsigned i = 0; i < 4; ++i) sum[i] += element(of_a[i / 2]) * element(of_b[i % 2]);
      }
    }
  }

  /// Returns once *address is `value`. Blocks run one after another here, so waiting for a later block is an error.
  void wait_until(const std::uint32_t* address, std::uint32_t value);

 private:
  std::uint32_t exchange(std::uint32_t value, unsigned mask);

  [[nodiscard]] unsigned lane() const { return thread_ % warp_lanes; }
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t value, unsigned other) { return exchange(value, lane() ^ other); }

  template <class Storage>
  [[nodiscard]] const Storage* row_of_lane(const Storage* row, unsigned other) {
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    const std::uint64_t low = of_lane(static_cast<std::uint32_t>(address), other);
    const std::uint64_t high = of_lane(static_cast<std::uint32_t>(std::uint64_t{address} >> 32U), other);
    return reinterpret_cast<const Storage*>(high << 32U | low);  // NOLINT(performance-no-int-to-ptr): it was one
  }

  template <class Storage>
  [[nodiscard]] static std::uint32_t word_of(Storage low, Storage high) {
    return low.bits | static_cast<std::uint32_t>(high.bits) << 16U;
  }

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
