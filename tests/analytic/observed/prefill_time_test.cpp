// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/iteration_times.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;

/// A window at `rate` prompt tokens per second, of iterations of 12 ms and 0.04 ms a prompt token, `factor` times as
/// long.
MixedWindow window_at(double rate, double factor = 1.0) {
  constexpr double decode_ms = 12.0;
  constexpr double token_ms = 0.04;
  return {.iteration_ms = factor * decode_ms / (1.0 - token_ms * rate / 1000.0), .prompt_tokens_per_s = rate};
}

}  // namespace

TEST_CASE("windows without noise give the time of decoding and of a prompt token") {
  std::vector<MixedWindow> windows;
  for (int i = 0; i < 8; ++i) windows.push_back(window_at(1500.0 * i));
  const auto time = prefill_time(windows);
  REQUIRE(time);
  CHECK(time->decode_ms.mean == Approx(12.0).epsilon(few_ulp));
  CHECK(time->per_prompt_token_ms.mean == Approx(0.04).epsilon(few_ulp));
  windows.pop_back();
  CHECK_FALSE(prefill_time(windows));
}

TEST_CASE("noise of the iteration time at a steady rate of prompts is not a cost of prompts") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(1.0, 0.1);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<MixedWindow> windows;
    for (int i = 0; i < 40; ++i) windows.push_back({12.0 * noise(random), 3000.0 * noise(random)});
    if (prefill_time(windows)) ++found;
  }
  CHECK(found <= 12);  // 2.5 % of 200 are 5 +- 2.2
}

TEST_CASE("the intervals of decoding and of prompt tokens hold their level") {
  std::mt19937_64 random(6);
  std::normal_distribution<double> noise(1.0, 0.03);
  std::uniform_real_distribution<double> rates(0.0, 9000.0);
  int decode = 0;
  int prompt = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<MixedWindow> windows;
    for (int i = 0; i < 60; ++i) windows.push_back(window_at(rates(random), noise(random)));
    const auto time = prefill_time(windows);
    REQUIRE(time);
    const auto holds = [](const Estimate& estimate, double truth) {
      const Interval interval = normal_interval(estimate);
      return interval.low <= truth && truth <= interval.high;
    };
    decode += holds(time->decode_ms, 12.0) ? 1 : 0;
    prompt += holds(time->per_prompt_token_ms, 0.04) ? 1 : 0;
  }
  // 95 % of 400 are 380 +- 4.4; three of these, and a half for the normal quantile at 58 degrees of freedom.
  CHECK(decode >= 365);
  CHECK(prompt >= 365);
}

TEST_CASE("a prefill time needs windows with more and with fewer prompts, and positive times") {
  CHECK_FALSE(prefill_time({}));
  CHECK_FALSE(prefill_time(std::vector<MixedWindow>(20, window_at(2000.0))));
  CHECK_THROWS_AS(prefill_time(std::vector<MixedWindow>{{0.0, 1.0}}), DomainError);
  CHECK_THROWS_AS(prefill_time(std::vector<MixedWindow>{{1.0, -1.0}}), DomainError);
  CHECK_THROWS_AS(prefill_time(std::vector<MixedWindow>{{1.0, std::nan("")}}), DomainError);
}

}  // namespace foredraft::analytic
