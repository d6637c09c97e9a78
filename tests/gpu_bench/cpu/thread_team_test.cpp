#include "gpu_bench/cpu/thread_team.hpp"

#include <catch2/catch.hpp>
#include <numeric>

namespace foredraft::gpu_bench {

TEST_CASE("every thread does its part of each piece of work, and sees behind a barrier what the others wrote") {
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
