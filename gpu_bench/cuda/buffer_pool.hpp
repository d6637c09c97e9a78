// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "gpu_bench/cuda/device_memory.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

/// Device memory of the buffers of one model's passes. Passes share what has the same name and size, so that a model's
/// weights are there once for all of them; they run one after another, so that they may share activations too.
class BufferPool {
 public:
  BufferPool(latency::DataType type, std::uint64_t seed) : type_(type), seed_(seed) {}

  /// Memory of a buffer, allocated and filled when it is first asked for. Throws MemoryError.
  [[nodiscard]] void* address_of(const latency::Buffer& buffer);

  /// Gives every buffer its first contents again: random numbers, poison in activations. Waits for the device.
  void refill();

  [[nodiscard]] latency::DataType type() const { return type_; }

 private:
  using Key = std::tuple<std::string, latency::BufferKind, std::int64_t>;
  struct Entry {
    latency::Buffer buffer;
    DeviceMemory memory;
  };

  latency::DataType type_;
  std::uint64_t seed_;
  std::map<Key, Entry> entries_;
};

}  // namespace foredraft::gpu_bench
