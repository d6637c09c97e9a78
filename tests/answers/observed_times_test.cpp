// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "answers/runs.hpp"
#include "tests/answers/advise_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

/// One run of windows that took these times.
answers::Run run_of(const std::vector<double>& iteration_ms) {
  logs::ObservedLog log{.file = "a.log", .sha256 = "a", .contents = {}};
  for (const double ms : iteration_ms) log.contents.observations.push_back(speculative(3, 8, ms, 0.8));
  return answers::runs_of(std::vector{log}, {}).all.at(0);
}

double relative_error(const std::vector<double>& iteration_ms) {
  const Estimate time = run_of(iteration_ms).iteration_ms.value();
  return time.standard_error / time.mean;
}

}  // namespace

TEST_CASE("fewer than four windows do not tell their own scatter where it is less than that of two runs") {
  for (const std::size_t few : {1U, 2U, 3U}) {
    CHECK(relative_error(std::vector(few, 10.0)) == Approx(answers::single_run_error).epsilon(few_ulp));
  }
  CHECK(relative_error(std::vector(4, 10.0)) == 0.0);
  // 8, 10, 12: a standard deviation of 2, and sqrt(3) less of the mean.
  CHECK(relative_error({8.0, 10.0, 12.0}) == Approx(0.2 / std::sqrt(3.0)).epsilon(second_route));
}

}  // namespace foredraft::tests
