// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace foredraft {

TEST_CASE("parallel_for does each piece of work exactly once, for any number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> done(100);
    parallel_for(done.size(), threads, [&](std::uint64_t i) { ++done[i]; });
    for (const auto& count : done) CHECK(count == 1);
  }
  parallel_for(0, 4, [](std::uint64_t) { FAIL("there was no work to do"); });
}

/// The threads that did the pieces of work; each piece waits until all have started.
std::set<std::thread::id> threads_used(unsigned threads) {
  std::barrier all(threads);
  std::mutex mutex;
  std::set<std::thread::id> used;
  parallel_for(threads, threads, [&](std::uint64_t) {
    all.arrive_and_wait();
    const std::lock_guard lock(mutex);
    used.insert(std::this_thread::get_id());
  });
  return used;
}

TEST_CASE("threads start once and serve one loop after another") {
  std::set<std::thread::id> seen;
  for (int loop = 0; loop < 200; ++loop) {
    const std::set<std::thread::id> used = threads_used(4);
    CHECK(used.size() == 4);
    seen.insert(used.begin(), used.end());
  }
  CHECK(seen.size() <= std::max(8U, resolve_threads(0)));  // other tests use up to 8 threads, or all of the machine's
}

TEST_CASE("nested loops and loops of several threads at once do all their work") {
  std::atomic<int> done{0};
  const auto loops = [&] {
    parallel_for(8, 4, [&](std::uint64_t) { parallel_for(25, 3, [&](std::uint64_t) { ++done; }); });
  };
  {
    const std::jthread other(loops);
    loops();
  }
  CHECK(done == 400);
}

TEST_CASE("after a fork the child has threads of its own") {
  CHECK(threads_used(2).size() == 2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a lost thread would be waited for
    ::_exit(threads_used(3).size() == 3 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("an exception in one piece of work ends the loop and reaches the caller") {
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<int> started{0};
    const auto work = [&](std::uint64_t i) {
      ++started;
      if (i == 5) throw std::runtime_error("piece 5");
    };
    CHECK_THROWS_WITH(parallel_for(1'000'000, threads, work), "piece 5");
    CHECK(started < 1'000'000);
  }
}

TEST_CASE("threads that cannot be started are an error that says how many and what to do") {
  const pid_t child = ::fork();
  if (child == 0) {
    // A stack larger than any address space.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 46U);
    pthread_setattr_default_np(&attributes);
    std::string said;
    try {
      parallel_for(100, 7, [](std::uint64_t) {});
    } catch (const RunError& error) {
      said = error.what();
    } catch (...) {
      said = "something else";
    }
    const bool fine = said.starts_with("cannot start 7 threads: the system gave 1 (") &&
                      said.ends_with(") - use --threads with fewer, or raise the limit of processes (ulimit -u)");
    ::_exit(fine ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("zero threads means all of the machine, and never none") {
  CHECK(resolve_threads(3) == 3);
  CHECK(resolve_threads(0) >= 1);
}

}  // namespace foredraft
