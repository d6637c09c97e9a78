// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/measure/measure.hpp"

#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"

namespace foredraft::gpu_bench {

TEST_CASE("there are enough copies for five caches between two uses, and one copy if a pass is larger") {
  constexpr double cache_bytes = 50e6;
  CHECK(copies_for_cold(1e9, cache_bytes) == 1);
  CHECK(copies_for_cold(250e6, cache_bytes) == 1);
  CHECK(copies_for_cold(100e6, cache_bytes) == 4);
  CHECK(copies_for_cold(1e6, cache_bytes) == 251);
}

TEST_CASE("a pass that would need more than two thousand copies is not cold, nor is one without weights") {
  CHECK(copies_for_cold(125'063.0, 50e6) == 2000);
  CHECK_FALSE(copies_for_cold(125'000.0, 50e6));
  CHECK_FALSE(copies_for_cold(0.0, 50e6));
  CHECK_THROWS_AS(copies_for_cold(-1.0, 50e6), DomainError);
  CHECK_THROWS_AS(copies_for_cold(1.0, std::nan("")), DomainError);
}

}  // namespace foredraft::gpu_bench
