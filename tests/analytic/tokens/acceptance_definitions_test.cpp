// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/acceptance.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;

/// What a counter would see in expectation, from all 2^gamma accept/reject patterns.
struct Counted {
  Real accepted = 0;
  Real tested = 0;
  Real tokens = 0;
  std::vector<Real> accepted_at;
  std::vector<Real> tested_at;
};
Counted count(double alpha, std::int64_t gamma, Convention convention) {
  Counted counted;
  counted.accepted_at.assign(static_cast<std::size_t>(gamma), Real(0));
  counted.tested_at = counted.accepted_at;
  for (unsigned pattern = 0; pattern < (1U << static_cast<unsigned>(gamma)); ++pattern) {
    Real probability = 1;
    for (std::int64_t i = 0; i < gamma; ++i) {
      probability *= (pattern >> static_cast<unsigned>(i) & 1U) != 0 ? Real(alpha) : Real(1 - Real(alpha));
    }
    std::int64_t i = 0;
    for (; i < gamma; ++i) {
      const auto at = static_cast<std::size_t>(i);
      counted.tested += probability;
      counted.tested_at[at] += probability;
      if ((pattern >> static_cast<unsigned>(i) & 1U) == 0) break;
      counted.accepted += probability;
      counted.accepted_at[at] += probability;
    }
    counted.tokens += probability * (i < gamma || convention == Convention::bonus ? i + 1 : i);
  }
  return counted;
}

}  // namespace

TEST_CASE("every acceptance number is the one that a counter of the same process would report") {
  const double alpha = GENERATE(0.1, 0.6, 0.95);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 2, 5, 8);
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const AcceptanceNumbers numbers = acceptance_numbers(alpha, gamma, convention);
  const Counted counted = count(alpha, gamma, convention);
  CHECK(relative_error(numbers.per_token, Real(counted.accepted / counted.tested)) < few_ulp);
  CHECK(relative_error(numbers.accepted_over_drafted, Real(counted.accepted / gamma)) < few_ulp);
  CHECK(relative_error(numbers.acceptance_length, counted.tokens) < few_ulp);
  REQUIRE(numbers.conditional.size() == static_cast<std::size_t>(gamma));
  REQUIRE(numbers.marginal.size() == static_cast<std::size_t>(gamma));
  for (std::size_t i = 0; i < numbers.marginal.size(); ++i) {
    CHECK(relative_error(numbers.conditional[i], Real(counted.accepted_at[i] / counted.tested_at[i])) < few_ulp);
    CHECK(relative_error(numbers.marginal[i], counted.accepted_at[i]) < few_ulp);
  }
}

TEST_CASE("alpha is recovered from the acceptance length and from accepted over drafted") {
  const double alpha = GENERATE(0.0, 1e-300, 1e-9, 0.05, 0.5, 0.8, 0.999, 1.0);
  const std::int64_t gamma = GENERATE(as<std::int64_t>(), 1, 2, 5, 200);
  CAPTURE(alpha, gamma);
  const AcceptanceNumbers numbers = acceptance_numbers(alpha, gamma, Convention::bonus);
  // The share is rounded to 1.1e-16, and its relative error becomes that of alpha times at most gamma = 200.
  constexpr double share_rounding = 2e-14;
  CHECK(alpha_from_accepted_over_drafted(numbers.accepted_over_drafted, gamma) ==
        Approx(alpha).epsilon(share_rounding));
  // A length of one and a little holds a small alpha only to its own last place, 2.2e-16.
  constexpr double length_rounding = 4e-16;
  const double recovered = alpha_from_acceptance_length(numbers.acceptance_length, gamma, Convention::bonus);
  CHECK(recovered == Approx(alpha).epsilon(share_rounding).margin(length_rounding));
  if (gamma >= 2) {
    const double length = acceptance_numbers(alpha, gamma, Convention::no_bonus).acceptance_length;
    CHECK(alpha_from_acceptance_length(length, gamma, Convention::no_bonus) ==
          Approx(alpha).epsilon(share_rounding).margin(length_rounding));
  }
}

TEST_CASE("the ends of the acceptance length are alpha 0 and 1, and 3.68928 tokens of gamma 5 are alpha 0.8") {
  CHECK(alpha_from_acceptance_length(1.0, 5, Convention::bonus) == 0.0);
  CHECK(alpha_from_acceptance_length(6.0, 5, Convention::bonus) == 1.0);
  CHECK(alpha_from_acceptance_length(5.0, 5, Convention::no_bonus) == 1.0);
  CHECK(alpha_from_acceptance_length(3.68928, 5, Convention::bonus) == Approx(0.8).epsilon(few_ulp));
  CHECK(alpha_from_acceptance_length(3.68928, 6, Convention::no_bonus) == Approx(0.8).epsilon(few_ulp));
  CHECK(alpha_from_accepted_over_drafted(0.0, 5) == 0.0);
  CHECK(alpha_from_accepted_over_drafted(1.0, 5) == 1.0);
}

TEST_CASE("conversions refuse lengths and shares that no alpha gives") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(acceptance_numbers(1.5, 5, Convention::bonus), "invalid alpha=1.5 (must lie in [0, 1])");
  CHECK_THROWS_WITH(acceptance_numbers(0.5, 0, Convention::bonus), "invalid gamma=0 (must be at least 1)");
  CHECK_THROWS_WITH(acceptance_numbers(0.5, 10'000'001, Convention::bonus),
                    "invalid gamma=10000001 (must lie in 1 to 10000000)");
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
  CHECK_THROWS_WITH(alpha_from_accepted_over_drafted(nan, 5), "invalid accepted_over_drafted=nan (must lie in [0, 1])");
  CHECK_THROWS_WITH(alpha_from_accepted_over_drafted(0.5, 0), "invalid gamma=0 (must be at least 1)");
}

}  // namespace foredraft::analytic
