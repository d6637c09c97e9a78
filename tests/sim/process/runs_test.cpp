// SPDX-License-Identifier: Apache-2.0
// Acceptance in runs: the simulation against the long run of its definition, by power iteration over the start states
// of iterations.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/estimates.hpp"
#include "tests/sim/process/process_testing.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using namespace tests;
using foredraft::tests::standard_errors;

double going_on(const Runs& runs, double shift, double odds_ratio) {
  const double odds = runs.a / (1.0 - runs.a) * std::exp(shift) * odds_ratio;
  return odds / (1.0 + odds);
}

/// Long-run mean tokens of an iteration, weighted over the state before it: a rejection, an easy or a hard run.
double long_run_tokens(const Runs& runs, std::int64_t gamma) {
  const std::array shifts{runs.spread, -runs.spread};
  std::array<double, 3> before{1.0, 0.0, 0.0};
  double tokens = 0.0;
  for (int i = 0; i < 20'000; ++i) {
    std::array<double, 3> after{};
    tokens = 1.0;
    for (const std::size_t kind : {0U, 1U}) {
      const double across = going_on(runs, shifts.at(kind), runs.rho);
      double alive = before[0] * 0.5 * runs.b + before.at(kind + 1) * across;
      for (std::int64_t draft = 1; draft <= gamma; ++draft) {
        tokens += alive;
        alive *= draft < gamma ? going_on(runs, shifts.at(kind), 1.0) : across;
      }
      after.at(kind + 1) = alive;
    }
    after[0] = 1.0 - after[1] - after[2];
    before = after;
  }
  return tokens;
}

const std::vector<Runs> examples{
    {0.7, 0.5, 0.6, 1.0}, {0.9, 0.3, 1.5, 1.4}, {0.4, 0.6, 0.3, 3.3}, {0.6, 0.8, 1.0, 0.3}};

}  // namespace

// 400,001 iterations detect a missing kind of run, a bonus token without its odds, and odds applied once instead of
// twice.
TEST_CASE("tokens per iteration in runs agree with the long-run value of their definition") {
  for (const Runs& runs : examples) {
    for (const std::int64_t gamma : {1, 2, 5}) {
      const Tally tally = run_once(iterations_of(runs, gamma, 400'001, Path::fast));
      const Estimate seen = tokens_per_iteration(tally);
      CAPTURE(runs.a, runs.b, runs.spread, runs.rho, gamma, seen.mean, seen.standard_error);
      tests::check_estimate(seen, long_run_tokens(runs, gamma));
      CHECK(seen.standard_error < 0.02);
    }
  }
}

// 100,000 runs of one iteration each detect an error of 0.02 in the probability of a start after an accepted token.
TEST_CASE("the first iteration of a run under acceptance in runs already has the long-run mean") {
  for (const Runs& runs : {Runs{0.9, 0.3, 1.5, 1.4}, Runs{0.5, 0.9, 1.0, 3.3}}) {
    IntegerMoments<1> first;
    const auto simulator = simulator_of(iterations_of(runs, 1, 1, Path::fast));
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
      first.add({static_cast<std::int64_t>(run(*simulator, {.seed = seed, .point = 0}, 1).units.sum(tokens))});
    }
    CAPTURE(runs.a, runs.rho, first.mean(0));
    CHECK(std::abs(first.mean(0) - long_run_tokens(runs, 1)) < standard_errors * first.standard_error(0));
  }
}

TEST_CASE("runs that never end, never begin or have no drafts are counted") {
  const Tally endless = run_once(iterations_of(Runs{1.0, 0.5, 0.6, 1.4}, 3, 100, Path::fast));
  CHECK(endless.units.sum(tokens) == 400);
  CHECK(run_once(iterations_of(Runs{0.5, 0.0, 0.6, 1.4}, 3, 100, Path::fast)).units.sum(tokens) == 100);
  CHECK(run_once(iterations_of(Runs{0.0, 1.0, 0.0, 1.0}, 4096, 100, Path::fast)).units.sum(tokens) == 200);
  CHECK(run_once(iterations_of(Runs{0.7, 0.5, 0.6, 1.4}, 0, 100, Path::fast)).units.sum(tokens) == 100);
}

TEST_CASE("both paths and every number of threads give the same runs") {
  const auto simulation = iterations_of(examples[1], 5, 200'000, Path::fast);
  const Tally tally = run_once(simulation);
  CHECK(run_once(iterations_of(examples[1], 5, 200'000, Path::reference)) == tally);
  CHECK(run_once(simulation, test_key, 3) == tally);
}

}  // namespace foredraft::sim
