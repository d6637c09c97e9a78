// SPDX-License-Identifier: Apache-2.0
// The system fidelity against closed forms. 32 replicas of some hundred requests resolve throughput to about 1 % (five
// standard errors) and mean waits to about 5 %.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "analytic/cost/load_equilibrium.hpp"
#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "sim/estimates.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

constexpr sim::RunKey serving_key{.seed = 4711, .point = 3};
constexpr std::uint64_t replicas = 32;
constexpr double alpha = 0.7;
constexpr std::int64_t gamma = 4;
constexpr double target_us = 1000.0;
constexpr double drafter_us = 100.0;
constexpr double iteration_s = (target_us + gamma * drafter_us) * 1e-6;

/// As many clients as places in the batch: the server is always full. Constant step times.
tests::Simulation saturated(Batching batching, std::int64_t batch, const TokenCount& output) {
  return {.scenario = {.fidelity = Server{.acceptance = Iid{alpha},
                                          .batching = batching,
                                          .max_batch = batch,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = batch},
                                          .output = output,
                                          .target_step = {.weights_us = target_us},
                                          .drafter_step = {.weights_us = drafter_us}},
                       .gamma = gamma},
          .plan = {.requests = replicas * static_cast<std::uint64_t>(32 * batch), .replicas = replicas}};
}

sim::Tally serve(const tests::Simulation& simulation) {
  return sim::run(*tests::simulator_of(simulation), serving_key, 1);
}

std::vector<double> distribution_of_tokens(double acceptance) {
  const std::vector<double> conditional(static_cast<std::size_t>(gamma), acceptance);
  return analytic::tokens_pmf(analytic::marginal_from_conditional(conditional), gamma, Convention::bonus);
}

}  // namespace

TEST_CASE("sequences in lockstep advance like one sequence with the minimum of their accepted drafts") {
  constexpr std::int64_t length = 64;
  for (const std::int64_t batch : {1, 2, 8}) {
    const sim::Tally tally = serve(saturated(Batching::lockstep, batch, {.tokens = length}));
    const double of_all = std::pow(alpha, static_cast<double>(batch));
    const double iterations = analytic::expected_iterations(distribution_of_tokens(of_all), length);
    CAPTURE(batch);
    tests::check_estimate(sim::tokens_per_iteration(tally), length / iterations);
    tests::check_estimate(sim::serving_estimates(tally.serving).tokens_per_s,
                          static_cast<double>(batch) * length / (iterations * iteration_s));
  }
  // E[min X] = tau(alpha^B, gamma): the limit for long answers.
  auto simulation = saturated(Batching::lockstep, 2, {.tokens = 10'000});
  simulation.plan.requests = replicas * 8;
  constexpr double end_effect = 2e-4;  // of one iteration cut short in 5,000
  const double tau = analytic::tokens_per_iteration({alpha * alpha, gamma, Convention::bonus});
  const Estimate simulated = sim::tokens_per_iteration(serve(simulation));
  CHECK(std::abs(simulated.mean - tau) <= tests::standard_errors * simulated.standard_error + end_effect * tau);
}

TEST_CASE("answers in runs have the tokens per iteration of infinite text at every batch size") {
  constexpr double long_answer = 4000.0;
  constexpr double end_effect = 5e-4;  // of one iteration cut short in more than 1,000
  for (const Runs& runs : {Runs{0.7, 0.5, 0.6, 1.0}, Runs{0.85, 0.3, 1.2, 1.4}}) {
    const double tau = analytic::tokens_per_iteration(runs, gamma);
    for (const std::int64_t batch : {1, 7}) {
      auto simulation = saturated(Batching::continuous, batch, {.tokens = long_answer});
      simulation.server().acceptance = runs;
      simulation.plan.requests = replicas * static_cast<std::uint64_t>(4 * batch);
      const Estimate simulated = sim::tokens_per_iteration(serve(simulation));
      CAPTURE(runs.a, runs.spread, batch, simulated.mean, simulated.standard_error, tau);
      CHECK(std::abs(simulated.mean - tau) <= tests::standard_errors * simulated.standard_error + end_effect * tau);
    }
  }
}

TEST_CASE("a ragged static batch takes the iterations of its slowest sequence") {
  constexpr std::int64_t length = 48;
  const std::vector<double> survival = analytic::iterations_survival(distribution_of_tokens(alpha), length);
  for (const std::int64_t batch : {1, 4, 32}) {
    const sim::Tally tally = serve(saturated(Batching::ragged, batch, {.tokens = length}));
    const double batch_s = analytic::slowest_iterations(survival, batch) * iteration_s;
    CAPTURE(batch);
    tests::check_estimate(sim::serving_estimates(tally.serving).tokens_per_s,
                          static_cast<double>(batch) * length / batch_s);
    tests::check_estimate(sim::tokens_per_iteration(tally), length / analytic::slowest_iterations(survival, 1));
  }
}

TEST_CASE("a continuous batch that is always full emits the tokens of its sequences in every iteration") {
  constexpr double mean_length = 40.0;
  const double iterations = analytic::expected_iterations_geometric(distribution_of_tokens(alpha), mean_length);
  for (const std::int64_t batch : {1, 16}) {
    const auto simulation = saturated(Batching::continuous, batch, {.tokens = mean_length, .geometric = true});
    const Estimates estimates = sim::serving_estimates(serve(simulation).serving);
    CAPTURE(batch);
    tests::check_estimate(estimates.tokens_per_s,
                          static_cast<double>(batch) * mean_length / (iterations * iteration_s));
    CHECK(estimates.mean_batch.mean == static_cast<double>(batch));
    // No request waits: its latency is its own iterations.
    tests::check_estimate(estimates.latency_ms, 1e3 * iterations * iteration_s);
  }
  // B tau / T(B, gamma): the limit for long answers.
  auto simulation = saturated(Batching::continuous, 8, {.tokens = 1e4, .geometric = true});
  simulation.plan.requests = replicas * 16;
  const Estimate simulated = sim::serving_estimates(serve(simulation).serving).tokens_per_s;
  const double limit = 8 * analytic::tokens_per_iteration({alpha, gamma, Convention::bonus}) / iteration_s;
  constexpr double end_effect = 3e-4;  // of one iteration cut short in 3,600
  CHECK(std::abs(simulated.mean - limit) <= tests::standard_errors * simulated.standard_error + end_effect * limit);
}

TEST_CASE("one request at a time under Poisson arrivals waits as long as queueing theory says") {
  for (const double load : {0.3, 0.8}) {
    // Plain decoding of one token: service of constant length.
    auto simulation = saturated(Batching::continuous, 1, {.tokens = 1});
    simulation.scenario.gamma = 0;
    simulation.server().arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = load / (target_us * 1e-6)};
    simulation.plan.warmup_requests = 300;
    simulation.plan.requests = replicas * 3000;
    const Estimates constant = sim::serving_estimates(serve(simulation).serving);
    const double target_ms = target_us * 1e-3;
    CAPTURE(load);
    tests::check_estimate(constant.wait_ms, load * target_ms / (2.0 * (1.0 - load)));
    tests::check_estimate(constant.mean_in_system, load + load * load / (2.0 * (1.0 - load)));
    // Speculation: a random number of iterations.
    constexpr std::int64_t length = 10;
    const std::vector<double> survival = analytic::iterations_survival(distribution_of_tokens(alpha), length);
    const double mean_s = analytic::slowest_iterations(survival, 1) * iteration_s;
    const double rate_per_s = load / mean_s;
    simulation.scenario.gamma = gamma;
    simulation.server().output.tokens = length;
    simulation.server().arrivals.rate_per_s = rate_per_s;
    const double second = analytic::iterations_second_moment(survival) * iteration_s * iteration_s;
    const double wait_s = analytic::poisson_queue_wait(rate_per_s, {.mean = mean_s, .second_moment = second});
    const Estimates speculative = sim::serving_estimates(serve(simulation).serving);
    tests::check_estimate(speculative.wait_ms, 1e3 * wait_s);
    tests::check_estimate(speculative.latency_ms, 1e3 * (wait_s + mean_s));
  }
}

}  // namespace foredraft
