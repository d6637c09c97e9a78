// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/load_equilibrium.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {

using tests::few_ulp;

// M/M/1 has a separate formula: wait = load / (rate of service - rate of arrivals).
TEST_CASE("the mean wait is that of the birth-death chain for exponential service, half of it for constant service") {
  for (const double rate : {0.1, 1.0, 1.9}) {
    const double chain = rate / 2.0 / (2.0 - rate);
    CHECK(poisson_queue_wait(rate, {.mean = 0.5, .second_moment = 0.5}) == Approx(chain).epsilon(few_ulp));
    CHECK(poisson_queue_wait(rate, {.mean = 0.5, .second_moment = 0.25}) == Approx(chain / 2).epsilon(few_ulp));
  }
}

TEST_CASE("no request waits without arrivals, and the wait is infinite at full load") {
  CHECK(poisson_queue_wait(0.0, {.mean = 0.5, .second_moment = 0.3}) == 0.0);
  CHECK(poisson_queue_wait(2.0, {.mean = 0.5, .second_moment = 0.3}) == HUGE_VAL);
}

TEST_CASE("a queue rejects impossible service times") {
  CHECK_THROWS_AS(poisson_queue_wait(-1.0, {.mean = 0.5, .second_moment = 0.3}), DomainError);
  CHECK_THROWS_AS(poisson_queue_wait(1.0, {.mean = 0.0, .second_moment = 0.3}), DomainError);
  CHECK_THROWS_AS(poisson_queue_wait(1.0, {.mean = 0.5, .second_moment = std::nan("")}), DomainError);
  CHECK_THROWS_WITH(poisson_queue_wait(1.0, {.mean = 0.5, .second_moment = 0.2}),
                    "invalid second_moment=0.2 (must be at least the square of mean=0.5)");
}

}  // namespace foredraft::analytic
