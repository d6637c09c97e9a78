// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/iteration_cost.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"

namespace foredraft::analytic {

TEST_CASE("a pass is as long as its reading until computing takes longer") {
  const BatchPass pass{.launch = 3.0, .weights = 100.0, .context = 0.5, .token = 10.0};
  CHECK(pass_time(pass, 1, 1, 0.0) == 103.0);
  CHECK(pass_time(pass, 2, 5, 0.0) == 103.0);  // ten tokens: both take 100
  CHECK(pass_time(pass, 2, 6, 0.0) == 123.0);
  CHECK(pass_time(pass, 2, 6, 30.0) == 133.0);  // sixty cached tokens
}

TEST_CASE("a pass refuses what is no time and no batch") {
  CHECK_THROWS_AS(pass_time({.launch = -1.0, .weights = 1.0, .context = 0.0, .token = 0.0}, 1, 1, 0.0), DomainError);
  const BatchPass pass{.launch = 0.0, .weights = 1.0, .context = 0.0, .token = 0.0};
  CHECK_THROWS_AS(pass_time(pass, 0, 1, 0.0), DomainError);
  CHECK_THROWS_AS(pass_time(pass, 1, 0, 0.0), DomainError);
  CHECK_THROWS_AS(pass_time(pass, 1, 1, std::nan("")), DomainError);
}

}  // namespace foredraft::analytic
