// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/few_tokens.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "latency/surfaces/step_model.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

using foredraft::tests::second_route;

/// Weights in 6000 us, 700 us per token, 800 us for a KV cache of 1000 tokens that is read 1 + `reread` (n - 1) times.
std::vector<PassTime> passes(double reread) {
  const double sharpness = attainable_of(DevicePeaks{}).sharpness.value;
  std::vector<PassTime> times;
  for (const std::int64_t context : {0, 1000, 4000}) {
    for (const std::int64_t n : {1, 2, 3, 5, 8}) {
      const auto tokens = static_cast<double>(n);
      const double products =
          std::pow(std::pow(6000.0, sharpness) + std::pow(700.0 * tokens, sharpness), 1.0 / sharpness);
      const double cache = 0.8 * static_cast<double>(context) * (1.0 + reread * (tokens - 1.0));
      times.push_back({n, context, products + cache});
    }
  }
  return times;
}

}  // namespace

TEST_CASE("the time of a token and the number of KV-cache reads are recovered from times made of them") {
  for (const double reread : {0.0, 0.3, 1.0}) {
    const std::vector<PassTime> times = passes(reread);
    const auto computing = computing_us_per_token(times);
    REQUIRE(computing);
    CHECK(computing->value == Approx(700.0).epsilon(second_route));
    CHECK(computing->range.high / computing->range.low == Approx(1.0).epsilon(second_route));
    const auto found = kv_reread(times);
    REQUIRE(found);
    CHECK(found->value == Approx(reread).margin(1e-9));
    CHECK(found->range.high - found->range.low < 1e-9);
  }
}

TEST_CASE("a range holds the results without one of the times, and too few times give none") {
  const std::vector<PassTime> noisy{{1, 0, 6000.0}, {2, 0, 6700.0}, {4, 0, 8200.0}, {8, 0, 11000.0}, {16, 0, 1.0}};
  const auto fit = computing_us_per_token(noisy);
  REQUIRE(fit);
  CHECK(fit->range.low < fit->value);
  CHECK(fit->value < fit->range.high);
  CHECK_FALSE(computing_us_per_token(std::vector<PassTime>{{1, 0, 6000.0}, {2, 0, 6700.0}, {4, 64, 8200.0}}));
  CHECK_FALSE(computing_us_per_token(std::vector<PassTime>{{1, 0, 60.0}, {2, 0, 50.0}, {4, 0, 40.0}}));
  CHECK_FALSE(kv_reread(noisy));
  // A context that adds 1 % of a decode step is too short to be resolved.
  CHECK_FALSE(kv_reread(std::vector<PassTime>{{1, 0, 100.0}, {2, 0, 120.0}, {1, 64, 101.0}, {2, 64, 122.0}}));
}

}  // namespace foredraft::latency
