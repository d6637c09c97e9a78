// SPDX-License-Identifier: Apache-2.0
#include "sim/system/gamma_schedule.hpp"

#include <catch2/catch.hpp>

#include "core/check.hpp"

namespace foredraft::sim {

TEST_CASE("a schedule gives every batch its gamma, the ends of a range included") {
  const std::vector<GammaRange> schedule{{1, 2, 5}, {3, 3, 2}, {4, 128, 0}};
  CHECK(gamma_by_batch(schedule, 6, Convention::bonus) == std::vector<std::int64_t>{5, 5, 5, 2, 0, 0, 0});
  CHECK(gamma_by_batch(schedule, 1, Convention::bonus) == std::vector<std::int64_t>{5, 5});
}

TEST_CASE("schedules with gaps, overlaps, too short ones and gammas without meaning are refused") {
  const auto refused = [](const std::vector<GammaRange>& schedule, Convention convention) {
    CHECK_THROWS_AS(gamma_by_batch(schedule, 8, convention), DomainError);
  };
  refused({}, Convention::bonus);
  refused({{2, 8, 1}}, Convention::bonus);
  refused({{1, 3, 1}, {5, 8, 1}}, Convention::bonus);
  refused({{1, 3, 1}, {3, 8, 1}}, Convention::bonus);
  refused({{1, 0, 1}, {1, 8, 1}}, Convention::bonus);
  refused({{1, 7, 1}}, Convention::bonus);
  refused({{1, 8, -1}}, Convention::bonus);
  refused({{1, 8, 0}}, Convention::no_bonus);
}

}  // namespace foredraft::sim
