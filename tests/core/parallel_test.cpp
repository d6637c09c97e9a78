// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

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

TEST_CASE("zero threads means all of the machine, and never none") {
  CHECK(resolve_threads(3) == 3);
  CHECK(resolve_threads(0) >= 1);
}

}  // namespace foredraft
