// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/thread_team.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <numeric>

namespace {

/// Threads that this program may still start.
std::atomic<int> threads_to_start{1'000'000};

}  // namespace

/// Replaces the C library's function in this program, to simulate a system without free threads.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                              void* argument) noexcept {
  if (threads_to_start.fetch_sub(1) <= 0) return EAGAIN;
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, work, argument);
}

namespace foredraft::gpu_bench {

TEST_CASE("every thread does its part of each task, and after a barrier reads what the others wrote") {
  for (const unsigned threads : {1U, 2U, 4U}) {
    ThreadTeam team(threads);
    std::vector<int> written(threads, 0);
    std::vector<int> seen(threads, 0);
    for (int round = 1; round <= 200; ++round) {
      team.run([&](unsigned thread) {
        written[thread] = round;
        team.meet();
        seen[thread] = std::accumulate(written.begin(), written.end(), 0);
      });
      CHECK(seen == std::vector<int>(threads, round * static_cast<int>(threads)));
    }
  }
}

TEST_CASE("a team that cannot start all threads reports it, and those that were started end") {
  for (const int started : {0, 1, 3}) {
    threads_to_start = started;
    CHECK_THROWS_WITH(ThreadTeam(6), Catch::StartsWith("cannot start 6 threads: the system gave "));
    threads_to_start = 1'000'000;
  }
}

TEST_CASE("shares cover everything once, in whole granules") {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 100}) {
    for (const unsigned threads : {1U, 2U, 3U, 7U}) {
      std::int64_t next = 0;
      for (unsigned thread = 0; thread < threads; ++thread) {
        const Share share = share_of(count, thread, threads, 16);
        CHECK(share.begin == next);
        CHECK((share.begin % 16 == 0 || share.begin == count));
        next = share.end;
      }
      CHECK(next == count);
    }
  }
}

}  // namespace foredraft::gpu_bench
