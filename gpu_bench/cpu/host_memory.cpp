// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>

#include "core/parallel.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/kernels/operation_kernels.hpp"
#include "gpu_bench/run/profile_folder.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::int64_t cache_line_bytes = 64;
constexpr std::int64_t large_page_bytes = std::int64_t{2} << 20U;
/// Smaller requests are not checked: they do not exhaust memory, and checking takes time.
constexpr std::int64_t checked_bytes = std::int64_t{16} << 20U;
constexpr double usable_share = 0.9;

/// The initial contents of a buffer, as FillKernel writes them.
void fill(const latency::Buffer& buffer, void* memory, std::uint64_t seed, unsigned threads) {
  constexpr std::int64_t words_per_draw = std::tuple_size_v<PhiloxWords>;
  constexpr std::int64_t part_draws = 1 << 14U;
  const StreamId stream{Purpose::buffer_content, latency::content_point(buffer.name), 0};
  const auto key = philox_key(seed);
  const std::int64_t draws = (buffer.elements + words_per_draw - 1) / words_per_draw;
  with_content_kernel<float>(buffer, memory, seed, [&](const auto& kernel) {
    parallel_for(static_cast<std::uint64_t>((draws + part_draws - 1) / part_draws), threads, [&](std::uint64_t part) {
      const auto first = static_cast<std::int64_t>(part) * part_draws;
      for (std::int64_t draw = first; draw < std::min(first + part_draws, draws); ++draw) {
        const PhiloxWords words = philox4x32_10(philox_counter(stream, static_cast<std::uint64_t>(draw)), key);
        const std::int64_t begin = draw * words_per_draw;
        for (std::int64_t e = begin; e < std::min(begin + words_per_draw, buffer.elements); ++e) {
          kernel.element(e, words[static_cast<std::size_t>(e - begin)]);
        }
      }
    });
  });
}

}  // namespace

HostMemory allocate_host(std::int64_t bytes) {
  const std::int64_t alignment = bytes >= 2 * large_page_bytes ? large_page_bytes : cache_line_bytes;
  const std::int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  const auto reject = [&](double free_bytes) {
    throw MemoryError(fmt::format("too little memory: {:.2f} GiB free, a buffer needs {:.2f} GiB",
                                  free_bytes / 0x1.0p30, static_cast<double>(bytes) / 0x1.0p30));
  };
  if (bytes >= checked_bytes) {
    const auto free_bytes = static_cast<double>(available_memory_bytes());
    if (static_cast<double>(bytes) > usable_share * free_bytes) reject(free_bytes);
  }
  HostMemory memory(std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(rounded)));
  if (!memory) reject(static_cast<double>(available_memory_bytes()));
  // Optional: without large pages the memory works but is slower to read.
  if (alignment == large_page_bytes) ::madvise(memory.get(), static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
  return memory;
}

void* HostPool::address_of(const latency::Buffer& buffer) {
  const Key key{buffer.name, buffer.kind, buffer.elements};
  const auto serves = [&buffer](const latency::Buffer& other) {
    return other.name == buffer.name && other.kind == buffer.kind &&
           (other.elements == buffer.elements || buffer.kind == latency::BufferKind::cache);
  };
  const auto known = entries_.lower_bound(key);
  if (known != entries_.end() && serves(known->second.buffer)) return known->second.memory.get();
  HostMemory memory = allocate_host(buffer.elements * 4);
  fill(buffer, memory.get(), seed_, threads_);
  return entries_.emplace(key, Entry{buffer, std::move(memory)}).first->second.memory.get();
}

void HostPool::refill() {
  for (const auto& [key, entry] : entries_) fill(entry.buffer, entry.memory.get(), seed_, threads_);
}

}  // namespace foredraft::gpu_bench
