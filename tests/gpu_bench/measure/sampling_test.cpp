// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/measure.hpp"

#include <catch2/catch.hpp>

namespace foredraft::gpu_bench {

TEST_CASE("a sample lasts 100 us or a thousand calls, in whole rounds over its buffers") {
  CHECK(calls_per_sample(250.0) == 1);
  CHECK(calls_per_sample(30.0) == 4);
  CHECK(calls_per_sample(30.0, 3) == 6);
  CHECK(calls_per_sample(250.0, 7) == 7);
  CHECK(calls_per_sample(0.0) == 1000);
}

}  // namespace foredraft::gpu_bench
