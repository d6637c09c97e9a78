// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/problems.hpp"

namespace foredraft {

TEST_CASE("parallel_for does each piece of work exactly once, whatever the number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> done(100);
    parallel_for(done.size(), threads, [&](std::uint64_t i) { ++done[i]; });
    for (const auto& count : done) CHECK(count == 1);
  }
  parallel_for(0, 4, [](std::uint64_t) { FAIL("there was no work to do"); });
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
    // A stack that no address space holds.
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
