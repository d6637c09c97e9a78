// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/published_costs.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {

using tests::few_ulp;

TEST_CASE("energy and carbon of a published run") {
  const double energy = energy_wh({.power_w = 86.0, .hours_h = 0.27, .pue = 1.1});
  CHECK(energy == Approx(25.542).epsilon(few_ulp));
  CHECK(carbon_g(energy, 0.385) == Approx(9.83367).epsilon(few_ulp));
  CHECK(energy_wh({.power_w = 0.0, .hours_h = 1.0, .pue = 1.0}) == 0.0);
}

TEST_CASE("the energy ratio is that of two runs, and crosses one where power rises by the speedup") {
  const double plain = energy_wh({.power_w = 86.0, .hours_h = 0.27, .pue = 1.1});
  const double fast = energy_wh({.power_w = 110.0, .hours_h = 0.05, .pue = 1.1});
  CHECK(energy_ratio(110.0 / 86.0, 0.27 / 0.05) == Approx(fast / plain).epsilon(few_ulp));
  CHECK(energy_ratio(3.0, 3.0) == 1.0);
  CHECK(energy_ratio(3.01, 3.0) > 1.0);
}

TEST_CASE("energy refuses negative numbers and an overhead below one") {
  CHECK_THROWS_WITH(energy_wh({.power_w = -1.0, .hours_h = 1.0, .pue = 1.1}),
                    "invalid power_w=-1 (must be finite and not negative)");
  CHECK_THROWS_WITH(energy_wh({.power_w = 1.0, .hours_h = 1.0, .pue = 0.9}),
                    "invalid pue=0.9 (must be finite and at least 1)");
  CHECK_THROWS_AS(energy_wh({.power_w = 1.0, .hours_h = 1.0, .pue = std::nan("")}), DomainError);
  CHECK_THROWS_AS(carbon_g(1.0, -0.1), DomainError);
  CHECK_THROWS_AS(energy_ratio(0.0, 1.0), DomainError);
  CHECK_THROWS_AS(energy_ratio(1.0, std::nan("")), DomainError);
}

}  // namespace foredraft::analytic
