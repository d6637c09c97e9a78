// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/iteration_cost.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

MeasuredIteration iteration_of(double plain, double drafting, double verify, double overhead = 0.0) {
  return {.plain = {plain, 0.0}, .drafting = {drafting, 0.0}, .verify = {verify, 0.0}, .overhead = overhead};
}

}  // namespace

TEST_CASE("the speedup of a measured iteration is its tokens over its time in decode steps, worked by hand") {
  // 2.23 tokens of 4.14 ms for drafting of 1.57, a pass of 4.2 and 0.23 ms of overhead: 6 ms.
  const MeasuredIteration iteration = iteration_of(4.14, 1.57, 4.2, 0.23);
  CHECK(iteration_time(iteration) == Approx(6.0).epsilon(tests::few_ulp));
  CHECK(speedup(2.23, iteration) == Approx(2.23 * 4.14 / 6.0).epsilon(tests::few_ulp));
  CHECK(verification_growth(iteration) == Approx(4.2 / 4.14).epsilon(tests::few_ulp));
  CHECK(break_even_tokens(iteration) == Approx(6.0 / 4.14).epsilon(tests::few_ulp));
}

TEST_CASE("sampling is part of an iteration and of a decode step, not of the growth of passes, worked by hand") {
  MeasuredIteration iteration = iteration_of(4.0, 1.5, 4.2, 0.2);
  iteration.plain_sampling = {0.5, 0.0};
  iteration.sampling = {1.1, 0.0};
  CHECK(plain_time(iteration) == Approx(4.5).epsilon(tests::few_ulp));
  CHECK(iteration_time(iteration) == Approx(7.0).epsilon(tests::few_ulp));
  CHECK(speedup(2.0, iteration) == Approx(9.0 / 7.0).epsilon(tests::few_ulp));
  CHECK(break_even_tokens(iteration) == Approx(7.0 / 4.5).epsilon(tests::few_ulp));
  CHECK(verification_growth(iteration) == Approx(4.2 / 4.0).epsilon(tests::few_ulp));
  // A draft pass at the break-even c gives speedup 1, sampling included.
  const double c = break_even_c(iteration, 2.5, 3).value();
  iteration.drafting.time = 3.0 * c * 4.5;
  CHECK(speedup(2.5, iteration) == Approx(1.0).epsilon(tests::second_route));
  iteration.sampling.time = -1.0;
  CHECK_THROWS_AS(iteration_time(iteration), DomainError);
}

TEST_CASE("when a verification costs one step, the measured speedup equals that of constant c") {
  for (const std::int64_t gamma : {1, 3, 8}) {
    const double c = 0.07;
    const double tokens = tokens_per_iteration(IidIteration{0.8, gamma, Convention::bonus});
    const MeasuredIteration iteration = iteration_of(5.0, 5.0 * c * static_cast<double>(gamma), 5.0);
    CHECK(speedup(tokens, iteration) ==
          Approx(speedup(tokens, gamma, c, Drafting::autoregressive)).epsilon(tests::few_ulp));
    CHECK(break_even_alpha(iteration, gamma, Convention::bonus).value() ==
          Approx(break_even_alpha(gamma, c, Convention::bonus, Drafting::autoregressive).value())
              .epsilon(tests::solved_root));
    CHECK(break_even_c(iteration, tokens, gamma).value() ==
          Approx(break_even_c(tokens, gamma, Drafting::autoregressive)).epsilon(tests::second_route));
  }
}

TEST_CASE("when passes are compute bound, the speedup is the inverse of the operations factor") {
  for (const double operations_ratio : {0.0, 0.05, 0.3}) {
    for (const std::int64_t gamma : {1, 4}) {
      const double tokens = tokens_per_iteration(IidIteration{0.7, gamma, Convention::bonus});
      const auto drafts = static_cast<double>(gamma);
      const MeasuredIteration iteration = iteration_of(2.0, 2.0 * drafts * operations_ratio, 2.0 * (drafts + 1.0));
      const double factor = operations_factor(tokens, drafts, operations_ratio, Convention::bonus);
      CHECK(speedup(tokens, iteration) * factor == Approx(1.0).epsilon(tests::few_ulp));
      CHECK(speedup(tokens, iteration) < 1.0);
    }
  }
}

TEST_CASE("at its break-even alpha and c a measured iteration has speedup 1") {
  for (const Convention convention : {Convention::bonus, Convention::no_bonus}) {
    const MeasuredIteration iteration = iteration_of(3.0, 1.0, 4.0, 0.5);
    const double alpha = break_even_alpha(iteration, 4, convention).value();
    const double tokens = tokens_per_iteration(IidIteration{alpha, 4, convention});
    CHECK(speedup(tokens, iteration) == Approx(1.0).epsilon(tests::solved_root));
    const double c = break_even_c(iteration, 2.5, 4).value();
    CHECK(speedup(2.5, iteration_of(3.0, 4.0 * 3.0 * c, 4.0, 0.5)) == Approx(1.0).epsilon(tests::second_route));
  }
  CHECK(break_even_alpha(iteration_of(3.0, 0.5, 2.0), 4, Convention::bonus) == 0.0);  // cheaper than a plain token
  CHECK_FALSE(break_even_alpha(iteration_of(3.0, 13.0, 3.0), 4, Convention::bonus));
  CHECK_FALSE(break_even_c(iteration_of(3.0, 1.0, 9.0), 2.5, 4));
}

TEST_CASE("the spread of a measured speedup combines the spreads of its times, each by its share") {
  MeasuredIteration iteration = iteration_of(4.0, 2.0, 4.0, 2.0);
  iteration.plain.spread = 0.03;
  CHECK(speedup_spread(iteration) == Approx(0.03).epsilon(tests::few_ulp));
  iteration.plain.spread = 0.0;
  iteration.verify.spread = 0.02;
  CHECK(speedup_spread(iteration) == Approx(0.01).epsilon(tests::few_ulp));  // half of the iteration's time
  iteration.plain.spread = 0.03;
  iteration.drafting.spread = 0.08;
  CHECK(speedup_spread(iteration) == Approx(std::sqrt(0.0009 + 0.0001 + 0.0004)).epsilon(tests::few_ulp));
  iteration.plain_sampling = {1.0, 0.05};
  iteration.sampling = {2.0, 0.04};
  // Against the speedup itself: times moved by a small multiple of their spreads.
  const double tokens = 2.0;
  const double step = 1e-6;
  const double at = speedup(tokens, iteration);
  const auto moved = [&](auto&& part) {
    MeasuredIteration other = iteration;
    part(other).time *= 1.0 + step * part(other).spread;
    return (speedup(tokens, other) / at - 1.0) / step;
  };
  const double sum = std::hypot(moved([](MeasuredIteration& i) -> KnownTime& { return i.plain; }),
                                moved([](MeasuredIteration& i) -> KnownTime& { return i.drafting; }),
                                moved([](MeasuredIteration& i) -> KnownTime& { return i.verify; }));
  const double of_sampling = std::hypot(moved([](MeasuredIteration& i) -> KnownTime& { return i.plain_sampling; }),
                                        moved([](MeasuredIteration& i) -> KnownTime& { return i.sampling; }));
  CHECK(speedup_spread(iteration) == Approx(std::hypot(sum, of_sampling)).epsilon(1e-5));  // first order in the step
}

TEST_CASE("impossible times and counts are rejected") {
  CHECK_THROWS_AS(speedup(2.0, iteration_of(0.0, 1.0, 1.0)), DomainError);
  CHECK_THROWS_AS(speedup(2.0, iteration_of(1.0, -1.0, 1.0)), DomainError);
  CHECK_THROWS_AS(speedup(2.0, iteration_of(1.0, 1.0, std::nan(""))), DomainError);
  CHECK_THROWS_AS(speedup(0.0, iteration_of(1.0, 1.0, 1.0)), DomainError);
  CHECK_THROWS_AS(break_even_alpha(iteration_of(1.0, 1.0, 1.0), 0, Convention::bonus), DomainError);
  CHECK_THROWS_AS(break_even_c(iteration_of(1.0, 1.0, 1.0), 2.0, 0), DomainError);
}

TEST_CASE("the first draft length near the best is found among all, for any shape of the curve") {
  CHECK(first_near_best(std::array{1.0, 1.4, 1.3, 1.5, 1.2}, 0.0) == 3);
  CHECK(first_near_best(std::array{1.0, 1.4, 1.3, 1.41, 1.2}, 0.01) == 1);
  CHECK(first_near_best(std::array{1.0, 1.005}, 0.01) == 0);
  CHECK(first_near_best(std::array{1.0, 1.02}, 0.01) == 1);
  CHECK(first_near_best(std::array{0.9}, 0.01) == 0);
  CHECK_THROWS_AS(first_near_best(std::array<double, 0>{}, 0.01), DomainError);
  CHECK_THROWS_AS(first_near_best(std::array{1.0, std::nan("")}, 0.01), DomainError);
}

}  // namespace foredraft::analytic
