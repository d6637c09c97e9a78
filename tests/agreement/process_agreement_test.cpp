// SPDX-License-Identifier: Apache-2.0
// The process fidelity against the closed forms: two routes that share no formula must agree within standard errors.
// 400,000 iterations resolve tokens per iteration to 0.4 % (five standard errors): an acceptance of 0.8 off by 0.2 % at
// gamma 5, and one of 0.35 off by 1 % at gamma 1.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "sim/estimates.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

using tests::check_estimate;
using tests::standard_errors;

constexpr sim::RunKey key{.seed = 4711, .point = 0};
constexpr std::uint64_t iterations = 400'000;
constexpr double c = 0.05;
constexpr double operations_ratio = 0.1;

tests::Simulation simulation_of(AcceptanceProcess process, std::int64_t gamma, Convention convention, Path path) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = std::move(process)},
                       .gamma = gamma,
                       .convention = convention},
          .plan = {.iterations = iterations, .path = path}};
}

sim::Tally simulate(const tests::Simulation& simulation) { return sim::run(*tests::simulator_of(simulation), key, 1); }

/// A proportion of `trials`, with enough expected outcomes of both kinds for a normal approximation at five standard
/// errors.
void check_proportion(const Estimate& simulated, double trials, double expected) {
  constexpr double enough = 100.0;
  const double variance = trials * expected * (1.0 - expected);
  if (variance >= enough) check_estimate({simulated.mean, std::sqrt(variance) / trials}, expected);
}

/// Everything that follows from tokens per iteration.
void check_derived(const sim::Tally& tally, double tokens, std::int64_t gamma, Convention convention,
                   Drafting drafting) {
  check_estimate(sim::tokens_per_iteration(tally), tokens);
  check_estimate(sim::speedup(tally, constant_ratio(c)), analytic::speedup(tokens, gamma, c, drafting));
  check_estimate(sim::operations_factor(tally, operations_ratio, convention),
                 analytic::operations_factor(tokens, static_cast<double>(gamma), operations_ratio, convention));
  check_estimate(sim::memory_access_factor(tally), analytic::memory_access_factor(tokens));
}

constexpr Convention conventions[] = {Convention::bonus, Convention::no_bonus};
constexpr Path paths[] = {Path::reference, Path::fast};

}  // namespace

TEST_CASE(
    "i.i.d. acceptance: mean, distribution, variance, speedup, operations and every definition of acceptance agree") {
  for (const double alpha : {0.35, 0.8, 0.97}) {
    for (const std::int64_t gamma : {1, 5, 20}) {
      for (const Convention convention : conventions) {
        for (const Path path : paths) {
          INFO("alpha " << alpha << ", gamma " << gamma << ", " << to_string(convention) << ", path "
                        << static_cast<int>(path));
          const sim::Tally tally = simulate(simulation_of(Iid{alpha}, gamma, convention, path));
          const analytic::IidIteration iteration{.alpha = alpha, .gamma = gamma, .convention = convention};
          check_derived(tally, analytic::tokens_per_iteration(iteration), gamma, convention, Drafting::autoregressive);

          // Every iteration emits one token more than it accepts, if there is a bonus token.
          const double accepted = analytic::tokens_per_iteration({alpha, gamma, Convention::bonus}) - 1.0;
          const sim::Acceptance seen = sim::acceptance(tally);
          check_estimate(seen.per_token, alpha);
          check_estimate(seen.accepted_over_drafted, accepted / static_cast<double>(gamma));
          for (std::size_t i = 0; i < static_cast<std::size_t>(gamma); ++i) {
            const double marginal = std::pow(alpha, static_cast<double>(i + 1));
            check_proportion(seen.conditional[i], static_cast<double>(tally.tested_at[i]), alpha);
            check_proportion(seen.marginal[i], static_cast<double>(tally.drafted_at[i]), marginal);
          }

          // The sample variance of n values: standard error sqrt((fourth central moment - variance^2) / n).
          const double mean = analytic::tokens_per_iteration(iteration);
          const double variance = analytic::tokens_variance(iteration);
          double fourth = 0.0;
          std::vector<double> counts;
          for (std::int64_t k = 1; k <= max_tokens(gamma, convention); ++k) {
            const double probability = analytic::tokens_probability(iteration, k);
            fourth += probability * std::pow(static_cast<double>(k) - mean, 4);
            counts.push_back(probability * static_cast<double>(iterations));
          }
          const double error = std::sqrt((fourth - variance * variance) / static_cast<double>(iterations));
          check_estimate({sim::tokens_variance(tally), error}, variance);
          if (counts.size() > 1) {
            const std::vector<std::int64_t> observed(tally.tokens_count.begin(), tally.tokens_count.end());
            CHECK(tests::chi_squared_p_value(observed, counts) > tests::level_of_one(36));
          }
        }
      }
    }
  }
}

TEST_CASE("a parallel drafter is charged once an iteration on both sides") {
  for (const Convention convention : conventions) {
    tests::Simulation simulation = simulation_of(Iid{0.8}, 6, convention, Path::reference);
    simulation.scenario.drafter = BlockDrafter{};
    const sim::Tally tally = simulate(simulation);
    const double tokens = analytic::tokens_per_iteration({.alpha = 0.8, .gamma = 6, .convention = convention});
    check_derived(tally, tokens, 6, convention, Drafting::block);
  }
}

TEST_CASE("position-dependent acceptance agrees") {
  const std::vector<double> conditional{0.9, 0.6, 0.75, 0.3, 0.85};
  const std::vector<double> marginal = analytic::marginal_from_conditional(conditional);
  for (const std::int64_t gamma : {2, 5}) {
    for (const Convention convention : conventions) {
      for (const Path path : paths) {
        const sim::Tally tally = simulate(simulation_of(Positional{conditional}, gamma, convention, path));
        check_derived(tally, analytic::tokens_per_iteration(marginal, gamma, convention), gamma, convention,
                      Drafting::autoregressive);
        const std::vector<double> distribution = analytic::tokens_pmf(marginal, gamma, convention);
        std::vector<double> counts;
        for (const double probability : distribution) counts.push_back(probability * static_cast<double>(iterations));
        const std::vector<std::int64_t> observed(tally.tokens_count.begin(), tally.tokens_count.end());
        CHECK(tests::chi_squared_p_value(observed, counts) > tests::level_of_one(8));
      }
    }
  }
}

TEST_CASE("an alpha drawn from a Beta distribution for each iteration agrees") {
  for (const auto& [a, b] : {std::pair{4.0, 1.0}, std::pair{0.5, 0.5}, std::pair{2.0, 3.0}}) {
    for (const Convention convention : conventions) {
      for (const Path path : paths) {
        INFO("a " << a << ", b " << b << ", " << to_string(convention) << ", path " << static_cast<int>(path));
        tests::Simulation simulation = simulation_of(BetaMixture{a, b}, 6, convention, path);
        if (path == Path::reference) simulation.plan.iterations = iterations / 4;
        const sim::Tally tally = simulate(simulation);
        check_derived(tally, analytic::tokens_per_iteration(BetaMixture{a, b}, 6, convention), 6, convention,
                      Drafting::autoregressive);
        const sim::Acceptance seen = sim::acceptance(tally);
        for (std::int64_t k = 1; k <= 6; ++k) {
          check_estimate(seen.marginal[static_cast<std::size_t>(k - 1)],
                         analytic::accepted_at_least(BetaMixture{a, b}, k));
        }
      }
    }
  }
}

TEST_CASE("a Markov chain over token positions agrees, and no chain exceeds the bounds of any process") {
  for (const auto& [a, b] : {std::pair{0.9, 0.4}, std::pair{0.4, 0.9}, std::pair{0.97, 0.1}}) {
    for (const std::int64_t gamma : {1, 4, 9}) {
      for (const Convention convention : conventions) {
        for (const Path path : paths) {
          INFO("a " << a << ", b " << b << ", gamma " << gamma << ", " << to_string(convention) << ", path "
                    << static_cast<int>(path));
          tests::Simulation simulation = simulation_of(Markov{a, b}, gamma, convention, path);
          simulation.plan.iterations = iterations / 4;
          const sim::Tally tally = simulate(simulation);
          const Markov chain{a, b};
          check_derived(tally, analytic::tokens_per_iteration(chain, gamma, convention), gamma, convention,
                        Drafting::autoregressive);

          const analytic::TokenBounds bounds = analytic::any_process_bounds(b / (1.0 - a + b), gamma, convention);
          const Estimate seen = sim::tokens_per_iteration(tally);
          CHECK(seen.mean >= bounds.low - standard_errors * seen.standard_error);
          CHECK(seen.mean <= bounds.high + standard_errors * seen.standard_error);
        }
      }
    }
  }
}

TEST_CASE("acceptance in runs agrees, by position and at every draft length") {
  for (const Runs& runs : {Runs{0.7, 0.5, 0.6, 1.0}, Runs{0.85, 0.3, 1.2, 1.4}, Runs{0.4, 0.6, 0.3, 3.3},
                           Runs{0.6, 0.4, 0.8, 0.5}, Runs{0.9, 0.4, 0.0, 1.0}}) {
    for (const std::int64_t gamma : {1, 3, 8}) {
      INFO("a " << runs.a << ", b " << runs.b << ", spread " << runs.spread << ", rho " << runs.rho << ", gamma "
                << gamma);
      const sim::Tally tally = simulate(simulation_of(runs, gamma, Convention::bonus, Path::fast));
      check_derived(tally, analytic::tokens_per_iteration(runs, gamma), gamma, Convention::bonus,
                    Drafting::autoregressive);
      // Iterations depend on the one before: twice the error of independent ones is a bound.
      const std::vector<double> shares = analytic::accepted_shares(runs, gamma);
      const sim::Acceptance seen = sim::acceptance(tally);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        check_estimate({seen.marginal[i].mean, 2.0 * std::sqrt(shares[i] * (1.0 - shares[i]) / iterations)}, shares[i]);
      }
    }
  }
}

TEST_CASE("iterations per sequence agree for fixed and geometric lengths") {
  const std::vector<double> marginal = analytic::marginal_from_conditional(std::vector<double>{0.8, 0.7, 0.6, 0.5});
  for (const Convention convention : conventions) {
    const std::vector<double> distribution = analytic::tokens_pmf(marginal, 4, convention);
    for (const Path path : paths) {
      for (const double length : {1.0, 9.0, 60.0}) {
        for (const bool geometric : {false, true}) {
          INFO("length " << length << ", geometric " << geometric << ", " << to_string(convention));
          tests::Simulation simulation = simulation_of(Positional{{0.8, 0.7, 0.6, 0.5}}, 4, convention, path);
          simulation.process().sequence_length = SequenceLength{.tokens = length, .geometric = geometric};
          simulation.plan.sequences = 20'000;
          const sim::Tally tally = simulate(simulation);
          const double expected = geometric
                                      ? analytic::expected_iterations_geometric(distribution, length)
                                      : analytic::expected_iterations(distribution, static_cast<std::int64_t>(length));
          check_estimate(
              {tally.units.mean(sim::Quantity::iterations), tally.units.standard_error(sim::Quantity::iterations)},
              expected);
        }
      }
    }
  }
}

}  // namespace foredraft
