// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// A replica of two requests of 10 ms each, in a window of 20 ms.
ServingTally serving_replica(std::uint64_t number, std::int64_t tokens_in_window) {
  ServingTally tally;
  tally.latency.add(10'000'000);
  tally.latency.add(10'000'000);
  Replica replica{.number = number, .values = {}};
  replica.values[measured_requests] = 2;
  replica.values[latency_ns] = 20'000'000;
  replica.values[window_ns] = 20'000'000;
  replica.values[window_tokens] = tokens_in_window;
  replica.values[good_tokens] = tokens_in_window / 2;
  replica.values[passes] = 4;
  replica.values[rows] = 6;
  replica.values[in_system_ns] = 30'000'000;
  replica.values[latency_p99_ns] = 1'000'000 * tokens_in_window;
  tally.replicas = {replica};
  return tally;
}

}  // namespace

TEST_CASE("replicas of a serving tally are sorted by their number, for any order of merging") {
  ServingTally forwards;
  ServingTally backwards;
  for (const std::uint64_t number : {0U, 1U, 2U}) forwards.merge(serving_replica(number, 100));
  for (const std::uint64_t number : {2U, 0U, 1U}) backwards.merge(serving_replica(number, 100));
  CHECK(forwards == backwards);
  CHECK(forwards.replicas.size() == 3);
  CHECK(forwards.latency.count() == 6);
}

TEST_CASE("estimates of serving are ratios of totals in seconds and milliseconds") {
  ServingTally tally = serving_replica(0, 100);
  CHECK(std::isnan(serving_estimates(tally).tokens_per_s.standard_error));
  tally.merge(serving_replica(1, 300));
  const Estimates estimates = serving_estimates(tally);
  using tests::few_ulp;
  CHECK(estimates.tokens_per_s.mean == Approx(400 / 0.040).epsilon(few_ulp));
  // Two replicas of 5,000 and 15,000 tokens per second in windows of equal length: half their difference.
  CHECK(estimates.tokens_per_s.standard_error == Approx(5000.0).epsilon(few_ulp));
  CHECK(estimates.goodput_tokens_per_s.mean == Approx(200 / 0.040).epsilon(few_ulp));
  CHECK(estimates.mean_batch.mean == 1.5);
  CHECK(estimates.mean_in_system.mean == 1.5);
  CHECK(estimates.latency_ms.mean == Approx(10.0).epsilon(few_ulp));
  CHECK(estimates.latency_p50_ms.mean == Approx(10.0).epsilon(DurationHistogram::resolution));
  CHECK(estimates.latency_p99_ms.standard_error == Approx(100.0).epsilon(few_ulp));
}

TEST_CASE("batches that differ give an error when replicas agree, and for a single replica") {
  const auto replica = [](std::uint64_t number) {
    ServingTally tally = serving_replica(number, 400);
    for (const std::int64_t emitted : {100, 300}) {
      ServingValues& batch = tally.replicas[0].batches.emplace_back();
      batch[measured_requests] = 1;
      batch[window_ns] = 10'000'000;
      batch[window_tokens] = emitted;
    }
    return tally;
  };
  ServingTally two = replica(0);
  CHECK(std::isnan(serving_estimates(two).tokens_per_s.standard_error));  // two batches are too few
  two.merge(replica(1));
  const Estimate rate = serving_estimates(two).tokens_per_s;
  CHECK(rate.mean == Approx(20'000.0).epsilon(tests::few_ulp));
  // Of 100, 300, 100 and 300 tokens in 10 ms: a deviation of 115.47, of their mean half of it.
  CHECK(rate.standard_error == Approx(100.0 * 57.735026918962575).epsilon(tests::few_ulp));
}

}  // namespace foredraft::sim
