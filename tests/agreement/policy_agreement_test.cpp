// SPDX-License-Identifier: Apache-2.0
// Gamma policies and drafters: simulation against closed form, which share no formula. 200,000 iterations resolve
// tokens per iteration and draft lengths to about half a percent (five standard errors).
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/draft_length_rules.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "foredraft/predict.hpp"
#include "scenario/drafters.hpp"
#include "sim/estimates.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

constexpr sim::RunKey policy_key{.seed = 1618, .point = 3};
constexpr double cost_of_a_draft = 0.07;
constexpr double ratio_of_operations = 0.1;

tests::Simulation policy_simulation(AcceptanceProcess process, Policy policy, std::int64_t gamma, Convention convention,
                                    Path path) {
  return {.scenario = {.fidelity = ProcessFidelity{.acceptance = std::move(process), .policy = policy},
                       .gamma = gamma,
                       .convention = convention,
                       .cost = ConstantRatio{cost_of_a_draft}},
          .plan = {.iterations = 200'000, .path = path}};
}

tests::Simulation drafted_by(const Drafter& drafter, std::int64_t gamma, Convention convention) {
  tests::Simulation simulation = policy_simulation(Iid{0.9}, ConstantGamma{}, gamma, convention, Path::fast);
  simulation.scenario.drafter = drafter;
  return simulation;
}

sim::Tally run_policy(const tests::Simulation& simulation) {
  const sim::Tally tally = sim::run(*tests::simulator_of(simulation), policy_key, 1);
  sim::check_conservation(tally);
  return tally;
}

Estimate mean_gamma(const sim::Tally& tally) {
  std::array<double, sim::quantity_count> drafts{};
  std::array<double, sim::quantity_count> iterations{};
  drafts[sim::drafted] = 1.0;
  iterations[sim::Quantity::iterations] = 1.0;
  return ratio_estimate(tally.units, drafts, iterations);
}

void check_policy_estimate(const Estimate& simulated, double expected) {
  tests::check_estimate(simulated, expected, tests::second_route);
}

void check_yield(const sim::Tally& tally, const analytic::VaryingYield& expected, Convention convention,
                 Drafting drafting) {
  check_policy_estimate(sim::tokens_per_iteration(tally), expected.tokens);
  check_policy_estimate(mean_gamma(tally), expected.mean_gamma);
  check_policy_estimate(sim::speedup(tally, constant_ratio(cost_of_a_draft)),
                        analytic::speedup(expected.tokens, analytic::mean_draft_passes(expected.mean_gamma, drafting),
                                          constant_ratio(cost_of_a_draft)));
  check_policy_estimate(
      sim::operations_factor(tally, ratio_of_operations, convention),
      analytic::operations_factor(expected.tokens, expected.mean_gamma, ratio_of_operations, convention));
  if (convention == Convention::bonus) {
    check_policy_estimate(sim::acceptance(tally).accepted_over_drafted, (expected.tokens - 1.0) / expected.mean_gamma);
  }
}

std::vector<double> marginal_of(double alpha, std::int64_t gamma) {
  return analytic::marginal_from_conditional(std::vector<double>(static_cast<std::size_t>(gamma), alpha));
}

constexpr Convention both_conventions[] = {Convention::bonus, Convention::no_bonus};
constexpr Path both_paths[] = {Path::reference, Path::fast};

}  // namespace

TEST_CASE("the heuristic under i.i.d. acceptance agrees with its stationary distribution") {
  for (const double alpha : {0.0, 0.4, 0.8, 0.95, 1.0}) {
    for (const std::int64_t cap : {1, 6, 60}) {
      for (const Convention convention : both_conventions) {
        for (const Path path : both_paths) {
          INFO("alpha " << alpha << ", cap " << cap << ", " << to_string(convention));
          tests::Simulation simulation = policy_simulation(Iid{alpha}, Plus2Minus1{5}, cap, convention, path);
          if (path == Path::reference) simulation.plan.iterations = 50'000;
          const sim::Tally tally = run_policy(simulation);
          check_yield(tally, analytic::plus2_minus1(marginal_of(alpha, cap), convention), convention,
                      Drafting::autoregressive);
        }
      }
    }
  }
}

TEST_CASE("the heuristic agrees for acceptance by position and for a Beta distribution") {
  const std::vector<double> conditional{0.95, 0.9, 0.7, 0.8, 0.5, 0.9, 0.4};
  std::vector<double> mixed;
  for (std::int64_t k = 1; k <= 30; ++k) mixed.push_back(analytic::accepted_at_least({4.0, 1.5}, k));
  for (const Convention convention : both_conventions) {
    check_yield(run_policy(policy_simulation(Positional{conditional}, Plus2Minus1{5}, 7, convention, Path::fast)),
                analytic::plus2_minus1(analytic::marginal_from_conditional(conditional), convention), convention,
                Drafting::autoregressive);
    check_yield(run_policy(policy_simulation(BetaMixture{4.0, 1.5}, Plus2Minus1{5}, 30, convention, Path::fast)),
                analytic::plus2_minus1(mixed, convention), convention, Drafting::autoregressive);
  }
}

TEST_CASE("a confidence threshold agrees with its Beta tails, calibrated and biased") {
  for (const double alpha : {0.3, 0.8}) {
    for (const double threshold : {0.0, 0.6, 1.0}) {
      for (const double bias : {0.4, 1.0, 2.5}) {
        for (const Convention convention : both_conventions) {
          INFO("alpha " << alpha << ", threshold " << threshold << ", bias " << bias << ", " << to_string(convention));
          tests::Simulation simulation =
              policy_simulation(Iid{alpha}, ConfidenceThreshold{threshold, 3.0, bias}, 6, convention, Path::fast);
          simulation.plan.iterations = 6'000;
          const sim::Tally tally = run_policy(simulation);
          const analytic::ConfidentDrafter policy{alpha, 3.0, threshold, bias, 6};
          check_yield(tally, analytic::confidence_threshold(policy, convention), convention, Drafting::autoregressive);
          const std::vector<double> distribution =
              analytic::tokens_pmf(analytic::reached(policy, convention), 6, convention);
          std::vector<double> counts;
          for (const double probability : distribution) counts.push_back(probability * 6'000.0);
          const std::vector<std::int64_t> observed(tally.tokens_count.begin(), tally.tokens_count.end());
          if (distribution[1] > 0.0) CHECK(tests::chi_squared_p_value(observed, counts) > tests::level_of_one(36));
        }
      }
    }
  }
}

TEST_CASE("stopping by rejection probability, by entropy and optimal stopping agree") {
  const auto agrees = [](const Policy& policy, double alpha, Convention convention) {
    tests::Simulation simulation = policy_simulation(Iid{alpha}, policy, 6, convention, Path::fast);
    simulation.plan.iterations = 6'000;
    simulation.scenario.operations_ratio = ratio_of_operations;
    const sim::Tally tally = run_policy(simulation);
    const ClosedForm expected = predict(simulation.scenario);
    check_yield(tally, {expected.tokens_per_iteration, expected.mean_gamma}, convention, Drafting::autoregressive);
    CHECK(std::abs(sim::tokens_variance(tally) - expected.tokens_variance) <=
          tests::standard_errors * sim::tokens_variance_estimate(tally, true).standard_error);
  };
  for (const double alpha : {0.5, 0.8}) {
    for (const Convention convention : both_conventions) {
      for (const double bias : {0.4, 1.0, 2.5}) {
        for (const double threshold : {0.0, 0.5, 0.8, 1.0}) {
          INFO("alpha " << alpha << ", threshold " << threshold << ", bias " << bias << ", " << to_string(convention));
          agrees(RejectionProbability{threshold, 3.0, bias}, alpha, convention);
          agrees(EntropyThreshold{1.5 * threshold, 10, 3.0, bias}, alpha, convention);
        }
      }
      for (const double concentration : {0.1, 3.0, 20.0}) {
        INFO("alpha " << alpha << ", concentration " << concentration << ", " << to_string(convention));
        agrees(OptimalTokenStopping{concentration}, alpha, convention);
      }
    }
  }
}

TEST_CASE("no policy is faster in simulation than optimal stopping, including those that learn from a text") {
  const auto stays_below = [](const Policy& policy, double alpha, const std::optional<SequenceLength>& length) {
    tests::Simulation simulation = policy_simulation(Iid{alpha}, policy, 20, Convention::bonus, Path::fast);
    simulation.process().sequence_length = length;
    simulation.plan.iterations = 4'000;
    simulation.plan.sequences = 60;
    const Estimate speed = sim::speedup(run_policy(simulation), constant_ratio(cost_of_a_draft));
    const ClosedForm bounds = predict(simulation.scenario);
    CHECK(speed.mean <= bounds.optimal_speedup + tests::standard_errors * speed.standard_error);
    CHECK(bounds.optimal_speedup <= bounds.oracle_speedup);
  };
  const SequenceLength text{.tokens = 200.0, .geometric = false};
  for (const double alpha : {0.5, 0.8, 0.95}) {
    for (const double concentration : {0.3, 2.0, 30.0}) {
      for (const double bias : {0.5, 1.0}) {
        INFO("alpha " << alpha << ", concentration " << concentration << ", bias " << bias);
        stays_below(AdaptiveEntropy{0.4, 10, concentration, bias}, alpha, text);
        stays_below(DynamicThreshold{0.4, concentration, bias}, alpha, text);
        stays_below(RejectionProbability{0.6, concentration, bias}, alpha, text);
        stays_below(ConfidenceThreshold{0.4, concentration, bias}, alpha, std::nullopt);
        stays_below(EntropyThreshold{0.8, 10, concentration, bias}, alpha, std::nullopt);
      }
    }
  }
}

TEST_CASE("a drafter that knows alpha and stops optimally agrees with the fixed point") {
  for (const auto& [a, b] : {std::pair{4.0, 1.0}, std::pair{0.5, 0.5}}) {
    for (const Convention convention : both_conventions) {
      INFO("a " << a << ", b " << b << ", " << to_string(convention));
      tests::Simulation simulation =
          policy_simulation(BetaMixture{a, b}, OptimalStopping{}, 25, convention, Path::fast);
      simulation.plan.iterations = 30'000;
      check_yield(run_policy(simulation), analytic::optimal_stopping({a, b}, 25, cost_of_a_draft, convention),
                  convention, Drafting::autoregressive);
    }
  }
}

TEST_CASE("drafters whose drafts get worse agree, with a cost of their own") {
  const auto agrees = [](const Drafter& drafter, const std::vector<double>& conditional, Drafting drafting) {
    for (const Convention convention : both_conventions) {
      INFO(scenario::name_of(drafter) << ", " << to_string(convention));
      const sim::Tally tally = run_policy(drafted_by(drafter, 6, convention));
      const double tokens =
          analytic::tokens_per_iteration(analytic::marginal_from_conditional(conditional), 6, convention);
      check_policy_estimate(sim::tokens_per_iteration(tally), tokens);
      check_policy_estimate(sim::speedup(tally, constant_ratio(cost_of_a_draft)),
                            analytic::speedup(tokens, 6, cost_of_a_draft, drafting));
    }
  };
  for (const double decay : {0.0, 0.6, 0.95, 1.0}) {
    agrees(BlockDrafter{decay}, analytic::decaying_acceptance(0.9, decay, 6), Drafting::block);
    agrees(Heads{.decay = decay}, analytic::decaying_acceptance(0.9, decay, 6), Drafting::block);
    for (const double recovery : {0.0, 0.7, 1.0}) {
      agrees(MlpSpeculator{decay, recovery},
             analytic::decaying_acceptance(0.9, analytic::recovered_decay(decay, recovery), 6),
             Drafting::autoregressive);
    }
  }
  const std::vector<double> accuracies{0.8, 0.6, 0.5, 0.9, 0.2, 0.1};
  agrees(Heads{.accuracies = accuracies}, accuracies, Drafting::block);
}

TEST_CASE("copying the input agrees with its renewal forms for infinite and finite text, and costs nothing") {
  for (const double rate : {0.0, 0.05, 0.4, 1.0}) {
    for (const std::int64_t realign : {0, 3}) {
      for (const std::int64_t gamma : {1, 8, 200}) {
        for (const Convention convention : both_conventions) {
          INFO("rate " << rate << ", realign " << realign << ", gamma " << gamma << ", " << to_string(convention));
          tests::Simulation simulation = drafted_by(InputCopy{rate, realign}, gamma, convention);
          simulation.plan.iterations = 60'000;
          check_yield(run_policy(simulation), analytic::input_copy({rate, realign}, gamma, convention), convention,
                      Drafting::free);
          for (const bool geometric : {false, true}) {
            simulation.process().sequence_length = SequenceLength{.tokens = 40.0, .geometric = geometric};
            simulation.plan.sequences = 2'000;
            const sim::Tally texts = run_policy(simulation);
            const double calls =
                geometric ? analytic::input_copy_iterations_geometric({rate, realign}, gamma, convention, 40.0)
                          : analytic::input_copy_iterations({rate, realign}, gamma, convention, 40);
            check_policy_estimate(
                {texts.units.mean(sim::Quantity::iterations), texts.units.standard_error(sim::Quantity::iterations)},
                calls);
          }
        }
      }
    }
  }
}

TEST_CASE("policies in finite texts agree when iterations are independent") {
  tests::Simulation simulation =
      policy_simulation(Iid{0.8}, ConfidenceThreshold{0.5, 2.0, 1.0}, 6, Convention::bonus, Path::fast);
  simulation.process().sequence_length = SequenceLength{.tokens = 30.0, .geometric = false};
  simulation.plan.sequences = 3'000;
  const sim::Tally tally = run_policy(simulation);
  const std::vector<double> distribution =
      analytic::tokens_pmf(analytic::reached({0.8, 2.0, 0.5, 1.0, 6}, Convention::bonus), 6, Convention::bonus);
  check_policy_estimate(
      {tally.units.mean(sim::Quantity::iterations), tally.units.standard_error(sim::Quantity::iterations)},
      analytic::expected_iterations(distribution, 30));
}

}  // namespace foredraft
