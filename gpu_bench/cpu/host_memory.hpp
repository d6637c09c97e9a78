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

/// Allocates memory aligned to a cache line, large blocks in large pages if the system has them: reading these takes a
/// third less time. Throws MemoryError if there is not enough free memory.
[[nodiscard]] HostMemory allocate_host(std::int64_t bytes);

/// Memory of the buffers of one model's forward passes in fp32, with contents as defined by
/// latency/operations/reference.hpp. Passes share buffers of the same name and size, so a model's weights exist once. A
/// cache may also be a prefix of a longer existing one, as in an engine; if several are needed, request the longest
/// first.
class HostPool {
 public:
  /// `threads` fill the buffers.
  HostPool(std::uint64_t seed, unsigned threads) : seed_(seed), threads_(threads) {}

  /// Memory of a buffer, allocated and filled on the first request: floats, or 32-bit token ids.
  [[nodiscard]] void* address_of(const latency::Buffer& buffer);

  /// Resets every buffer to its initial contents: random numbers, NaN in activations.
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
