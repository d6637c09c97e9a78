// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/fill.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "gpu_bench/kernels/host_block.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr std::int64_t packs = 1003;
constexpr std::uint32_t guard = 0xfeedU;

std::vector<MemoryPack> numbered() {
  std::vector<MemoryPack> memory(packs + 1);
  std::uint32_t next = 1;
  for (MemoryPack& pack : memory) {
    for (std::uint32_t& word : pack.words) word = next++;
  }
  return memory;
}

std::vector<MemoryPack> guarded() {
  return std::vector<MemoryPack>(packs + 1, MemoryPack{{guard, guard, guard, guard}});
}

template <MemoryMove move>
std::vector<MemoryPack> moved(unsigned max_blocks, std::uint32_t unlikely) {
  const std::vector<MemoryPack> from = numbered();
  std::vector<MemoryPack> to = guarded();
  run_on_host(MoveMemoryKernel<move>{.from = from.data(),
                                     .to = to.data(),
                                     .packs = packs,
                                     .max_blocks = max_blocks,
                                     .unlikely = unlikely,
                                     .threads = 64},
              HostOrder::shuffled);
  return to;
}

bool equal(const std::vector<MemoryPack>& a, const std::vector<MemoryPack>& b, std::int64_t count) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(count) * sizeof(MemoryPack)) == 0;
}

}  // namespace

TEST_CASE("a copy moves every pack and no further, with and without a stride over blocks") {
  for (const unsigned max_blocks : {1U, 3U, 100U}) {
    const auto to = moved<MemoryMove::copy>(max_blocks, 0);
    CHECK(equal(to, numbered(), packs));
    CHECK(to[packs].words[0] == guard);
  }
}

TEST_CASE("a write reaches every pack and no further") {
  const auto to = moved<MemoryMove::write>(3, 0);
  for (std::size_t i = 0; i < packs; ++i) REQUIRE(to[i].words[3] == i);
  CHECK(to[packs].words[0] == guard);
}

TEST_CASE("a read uses its data: a thread with the unlikely sum leaves a mark, others none") {
  CHECK(equal(moved<MemoryMove::read>(100, 0x80000001U), guarded(), packs + 1));
  // Thread 0 of the only block reads packs 0, 64, ..., of words 4 i + 1 to 4 i + 4.
  const std::vector<MemoryPack> from = numbered();
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < packs; i += 64) {
    sum += from[i].words[0] ^ from[i].words[1] ^ from[i].words[2] ^ from[i].words[3];
  }
  CHECK(moved<MemoryMove::read>(1, sum)[0].words[0] == sum);
}

}  // namespace foredraft::gpu_bench::tests
