// SPDX-License-Identifier: Apache-2.0
#include "sim/estimates.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using foredraft::tests::few_ulp;

/// gamma 2, autoregressive: 2 iterations reject the first draft, 1 the second, 3 accept both. Unit: the iteration.
Tally six_iterations(Convention convention) {
  const bool bonus = convention == Convention::bonus;
  Tally tally = empty_tally(2, convention);
  tally.units.add({1, 1, 2, 2, 0, 1}, 2);
  tally.units.add({2, 1, 2, 2, 1, 2});
  tally.units.add({bonus ? 3 : 2, 1, 2, 2, 2, 2}, 3);
  tally.tokens_count = bonus ? std::vector<std::uint64_t>{2, 1, 3} : std::vector<std::uint64_t>{2, 4};
  tally.drafted_at = {6, 6};
  tally.tested_at = {6, 4};
  tally.accepted_at = {4, 3};
  check_conservation(tally);
  return tally;
}

/// The delta method written out over single observations of numerator and denominator.
Estimate ratio_by_hand(const std::vector<double>& top, const std::vector<double>& bottom) {
  const auto n = static_cast<double>(top.size());
  double sum_top = 0.0;
  double sum_bottom = 0.0;
  for (std::size_t i = 0; i < top.size(); ++i) {
    sum_top += top[i];
    sum_bottom += bottom[i];
  }
  const double ratio = sum_top / sum_bottom;
  double squares = 0.0;
  for (std::size_t i = 0; i < top.size(); ++i) squares += std::pow(top[i] - ratio * bottom[i], 2);
  return {ratio, std::sqrt(squares / (n - 1.0) / n) / (sum_bottom / n)};
}

void check_same(const Estimate& seen, const Estimate& expected) {
  CHECK(seen.mean == Approx(expected.mean).epsilon(few_ulp));
  CHECK(seen.standard_error == Approx(expected.standard_error).epsilon(few_ulp));
}

}  // namespace

TEST_CASE("tokens per iteration and its inverse are ratios of totals with the error of independent units") {
  const Tally tally = six_iterations(Convention::bonus);
  const std::vector<double> tokens{1, 1, 2, 3, 3, 3};
  check_same(tokens_per_iteration(tally), ratio_by_hand(tokens, {1, 1, 1, 1, 1, 1}));
  check_same(memory_access_factor(tally), ratio_by_hand({1, 1, 1, 1, 1, 1}, tokens));
  CHECK(tokens_per_iteration(tally).mean == Approx(13.0 / 6.0));
}

TEST_CASE("speedup divides tokens by iterations and charged draft passes") {
  const Tally tally = six_iterations(Convention::bonus);
  check_same(speedup(tally, constant_ratio(0.25)), ratio_by_hand({1, 1, 2, 3, 3, 3}, std::vector<double>(6, 1.5)));
  check_same(speedup(tally, constant_ratio(0.0)), tokens_per_iteration(tally));

  Tally parallel_drafter = tally;  // one pass for the two drafts
  parallel_drafter.units = UnitMoments{};
  parallel_drafter.units.add({1, 1, 2, 1, 0, 1}, 2);
  parallel_drafter.units.add({2, 1, 2, 1, 1, 2});
  parallel_drafter.units.add({3, 1, 2, 1, 2, 2}, 3);
  check_same(speedup(parallel_drafter, constant_ratio(0.25)),
             ratio_by_hand({1, 1, 2, 3, 3, 3}, std::vector<double>(6, 1.25)));
  // Two passes at 0.25 and a verification of 1.5 steps, and two steps per sequence, one in plain decoding.
  check_same(speedup(tally, {.iteration = 1.5, .draft_pass = 0.25, .sequence = 2.0, .plain_sequence = 1.0}),
             ratio_by_hand({2, 2, 3, 4, 4, 4}, std::vector<double>(6, 4.0)));
  CHECK_THROWS_AS(speedup(tally, constant_ratio(-0.1)), DomainError);
  CHECK_THROWS_AS(speedup(tally, constant_ratio(std::nan(""))), DomainError);
}

TEST_CASE("operations count one verified position more with a bonus token than without") {
  // Per iteration: 2 drafts of 0.1 and 3 verified positions, or 2.
  check_same(operations_factor(six_iterations(Convention::bonus), 0.1, Convention::bonus),
             ratio_by_hand(std::vector<double>(6, 3.2), {1, 1, 2, 3, 3, 3}));
  check_same(operations_factor(six_iterations(Convention::no_bonus), 0.1, Convention::no_bonus),
             ratio_by_hand(std::vector<double>(6, 2.2), {1, 1, 2, 2, 2, 2}));
  CHECK_THROWS_AS(operations_factor(six_iterations(Convention::bonus), -1.0, Convention::bonus), DomainError);
}

TEST_CASE("each definition of acceptance has its numerator and denominator") {
  const Acceptance seen = acceptance(six_iterations(Convention::bonus));
  const std::vector<double> accepted{0, 0, 1, 2, 2, 2};
  check_same(seen.per_token, ratio_by_hand(accepted, {1, 1, 2, 2, 2, 2}));
  check_same(seen.accepted_over_drafted, ratio_by_hand(accepted, std::vector<double>(6, 2)));
  REQUIRE(seen.conditional.size() == 2);
  CHECK(seen.conditional[0].mean == Approx(4.0 / 6.0));
  CHECK(seen.conditional[1].mean == Approx(3.0 / 4.0));
  CHECK(seen.marginal[1].mean == Approx(3.0 / 6.0));
  CHECK(seen.conditional[1].standard_error == Approx(std::sqrt(0.75 * 0.25 / 4.0)));
  CHECK(seen.marginal[1].standard_error == Approx(std::sqrt(0.25 / 6.0)));
}

TEST_CASE("the variance of the tokens of an iteration comes from the histogram, not from the units") {
  Tally tally = six_iterations(Convention::bonus);
  // Sample variance of 1 1 2 3 3 3: mean 13/6, sum of squares 33.
  CHECK(tokens_variance(tally) == Approx((33.0 - 169.0 / 6.0) / 5.0).epsilon(few_ulp));
  // The same six iterations as one unit have the same variance per iteration.
  tally.units = UnitMoments{};
  tally.units.add({13, 6, 12, 12, 7, 10});
  check_conservation(tally);
  CHECK(tokens_variance(tally) == Approx((33.0 - 169.0 / 6.0) / 5.0).epsilon(few_ulp));
}

TEST_CASE("an unobserved estimate is NaN, never zero") {
  Tally tally = empty_tally(2, Convention::bonus);
  CHECK(std::isnan(tokens_per_iteration(tally).mean));
  CHECK(std::isnan(acceptance(tally).conditional[0].mean));
  CHECK(std::isnan(tokens_variance(tally)));

  tally.units.add({1, 1, 2, 2, 0, 1});
  tally.tokens_count = {1, 0, 0};
  tally.drafted_at = {1, 1};
  tally.tested_at = {1, 0};
  CHECK(tokens_per_iteration(tally).mean == 1.0);
  CHECK(std::isnan(tokens_per_iteration(tally).standard_error));
  CHECK(std::isnan(acceptance(tally).conditional[1].mean));
  CHECK(acceptance(tally).conditional[0].mean == 0.0);
  CHECK(acceptance(tally).marginal[1].mean == 0.0);
}

TEST_CASE("without drafts there is no acceptance and no cost of drafting") {
  Tally tally = empty_tally(0, Convention::bonus);
  tally.units.add({1, 1, 0, 0, 0, 0}, 5);
  tally.tokens_count = {5};
  check_conservation(tally);
  CHECK(speedup(tally, constant_ratio(0.5)).mean == 1.0);
  CHECK(operations_factor(tally, 0.5, Convention::bonus).mean == 1.0);
  CHECK(std::isnan(acceptance(tally).per_token.mean));
  CHECK(std::isnan(acceptance(tally).accepted_over_drafted.mean));
  CHECK(acceptance(tally).conditional.empty());
}

}  // namespace foredraft::sim
