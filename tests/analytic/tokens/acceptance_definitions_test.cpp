// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_count.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

}  // namespace

TEST_CASE("alpha is recovered from the acceptance length") {
  const double alpha = GENERATE(0.0, 1e-300, 1e-9, 0.05, 0.5, 0.8, 0.999, 1.0);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 2, 5, 200);
  CAPTURE(alpha, gamma);
  // The length is rounded to 1.1e-16, and its relative error becomes that of alpha times at most gamma = 200.
  constexpr double share_rounding = 2e-14;
  // A length just above one holds a small alpha only to the length's last place, 2.2e-16.
  constexpr double length_rounding = 4e-16;
  const double with_bonus = tokens_per_iteration({alpha, gamma, Convention::bonus});
  const double recovered = alpha_from_acceptance_length(with_bonus, gamma, Convention::bonus);
  CHECK(recovered == Approx(alpha).epsilon(share_rounding).margin(length_rounding));
  if (gamma >= 2) {
    const double length = tokens_per_iteration({alpha, gamma, Convention::no_bonus});
    CHECK(alpha_from_acceptance_length(length, gamma, Convention::no_bonus) ==
          Approx(alpha).epsilon(share_rounding).margin(length_rounding));
  }
}

TEST_CASE("the limits of the acceptance length are alpha 0 and 1, and 3.68928 tokens of gamma 5 are alpha 0.8") {
  CHECK(alpha_from_acceptance_length(1.0, 5, Convention::bonus) == 0.0);
  CHECK(alpha_from_acceptance_length(6.0, 5, Convention::bonus) == 1.0);
  CHECK(alpha_from_acceptance_length(5.0, 5, Convention::no_bonus) == 1.0);
  CHECK(alpha_from_acceptance_length(3.68928, 5, Convention::bonus) == Approx(0.8).epsilon(few_ulp));
  CHECK(alpha_from_acceptance_length(3.68928, 6, Convention::no_bonus) == Approx(0.8).epsilon(few_ulp));
}

TEST_CASE("conversions reject lengths that no alpha gives") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(alpha_from_acceptance_length(6.5, 5, Convention::bonus),
                    "invalid acceptance_length=6.5 (must lie in [1, 6])");
  CHECK_THROWS_WITH(alpha_from_acceptance_length(5.5, 5, Convention::no_bonus),
                    "invalid acceptance_length=5.5 (must lie in [1, 5])");
  CHECK_THROWS_WITH(alpha_from_acceptance_length(nan, 5, Convention::bonus),
                    "invalid acceptance_length=nan (must lie in [1, 6])");
  CHECK_THROWS_WITH(alpha_from_acceptance_length(0.5, 5, Convention::bonus),
                    "invalid acceptance_length=0.5 (must lie in [1, 6])");
  CHECK_THROWS_WITH(alpha_from_acceptance_length(1.0, 1, Convention::no_bonus),
                    "invalid gamma=1 (must be at least 2 under no_bonus: an iteration of one token does not determine "
                    "alpha)");
  CHECK_THROWS_WITH(alpha_from_acceptance_length(1.0, 0, Convention::bonus), "invalid gamma=0 (must be at least 1)");
}

}  // namespace foredraft::analytic
