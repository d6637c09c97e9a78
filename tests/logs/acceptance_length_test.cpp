// SPDX-License-Identifier: Apache-2.0
#include "logs/acceptance.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace foredraft::tests {
namespace {

logs::Observation counted(std::int64_t steps, std::int64_t accepted, std::vector<std::int64_t> accepted_at = {}) {
  logs::Observation observation;
  observation.acceptance =
      logs::AcceptanceCounts{.steps = steps, .accepted_tokens = accepted, .accepted_at = std::move(accepted_at)};
  return observation;
}

/// Sums of a few squares in double precision.
Approx close_to(double value) { return Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("with counts by position, the acceptance length has a standard error from the variance of a step") {
  // 4 steps that accept 0, 1, 2 and 2 drafts: mean 1.25, mean of squares 2.25.
  const std::vector<logs::Observation> one{counted(4, 5, {3, 2})};
  const auto length = logs::acceptance_length(one);
  REQUIRE(length);
  CHECK(length->mean == close_to(2.25));
  CHECK(length->standard_error == close_to(std::sqrt((2.25 - 1.25 * 1.25) / 4.0)));
}

TEST_CASE("ten observations are treated as clusters, because the steps of one may depend on each other") {
  std::vector<logs::Observation> requests;
  for (int i = 0; i < 10; ++i) requests.push_back(i % 2 == 0 ? counted(100, 100) : counted(100, 200));
  const auto length = logs::acceptance_length(requests);
  CHECK(length->mean == close_to(2.5));
  CHECK(length->standard_error == close_to(std::sqrt(10 * 50.0 * 50.0 * 10.0 / 9.0) / 1000.0));
}

TEST_CASE("without counts by position a few observations have a length but no error, without steps neither") {
  const std::vector<logs::Observation> few{counted(4, 5)};
  CHECK(std::isnan(logs::acceptance_length(few)->standard_error));
  CHECK(logs::acceptance_length(few)->mean == close_to(2.25));
  const std::vector<logs::Observation> none{counted(0, 0), logs::Observation{}};
  CHECK_FALSE(logs::acceptance_length(none));
  const std::vector<logs::Observation> nothing_accepted{counted(10, 0)};
  CHECK(logs::acceptance_length(nothing_accepted)->standard_error == 0.0);
}

}  // namespace foredraft::tests
