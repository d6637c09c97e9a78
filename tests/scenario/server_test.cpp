// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"

namespace foredraft::scenario {

TEST_CASE("a schedule gives every batch its gamma, the ends of a range included") {
  const std::vector<GammaRange> schedule{{1, 2, 5}, {3, 3, 2}, {4, 128, 0}};
  CHECK(gamma_by_batch(schedule, 6, Convention::bonus) == std::vector<std::int64_t>{5, 5, 5, 2, 0, 0, 0});
  CHECK(gamma_by_batch(schedule, 1, Convention::bonus) == std::vector<std::int64_t>{5, 5});
}

TEST_CASE("schedules with gaps, overlaps, too short ones and gammas without meaning are refused") {
  const auto rejected = [](const std::vector<GammaRange>& schedule, Convention convention) {
    CHECK_THROWS_AS(gamma_by_batch(schedule, 8, convention), DomainError);
  };
  rejected({}, Convention::bonus);
  rejected({{2, 8, 1}}, Convention::bonus);
  rejected({{1, 3, 1}, {5, 8, 1}}, Convention::bonus);
  rejected({{1, 3, 1}, {3, 8, 1}}, Convention::bonus);
  rejected({{1, 0, 1}, {1, 8, 1}}, Convention::bonus);
  rejected({{1, 7, 1}}, Convention::bonus);
  rejected({{1, 8, -1}}, Convention::bonus);
  rejected({{1, 8, 0}}, Convention::no_bonus);
}

TEST_CASE("lengths below the shortest, broken ones and spreads that go below it are refused") {
  CHECK_NOTHROW(check_token_count("output", {.tokens = 1}, 1));
  CHECK_NOTHROW(check_token_count("prompt", {.tokens = 5, .spread = 5}, 0));
  CHECK_THROWS_WITH(check_token_count("output", {.tokens = 0}, 1), "invalid output=0 (must lie in 1 to 1000000000)");
  CHECK_THROWS_AS(check_token_count("output", {.tokens = std::nan("")}, 1), DomainError);
  CHECK_THROWS_AS(check_token_count("output", {.tokens = 2.5}, 1), DomainError);
  CHECK_THROWS_AS(check_token_count("output", {.tokens = 5, .spread = 5}, 1), DomainError);
  CHECK_THROWS_AS(check_token_count("prompt", {.tokens = 5, .spread = -1}, 0), DomainError);
  CHECK_THROWS_AS(check_token_count("prompt", {.tokens = 0.5, .geometric = true}, 0), DomainError);
  CHECK_THROWS_AS(check_token_count("prompt", {.tokens = 5, .spread = 1, .geometric = true}, 0), DomainError);
}

}  // namespace foredraft::scenario
