// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/expected_loss.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

CandidateLoss with_loss(std::int64_t gamma, double loss) {
  return {.gamma = gamma, .median = 1.0, .ci95 = {1.0, 1.0}, .p_best = 0.0, .expected_loss = loss};
}

}  // namespace

TEST_CASE("the loss of two candidates is worked by hand, draw by draw") {
  const std::vector<Candidate> candidates{{0, {1.0, 1.0, 1.0, 1.0}}, {3, {0.8, 1.25, 1.0, 2.0}}};
  const auto losses = expected_losses(candidates);
  // K = 0 loses 0, 0.2, 0 and 0.5; K = 3 loses 0.2 in the first; both are best in the third.
  CHECK(losses[0].expected_loss == Approx(0.7 / 4.0).epsilon(few_ulp));
  CHECK(losses[1].expected_loss == Approx(0.2 / 4.0).epsilon(few_ulp));
  CHECK(losses[0].p_best == Approx(1.5 / 4.0).epsilon(few_ulp));
  CHECK(losses[1].p_best == Approx(2.5 / 4.0).epsilon(few_ulp));
  CHECK(losses[0].gamma == 0);
  CHECK(losses[0].median == 1.0);
  CHECK(losses[1].median == Approx(1.125).epsilon(few_ulp));
  // Quantiles between the sorted draws 0.8, 1, 1.25, 2, at places 0.075 and 2.925 from 0.
  CHECK(losses[1].ci95.low == Approx(0.8 + 0.075 * 0.2).epsilon(few_ulp));
  CHECK(losses[1].ci95.high == Approx(1.25 + 0.925 * 0.75).epsilon(few_ulp));
  const LeastLoss choice = least_loss(losses);
  CHECK(choice.chosen == 1);
  CHECK(choice.ties == std::vector<std::size_t>{1});
}

TEST_CASE("a candidate that is never the best is not chosen, however certain it is") {
  const std::vector<Candidate> candidates{{5, {1.5, 1.1}}, {1, {1.4, 1.0}}, {0, {1.0, 1.0}}};
  const auto losses = expected_losses(candidates);
  CHECK(losses[0].expected_loss == 0.0);
  CHECK(losses[0].p_best == 1.0);
  CHECK(losses[1].p_best == 0.0);
  CHECK(losses[1].expected_loss == Approx((0.1 / 1.5 + 0.1 / 1.1) / 2.0).epsilon(few_ulp));
  CHECK(least_loss(losses).chosen == 0);
}

TEST_CASE("among losses within half a percent of the smallest the smallest gamma is chosen, 0 first") {
  const std::vector<CandidateLoss> losses{with_loss(7, 0.01), with_loss(3, 0.0149), with_loss(2, 0.0151)};
  CHECK(least_loss(losses).chosen == 1);
  CHECK(least_loss(losses).ties == std::vector<std::size_t>{0, 1});
  const std::vector<CandidateLoss> off{with_loss(1, 0.0), with_loss(0, 0.004)};
  CHECK(least_loss(off).chosen == 1);
  // Two drafters of one gamma: the better one.
  CHECK(least_loss(std::vector{with_loss(3, 0.004), with_loss(3, 0.002), with_loss(5, 0.0)}).chosen == 1);
}

TEST_CASE("a single candidate is best without loss") {
  const auto losses = expected_losses(std::vector<Candidate>{{2, {1.2}}});
  CHECK(losses.front().p_best == 1.0);
  CHECK(losses.front().expected_loss == 0.0);
  CHECK(losses.front().ci95.low == 1.2);
  CHECK(losses.front().ci95.high == 1.2);
  CHECK(least_loss(losses).chosen == 0);
}

TEST_CASE("equal candidates share the probability of being best") {
  const auto losses = expected_losses(std::vector<Candidate>{{4, {1.2, 1.1}}, {2, {1.2, 1.1}}, {3, {1.2, 1.1}}});
  for (const CandidateLoss& one : losses) CHECK(one.p_best == Approx(1.0 / 3.0).epsilon(few_ulp));
  CHECK(losses[least_loss(losses).chosen].gamma == 2);
}

TEST_CASE("candidates without draws, with different numbers of draws or without a speedup are an error") {
  using Candidates = std::vector<Candidate>;
  CHECK_THROWS_AS(expected_losses(Candidates{}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{1, {}}}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{1, {1.0}}, {2, {1.0, 1.0}}}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{1, {0.0}}}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{1, {std::numeric_limits<double>::quiet_NaN()}}}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{1, {std::numeric_limits<double>::infinity()}}}), DomainError);
  CHECK_THROWS_AS(expected_losses(Candidates{{-1, {1.0}}}), DomainError);
  CHECK_THROWS_AS(least_loss({}), DomainError);
}

}  // namespace foredraft::analytic
