// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/logit_ladder.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::standard_errors;

constexpr std::int64_t contexts = 200'000;

}  // namespace

// Two tokens, spread = noise: u = exp(-E) is uniform and the second token is drafted with u / (1 + u). The standard
// deviation of one context is below 0.2, so 200,000 contexts detect a probability off by 0.0022.
TEST_CASE("the acceptance of two tokens on a ladder is the integral over their gap") {
  const LadderContexts sample(contexts, 2, 1);
  const LogitLadder ladder{.spread = 1.7, .noise = 1.7, .unlike = 0.0};
  const double margin = standard_errors * 0.2 / std::sqrt(static_cast<double>(contexts));
  CHECK(sample.acceptance(ladder, {.top_beta = 1, .tolerance = 0.0}) == Approx(std::log(2.0)).margin(margin));
  CHECK(sample.acceptance(ladder, {.top_beta = 2, .tolerance = 1e9}) == Approx(1.0));
  for (const double tolerance : {0.2, 1.0, 4.0}) {
    const double u = std::exp(-tolerance / ladder.spread);
    const double second = (1.0 - u) - std::log(2.0 / (1.0 + u));
    CHECK(sample.acceptance(ladder, {.top_beta = 2, .tolerance = tolerance}) ==
          Approx(std::log(2.0) + second).margin(margin));
  }
}

// The gap from rank r to the next has mean spread / r: with very little noise a draft beyond the first is rare, with
// very much every rank is drafted equally often and the share within a tolerance is that of the gaps.
TEST_CASE("with unlimited noise the accepted share is that of the ranks within the tolerance") {
  const LadderContexts sample(contexts, 3, 2);
  const LogitLadder ladder{.spread = 2.0, .noise = 1e9, .unlike = 0.0};
  const double t = 1.0 / ladder.spread;
  // Rank 2 within 1: 1 - e^-t. Rank 3: the sum of exponentials of rates 1 and 2: (1 - e^-t)^2.
  const double wanted = (1.0 + (1.0 - std::exp(-t)) + std::pow(1.0 - std::exp(-t), 2.0)) / 3.0;
  const double margin = standard_errors * 0.3 / std::sqrt(static_cast<double>(contexts));
  CHECK(sample.acceptance(ladder, {.top_beta = 3, .tolerance = 1.0}) == Approx(wanted).margin(margin));
  CHECK(sample.acceptance({.spread = 2.0, .noise = 1e-9, .unlike = 0.25}, {.top_beta = 1, .tolerance = 0.0}) ==
        Approx(0.75));
}

TEST_CASE("acceptance on a ladder never falls as a rule is relaxed, and is reproducible for a seed") {
  const LadderContexts sample(500, 16, 3);
  const LogitLadder ladder{.spread = 3.0, .noise = 1.0, .unlike = 0.02};
  double before = 0.0;
  for (const double tolerance : {0.0, 0.5, 1.0, 3.0, 9.0}) {
    const double three = sample.acceptance(ladder, {.top_beta = 3, .tolerance = tolerance});
    CHECK(three >= before);
    CHECK(sample.acceptance(ladder, {.top_beta = 5, .tolerance = tolerance}) >= three);
    before = three;
  }
  CHECK(LadderContexts(500, 16, 3).acceptance(ladder, {.top_beta = 3, .tolerance = 1.0}) ==
        sample.acceptance(ladder, {.top_beta = 3, .tolerance = 1.0}));
  CHECK(sample.acceptance(ladder, {.top_beta = 1, .tolerance = 5.0}) ==
        sample.acceptance(ladder, {.top_beta = 7, .tolerance = 0.0}));
}

TEST_CASE("a ladder rejects ranks beyond its own and parameters out of range") {
  const LadderContexts sample(2, 4, 1);
  const LogitLadder ladder{.spread = 1.0, .noise = 1.0, .unlike = 0.0};
  CHECK_THROWS_WITH(sample.acceptance(ladder, {.top_beta = 5, .tolerance = 1.0}),
                    "invalid top_beta=5 (must lie in 1 to 4)");
  CHECK_THROWS_AS(sample.acceptance(ladder, {.top_beta = 1, .tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(sample.acceptance({.spread = 0.0, .noise = 1.0, .unlike = 0.0}, {.top_beta = 1, .tolerance = 1.0}),
                  DomainError);
  CHECK_THROWS_AS(
      sample.acceptance({.spread = 1.0, .noise = std::nan(""), .unlike = 0.0}, {.top_beta = 1, .tolerance = 1.0}),
      DomainError);
  CHECK_THROWS_AS(sample.acceptance({.spread = 1.0, .noise = 1.0, .unlike = 1.5}, {.top_beta = 1, .tolerance = 1.0}),
                  DomainError);
  CHECK_THROWS_AS(LadderContexts(0, 4, 1), DomainError);
  CHECK_THROWS_AS(LadderContexts(1, 0, 1), DomainError);
}

}  // namespace foredraft::experiments
