// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/iteration_times.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/check.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using Knowledge = TimeAt::Knowledge;
using tests::few_ulp;

constexpr double z = 1.959963984540054;

/// Two loads: gamma 3 and 5 at batch 1, gamma 3 at batch 64. Plain decoding at batch 1: 10 ms.
ObservedTimes some_times() {
  return {.logged = {{.gamma = 5, .batch = 1.0, .time = {18.0, 0.2}},
                     {.gamma = 3, .batch = 1.0, .time = {14.0, 0.1}, .drafting = Estimate{3.0, 0.0}},
                     {.gamma = 3, .batch = 64.0, .time = {40.0, 0.5}}},
          .plain = {{1.0, {10.0, 0.0}}},
          .drafting = Drafting::autoregressive};
}

}  // namespace

TEST_CASE("a time is measured, interpolated, bounded or unknown, and says which") {
  const ObservedTimes times = some_times();
  CHECK(time_at(times, 3, 1.0).knowledge == Knowledge::measured);
  CHECK(time_at(times, 3, 1.0).value == 14.0);
  CHECK(time_at(times, 3, 1.0).high == Approx(14.0 + z * 0.1).epsilon(few_ulp));
  CHECK(time_at(times, 4, 1.0).knowledge == Knowledge::interpolated);
  CHECK(time_at(times, 4, 1.0).value == 16.0);
  CHECK(time_at(times, 2, 1.0).knowledge == Knowledge::bounded);
  CHECK(std::isnan(time_at(times, 2, 1.0).value));
  CHECK(time_at(times, 6, 1.0).knowledge == Knowledge::unknown);
  CHECK(std::isnan(time_at(times, 6, 1.0).high));
  CHECK(time_at(times, 4, 64.0).knowledge == Knowledge::unknown);
  CHECK(time_at(times, 3, 2.0).knowledge == Knowledge::unknown);
}

TEST_CASE("between two logged gamma a stair may be anywhere") {
  const TimeAt time = time_at(some_times(), 4, 1.0);
  CHECK(time.low == Approx(14.0 - z * 0.1).epsilon(few_ulp));
  CHECK(time.high == Approx(18.0 + z * 0.2).epsilon(few_ulp));
  // Times that fall with gamma, as steps of kernels can make them, leave the same range.
  ObservedTimes falling = some_times();
  falling.logged[0].time.mean = 13.0;
  CHECK(time_at(falling, 4, 1.0).low == Approx(13.0 - z * 0.2).epsilon(few_ulp));
  CHECK(time_at(falling, 4, 1.0).high == Approx(14.0 + z * 0.1).epsilon(few_ulp));
}

TEST_CASE("a shorter draft takes its own drafting, and no more verification") {
  // One draft takes 1 of the 3 ms: at least a plain step of 10 and 1, at most 14.2 less 2.
  const TimeAt one = time_at(some_times(), 1, 1.0);
  CHECK(one.low == Approx(11.0).epsilon(few_ulp));
  CHECK(one.high == Approx(12.0 + z * 0.1).epsilon(few_ulp));
  // All drafts in one pass: shortening saves none of it.
  for (const Drafting kind : {Drafting::block, Drafting::free}) {
    ObservedTimes parallel = some_times();
    parallel.drafting = kind;
    CHECK(time_at(parallel, 1, 1.0).low == Approx(13.0).epsilon(few_ulp));
    CHECK(time_at(parallel, 1, 1.0).high == Approx(14.0 + z * 0.1).epsilon(few_ulp));
  }
  // Without draft times and plain decoding, only the upper end is known.
  const TimeAt other = time_at(some_times(), 1, 64.0);
  CHECK(other.low == 0.0);
  CHECK(other.high == Approx(40.0 + z * 0.5).epsilon(few_ulp));
}

TEST_CASE("entries of one point are put together, and their scatter is part of the error") {
  ObservedTimes times = some_times();
  times.logged = {{.gamma = 3, .batch = 1.0, .time = {10.0, 0.1}}, {.gamma = 3, .batch = 1.0, .time = {10.2, 0.1}}};
  const TimeAt close = time_at(times, 3, 1.0);
  CHECK(close.value == Approx(10.1).epsilon(few_ulp));
  CHECK(close.high - close.value == Approx(z * 0.1).epsilon(1e-9));
  times.logged[1].time.mean = 12.0;
  CHECK(time_at(times, 3, 1.0).high - time_at(times, 3, 1.0).value == Approx(z * 1.0).epsilon(1e-9));
  times.logged[1].time = {12.0, 0.2};
  // Weights 4 to 1.
  CHECK(time_at(times, 3, 1.0).value == Approx(10.4).epsilon(few_ulp));
  times.logged[0].time.standard_error = 0.0;
  CHECK(time_at(times, 3, 1.0).value == Approx(11.0).epsilon(few_ulp));
}

TEST_CASE("break-even tokens are the iteration over the plain time, as well known as both") {
  ObservedTimes times = some_times();
  const TimeAt exact = break_even_tokens(times, 3, 1.0);
  CHECK(exact.knowledge == Knowledge::measured);
  CHECK(exact.value == 1.4);
  CHECK(exact.high == Approx(1.4 + z * 0.01).epsilon(few_ulp));
  times.plain[0].time.standard_error = 0.5;
  CHECK(break_even_tokens(times, 3, 1.0).high ==
        Approx(1.4 * std::exp(std::hypot(std::log1p(z * 0.1 / 14.0), z * 0.05))).epsilon(few_ulp));
  CHECK(break_even_tokens(times, 3, 64.0).knowledge == Knowledge::unknown);
  CHECK(break_even_tokens(times, 1, 1.0).knowledge == Knowledge::bounded);
  CHECK(break_even_tokens(times, 6, 1.0).knowledge == Knowledge::unknown);
}

TEST_CASE("logged times that nothing can take are refused") {
  const auto rejected = [](auto change) {
    ObservedTimes times = some_times();
    change(times);
    CHECK_THROWS_AS(time_at(times, 3, 1.0), DomainError);
  };
  rejected([](ObservedTimes& times) { times.logged[0].gamma = 0; });
  rejected([](ObservedTimes& times) { times.logged[0].batch = 0.0; });
  rejected([](ObservedTimes& times) { times.logged[0].time.mean = std::nan(""); });
  rejected([](ObservedTimes& times) { times.logged[0].time.standard_error = -1.0; });
  rejected([](ObservedTimes& times) { times.logged[1].drafting = Estimate{14.1, 0.0}; });
  rejected([](ObservedTimes& times) { times.plain.push_back({1.0, {10.0, 0.0}}); });
  CHECK_THROWS_AS(time_at(some_times(), 0, 1.0), DomainError);
}

}  // namespace foredraft::analytic
