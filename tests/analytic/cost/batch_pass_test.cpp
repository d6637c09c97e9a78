// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "foredraft/server.hpp"

namespace foredraft {

TEST_CASE("a pass takes the time of reading until computing takes longer") {
  const RooflineStep pass{.launch_us = 3.0, .weights_us = 100.0, .context_us = 0.5, .token_us = 10.0};
  CHECK(pass({.batch = 1, .tokens = 1, .context = 0.0}) == 103.0);
  CHECK(pass({.batch = 2, .tokens = 5, .context = 0.0}) == 103.0);  // ten tokens: reading and computing take 100 each
  CHECK(pass({.batch = 2, .tokens = 6, .context = 0.0}) == 123.0);
  CHECK(pass({.batch = 2, .tokens = 6, .context = 30.0}) == 133.0);  // sixty cached tokens
}

}  // namespace foredraft
