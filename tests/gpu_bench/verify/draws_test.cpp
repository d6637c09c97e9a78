// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/verification.hpp"

#include <catch2/catch.hpp>

namespace foredraft::gpu_bench::tests {

TEST_CASE("a kernel's draws are those of the simulator's streams") {
  constexpr std::uint64_t seed_of_run = 0x0123456789abcdefULL;
  const DrawStream stream = draw_stream(seed_of_run, 40, 9);
  for (const Purpose purpose : {Purpose::accept, Purpose::replacement, Purpose::bonus_token}) {
    for (const unsigned request : {0U, 3U}) {
      RandomStream words(seed_of_run, {.purpose = purpose, .point = 40 + request, .block = 9});
      for (const std::uint32_t index : {0U, 1U, 1000U}) {
        words.seek(index);
        CHECK(draw_word(stream, purpose, request, index) == words.next_u64());
        words.seek(index);
        CHECK(draw_uniform(stream, purpose, request, index) == words.uniform());
      }
    }
  }
}

}  // namespace foredraft::gpu_bench::tests
