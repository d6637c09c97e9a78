// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/host_block.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gpu_bench/kernels/reduce.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr HostOrder every_order[] = {HostOrder::forward, HostOrder::reversed, HostOrder::shuffled};

}  // namespace

TEST_CASE("every thread of every block runs once and knows its position, in any order") {
  for (const HostOrder order : every_order) {
    std::vector<int> seen(3 * 64, 0);
    run_blocks(
        {.blocks = 3, .threads = 64, .shared_bytes = 0},
        [&](HostBlock& block) {
          CHECK(block.threads() == 64);
          CHECK(block.blocks() == 3);
          ++seen[block.block() * 64 + block.thread()];
        },
        order);
    CHECK(seen == std::vector<int>(3 * 64, 1));
  }
}

TEST_CASE("every thread reads after a barrier what others wrote before it") {
  for (const HostOrder order : every_order) {
    std::vector<unsigned> read(96);
    run_blocks(
        {.blocks = 1, .threads = 96, .shared_bytes = 96 * sizeof(unsigned)},
        [&](HostBlock& block) {
          auto* words = reinterpret_cast<unsigned*>(block.shared());
          words[block.thread()] = block.thread() + 1;
          block.sync();
          read[block.thread()] = words[95 - block.thread()];
        },
        order);
    for (unsigned thread = 0; thread < 96; ++thread) CHECK(read[thread] == 96 - thread);
  }
}

TEST_CASE("a missing barrier shows as a different result in another order") {
  const auto neighbours = [](HostOrder order) {
    std::vector<unsigned> read(64);
    run_blocks(
        {.blocks = 1, .threads = 64, .shared_bytes = 64 * sizeof(unsigned)},
        [&](HostBlock& block) {
          auto* words = reinterpret_cast<unsigned*>(block.shared());
          words[block.thread()] = block.thread();
          read[block.thread()] = words[(block.thread() + 1) % 64];
        },
        order);
    return read;
  };
  CHECK(neighbours(HostOrder::forward) != neighbours(HostOrder::reversed));
}

TEST_CASE("a shuffle returns the value of the lane whose number differs by the mask, repeatedly") {
  for (const HostOrder order : every_order) {
    std::vector<float> sums(64);
    std::vector<std::uint32_t> partners(64);
    run_blocks(
        {.blocks = 1, .threads = 64, .shared_bytes = 0},
        [&](HostBlock& block) {
          partners[block.thread()] = block.shuffle_xor(block.thread(), 5U);
          sums[block.thread()] = lane_sum(block, static_cast<float>(block.thread()), 8);
        },
        order);
    for (unsigned thread = 0; thread < 64; ++thread) {
      CHECK(partners[thread] == (thread ^ 5U));
      CHECK(sums[thread] == static_cast<float>(thread / 8 * 64 + 28));
    }
  }
}

TEST_CASE("warps shuffle while others wait at a barrier") {
  std::vector<float> sums(96);
  run_blocks({.blocks = 1, .threads = 96, .shared_bytes = 12}, [&](HostBlock& block) {
    const unsigned warp = block.thread() / warp_lanes;
    float value = 1.0F;
    for (unsigned i = 0; i < warp; ++i) value = lane_sum(block, value);
    block.sync();
    sums[block.thread()] = value;
  });
  CHECK(sums[0] == 1.0F);
  CHECK(sums[32] == 32.0F);
  CHECK(sums[95] == 1024.0F);
}

TEST_CASE("a barrier that not all threads reach is rejected") {
  CHECK_THROWS_MATCHES(run_blocks({.blocks = 1, .threads = 64, .shared_bytes = 0},
                                  [](HostBlock& block) {
                                    if (block.thread() != 7) block.sync();
                                  }),
                       std::logic_error, Says("block 0 hangs: of 64 threads 63 "));
}

TEST_CASE("a shuffle by only part of a warp is rejected") {
  CHECK_THROWS_AS(run_blocks({.blocks = 1, .threads = 64, .shared_bytes = 0},
                             [](HostBlock& block) {
                               if (block.thread() < 40) static_cast<void>(block.shuffle_xor(1.0F, 1U));
                             }),
                  std::logic_error);
}

TEST_CASE("a block may wait for earlier blocks, and waiting for a later one is rejected") {
  std::uint32_t done = 0;
  const auto body = [&done](HostBlock& block) {
    if (block.thread() == 0) {
      if (block.block() == 2) block.wait_until(&done, 2);
      static_cast<void>(block.atomic_add(&done, 1));
    }
    block.sync();
  };
  run_blocks({.blocks = 3, .threads = 32, .shared_bytes = 0}, body);
  CHECK(done == 3);
  done = 0;
  CHECK_THROWS_MATCHES(run_blocks({.blocks = 3, .threads = 32, .shared_bytes = 0}, body, HostOrder::reversed),
                       std::logic_error, Says("block 2 hangs: of 32 threads 31 "));
}

TEST_CASE("a launch without blocks, or without whole warps, is rejected") {
  const auto nothing = [](HostBlock&) {};
  CHECK_THROWS_AS(run_blocks({.blocks = 0, .threads = 32, .shared_bytes = 0}, nothing), std::logic_error);
  CHECK_THROWS_AS(run_blocks({.blocks = 1, .threads = 0, .shared_bytes = 0}, nothing), std::logic_error);
  CHECK_THROWS_AS(run_blocks({.blocks = 1, .threads = 33, .shared_bytes = 0}, nothing), std::logic_error);
}

TEST_CASE("the last of several blocks reads what all wrote, whichever it is, and leaves the counter at zero") {
  for (const HostOrder order : every_order) {
    std::vector<int> written(5, 0);
    std::vector<int> seen;
    std::uint32_t counter = 0;
    run_blocks(
        {.blocks = 5, .threads = 32, .shared_bytes = sizeof(std::uint32_t)},
        [&](HostBlock& block) {
          if (block.thread() == 3) written[block.block()] = 1;
          auto* flag = reinterpret_cast<std::uint32_t*>(block.shared());
          if (!comes_last(block, 5, &counter, flag) || block.thread() != 0) return;
          seen.push_back(std::accumulate(written.begin(), written.end(), 0));
        },
        order);
    CHECK(seen == std::vector<int>{5});
    CHECK(counter == 0);
  }
}

TEST_CASE("the sum over a block is the same in every thread and has the same bits in every order") {
  for (const unsigned threads : {32U, 96U, 256U}) {
    std::vector<float> first;
    for (const HostOrder order : every_order) {
      std::vector<float> sums(threads);
      run_blocks(
          {.blocks = 1, .threads = threads, .shared_bytes = static_cast<unsigned>(threads / 8)},
          [&](HostBlock& block) {
            const float value = 1.0F / static_cast<float>(block.thread() + 1);
            sums[block.thread()] = block_sum(block, value, reinterpret_cast<float*>(block.shared()));
          },
          order);
      if (first.empty()) first = sums;
      CHECK(sums == first);
      CHECK(sums == std::vector<float>(threads, sums[0]));
    }
    double want = 0.0;
    for (unsigned i = 1; i <= threads; ++i) want += 1.0 / i;
    CHECK(static_cast<double>(first[0]) == Approx(want).epsilon(2e-6));
  }
}

}  // namespace foredraft::gpu_bench
