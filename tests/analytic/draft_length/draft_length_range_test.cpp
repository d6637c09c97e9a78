// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "tests/analytic/reference.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::LongReal;
using tests::Real;

constexpr std::int64_t no_end = std::int64_t{1} << 62;

/// tokens(alpha) - cost in high precision, from the sum.
LongReal profit(const LongReal& alpha, std::int64_t gamma, double c, Convention convention, Drafting drafting) {
  LongReal tokens = 0;
  LongReal term = 1;
  for (std::int64_t j = 0; j < max_tokens(gamma, convention); ++j) {
    tokens += term;
    term *= alpha;
  }
  return tokens - 1 - draft_passes(gamma, drafting) * LongReal(c);
}

}  // namespace

TEST_CASE("alpha 0.8 and c 0.05: gamma 7 to 9 within 1 %, and gamma 5 breaks even at alpha 0.2001 or c 0.5379") {
  const IidSetting setting{0.8, 0.05, Convention::bonus, Drafting::autoregressive};
  const auto range = near_best_gamma(setting, 0.01);
  REQUIRE(range.has_value());
  CHECK(range->first == 7);
  CHECK(range->last == 9);
  CHECK(*break_even_alpha(5, 0.05, Convention::bonus, Drafting::autoregressive) == Approx(0.2001).margin(5e-5));
  CHECK(break_even_c(3.68928, 5, Drafting::autoregressive) == Approx(0.537856).epsilon(few_ulp));
  CHECK(break_even_c(3.68928, 5, Drafting::block) == Approx(2.68928).epsilon(few_ulp));
}

TEST_CASE("the near-best range holds exactly the draft lengths within the fraction") {
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const double fraction = GENERATE(0.0, 1e-6, 0.01, 0.2);
  for (const double alpha : {0.0, 0.05, 0.5, 0.8, 0.95, 0.99}) {
    for (const double c : {0.02, 0.1, 0.5, 1.5}) {
      CAPTURE(alpha, c, fraction, convention == Convention::bonus);
      const IidSetting setting{alpha, c, convention, Drafting::autoregressive};
      const std::int64_t best = *best_gamma(setting).gamma;
      const auto range = near_best_gamma(setting, fraction);
      REQUIRE(range.has_value());
      const std::int64_t end = std::max(2 * best + 200, range->last + 2);
      std::vector<Real> speedups;  // from the smallest gamma on
      Real tokens = 1;
      Real survival = 1;
      for (std::int64_t gamma = min_gamma(convention); gamma < end; ++gamma) {
        speedups.push_back(tokens / (1 + gamma * Real(c)));
        tokens += (survival *= alpha);
      }
      const auto value = [&](std::int64_t gamma) {
        return speedups[static_cast<std::size_t>(gamma - min_gamma(convention))];
      };
      const Real threshold = (1 - Real(fraction)) * value(best);
      for (std::int64_t gamma = min_gamma(convention); gamma < end; ++gamma) {
        const bool inside = gamma >= range->first && gamma <= range->last;
        if (inside != (value(gamma) >= threshold)) FAIL_CHECK("gamma " << gamma << " on the wrong side");
      }
    }
  }
}

TEST_CASE("a flat optimum of 4.5e7 drafts still has exact neighbors, and a tie belongs to the range") {
  const IidSetting flat{1.0 - 1e-15, 0.5, Convention::bonus, Drafting::autoregressive};
  const auto range = near_best_gamma(flat, 0.0);
  REQUIRE(range.has_value());
  CHECK(range->first == *best_gamma(flat).gamma);
  CHECK(range->last == range->first);

  const auto tie = near_best_gamma({0.5, 0.25, Convention::no_bonus, Drafting::autoregressive}, 0.0);
  CHECK((tie->first == 2 && tie->last == 3));
  const auto even = near_best_gamma({0.3, 0.3, Convention::bonus, Drafting::autoregressive}, 0.0);
  CHECK((even->first == 0 && even->last == 1));
}

TEST_CASE("an unbounded near-best range is reported, and there is none around an unbounded optimum") {
  const auto same = near_best_gamma({1.0, 1.0, Convention::bonus, Drafting::autoregressive}, 0.0);
  CHECK((same->first == 0 && same->last == no_end));
  const auto all = near_best_gamma({0.8, 0.05, Convention::bonus, Drafting::autoregressive}, 1.0);
  CHECK((all->first == 0 && all->last == no_end));
  const auto cheap = near_best_gamma({0.5, 1e-300, Convention::bonus, Drafting::autoregressive}, 0.01);
  CHECK((cheap->first == 6 && cheap->last == no_end));  // 2 - 2^-6 is the first within 1 % of 2
  const auto beyond =
      near_best_gamma({std::nextafter(1.0, 0.0), 1e-300, Convention::bonus, Drafting::autoregressive}, 0.01);
  REQUIRE(beyond);
  CHECK(beyond->first < no_end);
  CHECK(beyond->last ==
        best_gamma({std::nextafter(1.0, 0.0), 1e-300, Convention::bonus, Drafting::autoregressive}).gamma);
  CHECK_FALSE(near_best_gamma({0.8, 0.0, Convention::bonus, Drafting::autoregressive}, 0.01).has_value());
  CHECK_FALSE(near_best_gamma({0.8, 0.1, Convention::bonus, Drafting::block}, 0.01).has_value());

  // A block drafter that does not gain: S(0) = 1, S(1) = 1.2/1.5 = 0.8, rising from there to 0.833.
  const auto only_none = near_best_gamma({0.2, 0.5, Convention::bonus, Drafting::block}, 0.1);
  CHECK((only_none->first == 0 && only_none->last == 0));
  const auto also_long = near_best_gamma({0.2, 0.5, Convention::bonus, Drafting::block}, 0.21);
  CHECK((also_long->first == 0 && also_long->last == no_end));
}

TEST_CASE("at the break-even alpha tokens equal cost, to the last digits") {
  const Convention convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const Drafting drafting = GENERATE(Drafting::autoregressive, Drafting::block);
  for (const std::int64_t gamma : {1, 2, 3, 5, 17, 300}) {
    for (const double c : {1e-300, 1e-12, 0.001, 0.05, 0.3, 0.95, 1.0 - 1e-12, 1.0, 1.2, 2.5}) {
      CAPTURE(gamma, c, convention == Convention::bonus, drafting == Drafting::block);
      const auto alpha = break_even_alpha(gamma, c, convention, drafting);
      const LongReal at_one = profit(LongReal(1), gamma, c, convention, drafting);
      CHECK(alpha.has_value() == (at_one >= 0));
      if (!alpha) continue;
      const LongReal slack = LongReal(*alpha) * LongReal(few_ulp);
      CHECK(profit(LongReal(*alpha) - slack, gamma, c, convention, drafting) < 0);
      CHECK(profit(LongReal(*alpha) + slack, gamma, c, convention, drafting) > 0);
    }
  }
}

TEST_CASE("the break-even alpha at its limits: free drafts always gain, and c = 1 needs certain acceptance") {
  CHECK(*break_even_alpha(4, 0.0, Convention::bonus, Drafting::autoregressive) == 0.0);
  CHECK(*break_even_alpha(1, 0.0, Convention::no_bonus, Drafting::autoregressive) == 0.0);
  CHECK_FALSE(break_even_alpha(1, 0.1, Convention::no_bonus, Drafting::autoregressive).has_value());
  CHECK(*break_even_alpha(4, 1.0, Convention::bonus, Drafting::autoregressive) == 1.0);
  CHECK(*break_even_alpha(4, 4.0, Convention::bonus, Drafting::block) == 1.0);
  CHECK(*break_even_alpha(1, 0.3, Convention::bonus, Drafting::autoregressive) == 0.3);
  const auto long_draft = break_even_alpha(1'000'000, 1e-4, Convention::bonus, Drafting::autoregressive);
  CHECK(tokens_per_iteration({*long_draft, 1'000'000, Convention::bonus}) ==
        Approx(101.0).epsilon(tests::second_route));
}

TEST_CASE("ranges and break-even points reject meaningless arguments") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(near_best_gamma({0.8, 0.05, Convention::bonus, Drafting::autoregressive}, -0.01),
                    "invalid fraction=-0.01 (must lie in [0, 1])");
  CHECK_THROWS_WITH(break_even_alpha(0, 0.05, Convention::bonus, Drafting::autoregressive),
                    "invalid gamma=0 (must be at least 1)");
  CHECK_THROWS_WITH(break_even_alpha(5, nan, Convention::bonus, Drafting::block),
                    "invalid c=nan (must be finite and not negative)");
  CHECK_THROWS_WITH(break_even_c(0.5, 5, Drafting::block), "invalid tokens_per_iteration=0.5 (must be at least 1)");
  CHECK_THROWS_WITH(break_even_c(nan, 5, Drafting::block),
                    "invalid tokens_per_iteration=nan (must be finite and above 0)");
  CHECK_THROWS_WITH(break_even_c(2.0, 0, Drafting::block), "invalid gamma=0 (must be at least 1)");
}

}  // namespace foredraft::analytic
