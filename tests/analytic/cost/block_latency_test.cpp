// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/published_costs.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

constexpr BlockLatency worked{.target_encoder_ms = 5.0,
                              .drafter_encoder_ms = 7.0,
                              .draft_ms = 10.0,
                              .verify_ms = 8.0,
                              .overhead_ms = 2.0,
                              .fixed_ms = 3.0};

/// A sentence as a list of events, one after the other.
double by_events(const BlockLatency& latency, int iterations) {
  double clock = latency.target_encoder_ms;
  clock += latency.drafter_encoder_ms;
  for (int i = 0; i < iterations; ++i) {
    clock += latency.draft_ms;
    clock += latency.verify_ms;
    clock += latency.overhead_ms;
  }
  return clock + latency.fixed_ms;
}

}  // namespace

TEST_CASE("a sentence takes both encoders, the fixed cost and its iterations") {
  CHECK(iteration_ms(worked) == 20.0);
  CHECK(setup_ms(worked) == 15.0);
  for (const int iterations : {0, 1, 4, 100}) {
    CHECK(sentence_ms(worked, iterations) == Approx(by_events(worked, iterations)).epsilon(few_ulp));
  }
  CHECK(sentence_ms(worked, 2.5) == 65.0);
  CHECK(drafter_alone_ms(worked, 3.0) == 37.0);
}

TEST_CASE("speedup is plain time over the sentence's and stays below its limit") {
  CHECK(speedup(worked, 3.0, 300.0) == 4.0);
  CHECK(speedup_limit(worked, 300.0) == 20.0);
  double before = speedup_limit(worked, 300.0);
  for (const double iterations : {0.5, 1.0, 2.0, 50.0}) {
    const double now = speedup(worked, iterations, 300.0);
    CHECK(now < before);
    before = now;
  }
  BlockLatency without_setup = worked;
  without_setup.target_encoder_ms = without_setup.drafter_encoder_ms = without_setup.fixed_ms = 0.0;
  CHECK(std::isinf(speedup_limit(without_setup, 300.0)));
  CHECK(std::isinf(speedup(without_setup, 0.0, 300.0)));
}

TEST_CASE("without setup the sentence model is Eq. 4") {
  BlockLatency latency = worked;
  latency.target_encoder_ms = latency.drafter_encoder_ms = latency.fixed_ms = latency.overhead_ms = 0.0;
  constexpr double length = 30.0;
  constexpr double tokens = 7.5;
  constexpr double step_ms = 12.0;
  CHECK(speedup(latency, length / tokens, length * step_ms) ==
        Approx(speedup_without_setup(tokens, latency.draft_ms, latency.verify_ms, step_ms)).epsilon(few_ulp));
  CHECK(speedup_without_setup(1.0, 2.0, 10.0, 10.0) < 1.0);
  CHECK(speedup_without_setup(5.0, 0.0, 10.0, 10.0) == 5.0);
}

TEST_CASE("the shares of the modules add up and follow their times") {
  const ModuleShares shares = module_shares(worked, 4.0);
  CHECK(shares.target_encoder + shares.drafter_encoder + shares.draft + shares.verify + shares.other ==
        Approx(1.0).epsilon(few_ulp));
  CHECK(shares.draft == Approx(40.0 / 95.0).epsilon(few_ulp));
  CHECK(shares.other == Approx(11.0 / 95.0).epsilon(few_ulp));
  CHECK(shares.drafter_encoder == Approx(7.0 / 95.0).epsilon(few_ulp));
  CHECK(parallel_encoders_gain_ms(worked) == 5.0);
}

TEST_CASE("block latencies refuse negative, infinite and missing times, and shares of no time") {
  BlockLatency bad = worked;
  bad.verify_ms = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(sentence_ms(bad, 1.0), "invalid verify_ms=nan (must be finite and not negative)");
  bad = worked;
  bad.fixed_ms = -1.0;
  CHECK_THROWS_WITH(speedup_limit(bad, 1.0), "invalid fixed_ms=-1 (must be finite and not negative)");
  CHECK_THROWS_WITH(sentence_ms(worked, -0.5), "invalid iterations=-0.5 (must be finite and not negative)");
  CHECK_THROWS_AS(speedup(worked, 1.0, 0.0), DomainError);
  CHECK_THROWS_AS(speedup_without_setup(2.0, 0.0, 0.0, 1.0), DomainError);
  const BlockLatency nothing{};
  CHECK_THROWS_WITH(module_shares(nothing, 3.0), "invalid sentence_ms=0 (must be finite and above 0)");
}

}  // namespace foredraft::analytic
