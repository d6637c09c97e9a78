// SPDX-License-Identifier: Apache-2.0
#include "sim/system/serving_simulator.hpp"

#include <catch2/catch.hpp>

namespace foredraft::sim {

TEST_CASE("a consistent account passes, and each inconsistent sum is detected") {
  const RunAccount sound{.arrived = 10,
                         .departed = 6,
                         .in_service = 3,
                         .waiting = 1,
                         .emitted_tokens = 75,
                         .departed_tokens = 60,
                         .in_service_tokens = 15,
                         .in_system_ns = 1000,
                         .departed_ns = 900,
                         .remaining_ns = 100};
  CHECK_NOTHROW(check_account(sound));
  RunAccount lost_request = sound;
  ++lost_request.arrived;
  CHECK_THROWS_WITH(check_account(lost_request), Catch::Contains("requests"));
  RunAccount lost_token = sound;
  --lost_token.departed_tokens;
  CHECK_THROWS_WITH(check_account(lost_token), Catch::Contains("tokens"));
  RunAccount lost_time = sound;
  ++lost_time.departed_ns;
  CHECK_THROWS_WITH(check_account(lost_time), Catch::Contains("Little"));
}

}  // namespace foredraft::sim
