// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc): from aligned_alloc
};
using HostMemory = std::unique_ptr<void, FreeMemory>;

/// At a multiple of a cache line, large blocks in large pages where the system has them: reading these takes a third
/// less time. Throws MemoryError where that much is not free.
[[nodiscard]] HostMemory allocate_host(std::int64_t bytes);

/// Memory of the buffers of one model's passes in fp32, contents as latency/operations/reference.hpp defines them.
/// Passes share what has the same name and size: a model's weights are there once for all of them. A cache may also be
/// the beginning of a longer one that is there already, as in an engine: where several are needed, the longest is best
/// asked for first.
class HostPool {
 public:
  /// `threads` that fill buffers.
  HostPool(std::uint64_t seed, unsigned threads) : seed_(seed), threads_(threads) {}

  /// Memory of a buffer, allocated and filled when it is first asked for: floats, or 32-bit token ids.
  [[nodiscard]] void* address_of(const latency::Buffer& buffer);

  /// Gives every buffer its first contents again: random numbers, poison in activations.
  void refill();

 private:
  using Key = std::tuple<std::string, latency::BufferKind, std::int64_t>;
  struct Entry {
    latency::Buffer buffer;
    HostMemory memory;
  };

  std::uint64_t seed_;
  unsigned threads_;
  std::map<Key, Entry> entries_;
};

}  // namespace foredraft::gpu_bench
