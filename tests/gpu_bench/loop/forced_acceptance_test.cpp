// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_run.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "foredraft/errors.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Maximum error of the number of `count` points of the golden-ratio sequence below any bound: its discrepancy is below
/// 1 at the first point and grows by 0.31 per factor of e. [Niederreiter1992, Sec. 3.1]
double max_points_off(double count) { return 1.0 + 0.5 * std::log(count); }

double mean_accepted(ForcedAcceptance& acceptance, std::size_t iterations, std::size_t batch) {
  std::vector<std::int32_t> accepted(batch);
  double sum = 0.0;
  for (std::size_t i = 0; i < iterations; ++i) {
    acceptance.next(accepted);
    for (const std::int32_t count : accepted) sum += count;
  }
  return sum / static_cast<double>(iterations * batch);
}

}  // namespace

TEST_CASE("forced acceptance has the closed form's mean, far closer than random draws would") {
  for (const double alpha : {0.3, 0.5, 0.8, 0.95}) {
    for (const std::int64_t gamma : {1, 3, 7}) {
      double expected = 0.0;
      for (std::int64_t k = 1; k <= gamma; ++k) expected += std::pow(alpha, k);
      for (const std::size_t iterations : {10U, 33U, 1000U, 40'000U}) {
        for (const std::size_t batch : {1U, 3U}) {
          ForcedAcceptance acceptance(alpha, gamma);
          const auto points = static_cast<double>(iterations * batch);
          CAPTURE(alpha, gamma, iterations, batch);
          CHECK(std::abs(mean_accepted(acceptance, iterations, batch) - expected) <=
                static_cast<double>(gamma) * max_points_off(points) / points);
        }
      }
    }
  }
}

TEST_CASE("nothing is accepted at alpha 0 and everything at alpha 1") {
  ForcedAcceptance none(0.0, 4);
  ForcedAcceptance all(1.0, 4);
  CHECK(mean_accepted(none, 100, 2) == 0.0);
  CHECK(mean_accepted(all, 100, 2) == 4.0);
  CHECK_THROWS_AS(ForcedAcceptance(1.1, 4), DomainError);
  CHECK_THROWS_AS(ForcedAcceptance(0.5, 0), DomainError);
}

}  // namespace foredraft::gpu_bench
