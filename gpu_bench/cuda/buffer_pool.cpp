// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/buffer_pool.hpp"

#include <utility>

#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {

void* BufferPool::address_of(const latency::Buffer& buffer) {
  const Key key{buffer.name, buffer.kind, buffer.elements};
  const auto known = entries_.find(key);
  if (known != entries_.end()) return known->second.memory.get();
  const std::int64_t element_bytes = buffer.kind == latency::BufferKind::tokens ? 4 : latency::bytes_of(type_);
  DeviceMemory memory(static_cast<std::size_t>(buffer.elements * element_bytes));
  launch_contents(buffer, memory.get(), type_, seed_, nullptr);
  return entries_.emplace(key, Entry{buffer, std::move(memory)}).first->second.memory.get();
}

void BufferPool::refill() {
  for (const auto& [key, entry] : entries_) launch_contents(entry.buffer, entry.memory.get(), type_, seed_, nullptr);
  check(cudaDeviceSynchronize(), "filling buffers");
}

}  // namespace foredraft::gpu_bench
