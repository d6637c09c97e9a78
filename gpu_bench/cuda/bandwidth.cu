// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpu_bench/cuda/bandwidth.hpp"
#include "gpu_bench/cuda/launch_kernel.cuh"
#include "gpu_bench/cuda/launch_operation.hpp"

namespace foredraft::gpu_bench {
namespace {

template <MemoryMove move>
void launch_move(const void* from, void* to, std::int64_t bytes, unsigned max_blocks, cudaStream_t stream) {
  launch_kernel(MoveMemoryKernel<move>{.from = static_cast<const MemoryPack*>(from),
                                       .to = static_cast<MemoryPack*>(to),
                                       .packs = bytes / static_cast<std::int64_t>(sizeof(MemoryPack)),
                                       .max_blocks = max_blocks,
                                       .unlikely = 0x9e3779b9U},
                stream);
}

}  // namespace

MemoryMover::MemoryMover(std::int64_t max_bytes, std::int64_t multiprocessors)
    : from_(static_cast<std::size_t>(max_bytes)),
      to_(static_cast<std::size_t>(max_bytes)),
      max_blocks_(static_cast<unsigned>(16 * multiprocessors)) {
  launch_contents({"moved memory", latency::BufferKind::weight, max_bytes / 4, 1.0, 0}, from_.get(),
                  latency::DataType::fp32, 1, nullptr);
  check(cudaDeviceSynchronize(), "filling memory");
}

void MemoryMover::launch(MemoryMove move, std::int64_t bytes, const Stream& stream) const {
  switch (move) {
    case MemoryMove::copy:
      return launch_move<MemoryMove::copy>(from_.get(), to_.get(), bytes, max_blocks_, stream.get());
    case MemoryMove::read:
      return launch_move<MemoryMove::read>(from_.get(), to_.get(), bytes, max_blocks_, stream.get());
    case MemoryMove::write:
      return launch_move<MemoryMove::write>(from_.get(), to_.get(), bytes, max_blocks_, stream.get());
  }
}

std::vector<std::int64_t> sweep_sizes(std::int64_t l2_bytes) {
  constexpr std::int64_t mib = 1024 * 1024;
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = mib; size <= 16 * l2_bytes; size *= 2) {
    sizes.push_back(size);
    if (4 * size >= l2_bytes && size <= 2 * l2_bytes) sizes.push_back(size + size / 2);
  }
  return sizes;
}

}  // namespace foredraft::gpu_bench
