// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/gamma_choice.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/check.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using Knowledge = TimeAt::Knowledge;
using tests::few_ulp;

/// Acceptance counted at gamma 1 to 5: 1.6, 1.96, 2.176, 2.3056 and 2.38336 tokens, an alpha of 0.6.
AcceptanceFit counted(double steps) {
  std::vector<AcceptanceCounts> clusters;
  for (std::int64_t gamma = 1; gamma <= 5; ++gamma) {
    AcceptanceCounts counts{.gamma = gamma, .steps = steps, .accepted_at = {}};
    double reached = steps;
    for (std::int64_t i = 0; i < gamma; ++i) counts.accepted_at.push_back(reached *= 0.6);
    clusters.push_back(counts);
  }
  return std::get<AcceptanceFit>(fit_acceptance(clusters, DrafterClass::text));
}

/// Plain decoding takes 1 everywhere, an iteration 1 + gamma * cost of its batch, each with a relative error.
ObservedTimes times_of(double cost_at_one, double cost_at_many, double error) {
  ObservedTimes times{
      .logged = {}, .plain = {{1.0, {1.0, 0.0}}, {64.0, {1.0, 0.0}}}, .drafting = Drafting::autoregressive};
  for (std::int64_t gamma = 1; gamma <= 5; ++gamma) {
    for (const double batch : {1.0, 64.0}) {
      const double time = 1.0 + static_cast<double>(gamma) * (batch == 1.0 ? cost_at_one : cost_at_many);
      times.logged.push_back({.gamma = gamma, .batch = batch, .time = {time, error * time}});
    }
  }
  return times;
}

constexpr double many_steps = 1e9;

}  // namespace

TEST_CASE("a speedup is tokens times plain time over iteration time, with the errors of both") {
  const auto speedups = speedups_at(counted(many_steps), times_of(0.1, 0.3, 0.0), 1.0, 5);
  REQUIRE(speedups.size() == 5);
  CHECK(speedups[2].value == Approx(2.176 / 1.3).epsilon(few_ulp));
  CHECK(speedups[2].knowledge == Knowledge::measured);
  CHECK(speedups[2].high == Approx(2.176 / 1.3).epsilon(1e-4));
  const auto noisy = speedups_at(counted(many_steps), times_of(0.1, 0.3, 0.01), 1.0, 5);
  CHECK(noisy[2].high == Approx(2.176 / 1.3 * 1.02).epsilon(1e-3));
}

TEST_CASE("the best gamma is the largest speedup, ties within noise go to the smaller one") {
  // Speedups at a cost of 0.1: 1.4545, 1.6333, 1.6738, 1.6469, 1.5889.
  const auto exact = best_at(speedups_at(counted(many_steps), times_of(0.1, 0.3, 0.0), 1.0, 5));
  REQUIRE(exact);
  CHECK(exact->best.gamma == 3);
  CHECK(exact->ties == std::vector<std::int64_t>{3});
  CHECK(exact->sign_certain);
  // Errors of 1.96 %: 2.4 % below the best is a tie, 5.1 % is none.
  const auto noisy = best_at(speedups_at(counted(many_steps), times_of(0.1, 0.3, 0.01), 1.0, 5));
  CHECK(noisy->best.gamma == 2);
  CHECK(noisy->ties == std::vector<std::int64_t>{2, 3, 4});
}

TEST_CASE("whether speculation pays is certain only where the interval leaves 1 out") {
  CHECK_FALSE(best_at(speedups_at(counted(many_steps), times_of(0.1, 0.58, 0.01), 64.0, 5))->sign_certain);
  const auto loses = best_at(speedups_at(counted(many_steps), times_of(0.1, 0.9, 0.01), 64.0, 5));
  CHECK(loses->sign_certain);
  CHECK(loses->best.high < 1.0);
}

TEST_CASE("no gamma is best where no time is known") {
  ObservedTimes times = times_of(0.1, 0.3, 0.0);
  CHECK_FALSE(best_at(speedups_at(counted(many_steps), times, 2.0, 5)));
  times.plain.clear();
  CHECK(speedups_at(counted(many_steps), times, 1.0, 5).empty());
  // One logged gamma: its speedup has a value, shorter drafts have a range, longer ones nothing.
  times = times_of(0.1, 0.3, 0.0);
  times.logged = {{.gamma = 3, .batch = 1.0, .time = {1.3, 0.0}}};
  const auto speedups = speedups_at(counted(many_steps), times, 1.0, 5);
  REQUIRE(speedups.size() == 3);
  CHECK(std::isnan(speedups[0].value));
  CHECK(speedups[0].low == Approx(1.6 / 1.3).epsilon(1e-3));
  CHECK(speedups[0].high == Approx(1.6).epsilon(1e-3));
  CHECK(best_at(speedups)->best.gamma == 3);
}

TEST_CASE("one gamma serves all loads, by the time of all their tokens") {
  const std::vector<Load> loads{{1.0, 3.0}, {64.0, 1.0}};
  const auto choice = choose_gamma(counted(many_steps), times_of(0.1, 0.45, 0.0), loads, 5, 0.05);
  REQUIRE(choice);
  // gamma 2 over loads: 4 / (3 * 1.2 / 1.96 + 1.9 / 1.96) = 1.4255; 1: 1.3763; 3: 1.3922.
  CHECK(choice->fixed_gamma == 2);
  CHECK(choice->fixed_speedup == Approx(4.0 * 1.96 / (3.0 * 1.2 + 1.9)).epsilon(few_ulp));
  REQUIRE(choice->by_load.size() == 2);
  CHECK(choice->by_load[0].best.gamma == 3);
  CHECK(choice->by_load[1].best.gamma == 1);
  // 3 and 1 instead of 2: time 3 * 1.3 / 2.176 + 1.45 / 1.6.
  const double by_schedule = 4.0 / (3.0 * 1.3 / 2.176 + 1.45 / 1.6);
  CHECK(choice->schedule_gain == Approx(by_schedule / choice->fixed_speedup - 1.0).epsilon(1e-9));
  CHECK_FALSE(choice->schedule_pays);
  CHECK(choose_gamma(counted(many_steps), times_of(0.1, 0.45, 0.0), loads, 5, 0.02)->schedule_pays);
}

TEST_CASE("a schedule is not given for noise") {
  const std::vector<Load> loads{{1.0, 1.0}, {64.0, 1.0}};
  const auto choice = choose_gamma(counted(many_steps), times_of(0.1, 0.2, 0.05), loads, 5, 0.0);
  // Over both loads 1.391, 1.508, 1.501, 1.441 and 1.361 within 14 %: all are ties.
  CHECK(choice->ties == std::vector<std::int64_t>{1, 2, 3, 4, 5});
  CHECK(choice->fixed_gamma == 1);
  CHECK(choice->schedule_gain == 0.0);
  CHECK_FALSE(choice->schedule_pays);
}

TEST_CASE("a schedule leaves the best draft length for all where a load does not tell it from its own") {
  // At batch 1 noise ties 2, 3 and 4; 3 is best for all. Only batch 64 changes, from 3 to 1.
  const std::vector<Load> loads{{1.0, 20.0}, {64.0, 1.0}};
  const auto choice = choose_gamma(counted(many_steps), times_of(0.1, 0.45, 0.01), loads, 5, 0.0);
  CHECK(choice->by_load[0].best.gamma == 2);
  const double fixed = 20.0 * 1.3 / 2.176 + 2.35 / 2.176;
  CHECK(choice->schedule_gain == Approx(fixed / (20.0 * 1.3 / 2.176 + 1.45 / 1.6) - 1.0).epsilon(1e-9));
}

TEST_CASE("loads without a share or without a common gamma choose nothing") {
  CHECK_FALSE(choose_gamma(counted(many_steps), times_of(0.1, 0.3, 0.0), std::vector<Load>{{1.0, 0.0}}, 5, 0.0));
  CHECK_FALSE(choose_gamma(counted(many_steps), times_of(0.1, 0.3, 0.0), std::vector<Load>{{2.0, 1.0}}, 5, 0.0));
  CHECK_THROWS_AS(choose_gamma(counted(many_steps), times_of(0.1, 0.3, 0.0), std::vector<Load>{{1.0, -1.0}}, 5, 0.0),
                  DomainError);
  CHECK_THROWS_AS(choose_gamma(counted(many_steps), times_of(0.1, 0.3, 0.0), std::vector<Load>{{1.0, 1.0}}, 0, 0.0),
                  DomainError);
}

}  // namespace foredraft::analytic
