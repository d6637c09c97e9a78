// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/prompt_backlog.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// The truncation error of the distributions.
constexpr double cut_backlog = 1e-9;

}  // namespace

TEST_CASE("numbers of prompts have the right mean and variance") {
  const auto moments = [](const std::vector<double>& pmf) {
    double sum = 0.0;
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t n = 0; n < pmf.size(); ++n) {
      const auto number = static_cast<double>(n);
      sum += pmf[n];
      mean += number * pmf[n];
      square += number * number * pmf[n];
    }
    CHECK(sum == Approx(1.0).epsilon(cut_backlog));
    return std::pair{mean, square - mean * mean};
  };
  constexpr double cut_moments = 1e-6;
  const auto [mean, variance] = moments(binomial_pmf(40, 0.3));
  CHECK(mean == Approx(12.0).epsilon(cut_moments));
  CHECK(variance == Approx(8.4).epsilon(cut_moments));
  const auto [poisson_mean, poisson_variance] = moments(poisson_pmf(2.5));
  CHECK(poisson_mean == Approx(2.5).epsilon(cut_moments));
  CHECK(poisson_variance == Approx(2.5).epsilon(cut_moments));
  CHECK(binomial_pmf(3, 1.0) == std::vector<double>{0.0, 0.0, 0.0, 1.0});
  CHECK(binomial_pmf(0, 0.5) == std::vector<double>{1.0});
  CHECK(poisson_pmf(0.0).front() == 1.0);
}

TEST_CASE("one client's prompt takes as many passes as it fills") {
  // Four iterations after each prompt, in the mean; 2.5 passes of prompt: 3.
  const auto backlog = prompt_backlog(1000.0, 1, 10, [](std::int64_t prompts, double /*tokens*/) {
    return BacklogPass{.room = 400.0, .arrivals = prompts == 0 ? binomial_pmf(1, 0.25) : std::vector<double>{1.0}};
  });
  double reading = 0.0;
  for (const BacklogShare& state : backlog) {
    if (state.prompts == 0) continue;
    reading += state.share;
    const bool there = state.tokens == 1000.0 || state.tokens == 600.0 || state.tokens == 200.0;
    CHECK(state.share == Approx(there ? 1.0 / 7.0 : 0.0).margin(second_route));
  }
  CHECK(reading == Approx(3.0 / 7.0).epsilon(second_route));
}

TEST_CASE("the shares of a backlog stay the same from pass to pass") {
  // Iterated from an empty backlog: a second route to the long run.
  constexpr std::int64_t most = 6, parts = 3;
  constexpr auto states = static_cast<std::size_t>(most * parts + 1);
  constexpr double part = 100.0, rounded_up = 0.4;
  const auto pass = [](std::int64_t prompts, double /*tokens*/) {
    return BacklogPass{.room = (4.0 + rounded_up) * part, .arrivals = binomial_pmf(most - prompts, 0.15)};
  };
  std::vector<double> shares(states);
  shares[0] = 1.0;
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> next(states);
    for (std::size_t state = 0; state < states; ++state) {
      const auto prompts = static_cast<std::int64_t>((state + parts - 1) / parts);
      const std::vector<double> arrivals = binomial_pmf(most - prompts, 0.15);
      for (std::size_t joined = 0; joined < arrivals.size(); ++joined) {
        const double weight = shares[state] * arrivals[joined];
        next[state - std::min<std::size_t>(state, 4) + joined * parts] += weight * (1.0 - rounded_up);
        next[state - std::min<std::size_t>(state, 5) + joined * parts] += weight * rounded_up;
      }
    }
    shares = next;
  }
  const auto backlog = prompt_backlog(part * parts, most, parts, pass);
  REQUIRE(backlog.size() == states);
  for (std::size_t state = 0; state < states; ++state) {
    CHECK(backlog[state].share == Approx(shares[state]).epsilon(second_route).margin(1e-15));
  }
}

TEST_CASE("a permanent backlog has shares, and a pass without room waits until sequences end") {
  // Starting from the empty backlog, the shares exceed the range of a double.
  const auto full = prompt_backlog(1.0, 2000, 1, [](std::int64_t prompts, double /*tokens*/) {
    return BacklogPass{.room = 1.0, .arrivals = binomial_pmf(2000 - prompts, 0.5)};
  });
  double sum = 0.0;
  double prompts = 0.0;
  for (const BacklogShare& state : full) {
    sum += state.share;
    prompts += state.share * static_cast<double>(state.prompts);
  }
  CHECK(sum == Approx(1.0).epsilon(second_route));
  CHECK(2000.0 - prompts == Approx(2.0).epsilon(cut_backlog));  // one of these ends in each pass
  // Of four sequences at most two leave room.
  const auto starved = prompt_backlog(10.0, 4, 1, [](std::int64_t waiting, double /*tokens*/) {
    return BacklogPass{.room = waiting >= 2 ? 10.0 : -5.0, .arrivals = binomial_pmf(4 - waiting, 0.1)};
  });
  CHECK(starved[0].share == 0.0);
  CHECK(starved[1].share + starved[2].share + starved[3].share + starved[4].share == Approx(1.0).epsilon(second_route));
  CHECK(starved[1].share > 0.5);
}

}  // namespace foredraft::analytic
