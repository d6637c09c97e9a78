// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {

/// A call of the driver, the runtime or a library failed.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws DeviceError `file:line: what: error (meaning) - suggestion` unless the call succeeded.
void check(cudaError_t result, std::string_view what,
           const std::source_location& where = std::source_location::current());

/// Throws MemoryError if the request exceeds the memory of the whole device, before gigabytes of it are filled.
void check_fits(std::string_view what, double needed_bytes, double device_bytes);

/// Why cudaGetDeviceCount, which returned `result`, found no device. Versions in the runtime's format, 13000 for 13.0;
/// driver 0: there is none.
[[nodiscard]] std::string no_device_text(cudaError_t result, int driver, int runtime);

/// Deletes a handle by a function of the runtime. A destructor cannot report errors; the next call reports a lost
/// device.
template <auto destroy>
struct DestroyedBy {
  void operator()(auto* handle) const { destroy(handle); }
};

/// Memory on the device, released with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;

  /// Throws MemoryError with the requested and the free size.
  explicit DeviceMemory(std::size_t bytes);

  [[nodiscard]] void* get() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, DestroyedBy<cudaFree>> memory_;
  std::size_t bytes_ = 0;
};

/// Device memory of the buffers of one model's forward passes. Passes share buffers of the same name and size, so a
/// model's weights exist once; passes run one after another, so they may share activations too.
class BufferPool {
 public:
  BufferPool(latency::DataType type, std::uint64_t seed) : type_(type), seed_(seed) {}

  /// Memory of a buffer, allocated and filled on the first request. Throws MemoryError.
  [[nodiscard]] void* address_of(const latency::Buffer& buffer);

  /// Resets every buffer to its initial contents: random numbers, NaN in activations. Waits for the device.
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

// ---- Streams, graphs and the time between two events.

class Stream {
 public:
  Stream();
  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  void wait() const;

 private:
  std::unique_ptr<CUstream_st, DestroyedBy<cudaStreamDestroy>> stream_;
};

/// The work that `launch` enqueues, captured once and replayed as one launch.
class Graph {
 public:
  Graph(const Stream& stream, const std::function<void()>& launch);
  void replay(const Stream& stream) const;

 private:
  std::unique_ptr<CUgraphExec_st, DestroyedBy<cudaGraphExecDestroy>> graph_;
};

/// Device time of the work that `launch` enqueues, in microseconds; waits for it.
class EventTimer {
 public:
  EventTimer();
  [[nodiscard]] double time_us(const Stream& stream, const std::function<void()>& launch) const;

 private:
  std::unique_ptr<CUevent_st, DestroyedBy<cudaEventDestroy>> start_;
  std::unique_ptr<CUevent_st, DestroyedBy<cudaEventDestroy>> stop_;
};

}  // namespace foredraft::gpu_bench
