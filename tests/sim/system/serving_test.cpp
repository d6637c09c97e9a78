// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/tolerances.hpp"

// Runs simple enough to list every event: constant lengths, acceptance 0 or 1, whole microseconds.
namespace foredraft::sim {
namespace {

using tests::few_ulp;
using tests::Simulation;
using tests::simulator_of;

constexpr RunKey serving_key{.seed = 21, .point = 0};

/// One client, plain decoding of 5 tokens at 100 us per step, without prompt.
Simulation one_client() {
  return {.scenario = {.fidelity = Server{.acceptance = Iid{1.0},
                                          .max_batch = 1,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = 1},
                                          .output = {.tokens = 5},
                                          .target_step = {.weights_us = 100.0},
                                          .drafter_step = {.weights_us = 7.0}},
                       .gamma = 0},
          .plan = {.requests = 10, .replicas = 1}};
}

Tally serve(const Simulation& simulation, unsigned threads = 1) {
  return run(*simulator_of(simulation), serving_key, threads);
}

const ServingValues& values_of(const Tally& tally) { return tally.serving.replicas.at(0).values; }

using ForwardPass = std::tuple<std::int64_t, std::int64_t, double>;

/// A model of constant step time that records its passes.
tests::StepTime recording(std::vector<ForwardPass>& passes_seen, double us) {
  return [&passes_seen, us](const StepShape& shape) {
    passes_seen.emplace_back(shape.batch, shape.tokens, shape.context);
    return us;
  };
}

}  // namespace

TEST_CASE("autoregressive decoding takes one step per token, and nothing else takes time") {
  const Tally tally = serve(one_client());
  const ServingValues& values = values_of(tally);
  CHECK(values[measured_requests] == 10);
  CHECK(values[latency_ns] == 10 * 500'000);
  CHECK(values[wait_ns] == 0);
  CHECK(values[first_token_ns] == 10 * 100'000);
  CHECK(values[per_token_ns] == 10 * 100'000);
  CHECK(values[window_ns] == 5'000'000);
  CHECK(values[window_tokens] == 50);
  CHECK(values[passes] == 50);
  CHECK(values[rows] == 50);
  CHECK(values[in_system_ns] == 5'000'000);
  CHECK(tokens_per_iteration(tally).mean == 1.0);
  CHECK(serving_estimates(tally.serving).tokens_per_s.mean == Approx(10'000.0).epsilon(few_ulp));
  CHECK_NOTHROW(check_conservation(tally));
}

TEST_CASE("the passes of a request: its prompt, then drafts and verifications over a growing KV cache") {
  std::vector<ForwardPass> target;
  std::vector<ForwardPass> drafter;
  Simulation simulation = one_client();
  simulation.scenario.gamma = 2;
  simulation.server().prompt.tokens = 10;
  simulation.server().output.tokens = 6;
  simulation.plan.requests = 2;
  simulation.scenario.cost = tests::timed(recording(target, 100.0), recording(drafter, 7.0));
  const Tally tally = serve(simulation);
  // The prompt yields one token; 5 are left: 3, then 2 of the 3 that were verified. The next request starts again.
  CHECK(target ==
        std::vector<ForwardPass>{{1, 10, 0.0}, {1, 3, 11.0}, {1, 3, 14.0}, {1, 10, 0.0}, {1, 3, 11.0}, {1, 3, 14.0}});
  CHECK(drafter ==
        std::vector<ForwardPass>{{1, 10, 0.0}, {1, 1, 11.5}, {1, 1, 14.5}, {1, 10, 0.0}, {1, 1, 11.5}, {1, 1, 14.5}});
  CHECK(values_of(tally)[first_token_ns] == 2 * 107'000);
  CHECK(values_of(tally)[latency_ns] == 2 * (107'000 + 2 * (100'000 + 2 * 7'000)));
  // Two iterations of 114 us for the five tokens after the first.
  CHECK(values_of(tally)[tpot_requests] == 2);
  CHECK(values_of(tally)[tpot_ns] == 2 * 45'600);
  CHECK(tally.tokens_count == std::vector<std::uint64_t>{0, 2, 2});
}

TEST_CASE("a block drafter is charged one pass of gamma tokens, and no_bonus verifies gamma") {
  std::vector<ForwardPass> target;
  std::vector<ForwardPass> drafter;
  Simulation simulation = one_client();
  simulation.scenario.gamma = 4;
  simulation.scenario.convention = Convention::no_bonus;
  simulation.scenario.drafter = BlockDrafter{};
  simulation.server().output.tokens = 8;
  simulation.plan.requests = 1;
  simulation.scenario.cost = tests::timed(recording(target, 100.0), recording(drafter, 7.0));
  CHECK(values_of(serve(simulation))[latency_ns] == 2 * 107'000);
  CHECK(drafter == std::vector<ForwardPass>{{1, 4, 0.0}, {1, 4, 4.0}});
  CHECK(target == std::vector<ForwardPass>{{1, 4, 0.0}, {1, 4, 4.0}});
}

TEST_CASE("a static batch is computed in full until its slowest sequence is done, a continuous one is refilled") {
  std::vector<ForwardPass> target;
  Simulation simulation = one_client();
  simulation.server().max_batch = 3;
  simulation.server().arrivals.clients = 7;
  simulation.server().output = {.tokens = 6, .spread = 5};
  simulation.plan.requests = 60;
  simulation.scenario.cost = tests::timed(recording(target, 100.0));
  for (const Batching batching : {Batching::continuous, Batching::ragged, Batching::lockstep}) {
    target.clear();
    simulation.server().batching = batching;
    const Tally tally = serve(simulation);
    CHECK(std::all_of(target.begin(), target.end(), [](const ForwardPass& pass) { return std::get<0>(pass) == 3; }));
    // Plain decoding: rows without a token are padding.
    const std::int64_t padding = values_of(tally)[rows] - values_of(tally)[window_tokens];
    CHECK(values_of(tally)[rows] == 3 * values_of(tally)[passes]);
    CHECK((batching == Batching::continuous ? padding == 0 : padding > 0));
    CHECK(values_of(tally)[in_system_ns] == 7 * values_of(tally)[window_ns]);
  }
}

TEST_CASE("no request joins a running static batch, and the next one takes all that wait, up to its capacity") {
  std::vector<ForwardPass> target;
  Simulation simulation = one_client();
  simulation.server().batching = Batching::ragged;
  simulation.server().max_batch = 4;
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 10'000.0};
  simulation.plan.requests = 8;
  simulation.scenario.cost = tests::timed(recording(target, 100.0));
  CHECK(values_of(serve(simulation))[passes] == 3 * 5);
  // One is present at 0.1 ms; five wait at 0.6 ms and six at 1.1 ms.
  for (std::size_t i = 0; i < target.size(); ++i) CHECK(std::get<0>(target[i]) == (i < 5 ? 1 : 4));
}

TEST_CASE("finished sequences in lockstep do not hold back others") {
  Simulation simulation = one_client();
  simulation.scenario.gamma = 3;
  simulation.server().max_batch = 4;
  simulation.server().arrivals.clients = 4;
  simulation.server().output = {.tokens = 20, .spread = 19};
  simulation.plan.requests = 40;
  simulation.server().batching = Batching::lockstep;
  const Tally lockstep = serve(simulation);
  simulation.server().batching = Batching::ragged;
  CHECK(serve(simulation) == lockstep);  // every draft is accepted: rows differ only in when they end
}

TEST_CASE("unfinished sequences in lockstep advance by their minimum of accepted drafts, others by their own") {
  Simulation simulation = one_client();
  simulation.server().acceptance = Iid{0.6};
  simulation.scenario.gamma = 4;
  simulation.server().max_batch = 8;
  simulation.server().arrivals.clients = 8;
  simulation.server().output.tokens = 50;
  simulation.plan.requests = 80;
  simulation.server().batching = Batching::lockstep;
  const Tally lockstep = serve(simulation);
  // All rows of a batch have one length: they advance and finish together, without padding.
  CHECK(lockstep.units.sum(iterations) == 8 * values_of(lockstep)[passes]);
  simulation.server().batching = Batching::ragged;
  const Tally ragged = serve(simulation);
  CHECK(ragged.units.sum(iterations) < 8 * values_of(ragged)[passes]);
  CHECK(tokens_per_iteration(lockstep).mean < 0.7 * tokens_per_iteration(ragged).mean);
  // The yield of each row's own drafts is still counted: acceptance is that of the distribution in both.
  CHECK(std::abs(acceptance(lockstep).per_token.mean - 0.6) < 0.05);
}

TEST_CASE("the batch size sets gamma") {
  std::vector<ForwardPass> target;
  Simulation simulation = one_client();
  simulation.server().gamma_schedule = {{1, 2, 3}, {3, 4, 1}, {5, 8, 0}};
  simulation.server().max_batch = 8;
  simulation.server().arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = 4000.0};
  simulation.server().acceptance = Iid{0.5};
  simulation.server().output.tokens = 20;
  simulation.plan.requests = 300;
  simulation.scenario.cost = tests::timed(recording(target, 100.0), RooflineStep{});
  CHECK_NOTHROW(check_conservation(serve(simulation)));
  const std::map<std::int64_t, std::int64_t> verified{{1, 4}, {2, 4}, {3, 2}, {4, 2}, {5, 1}, {6, 1}, {7, 1}, {8, 1}};
  std::map<std::int64_t, std::int64_t> seen;
  for (const auto& [batch, tokens_of_row, context] : target) {
    CHECK(seen.try_emplace(batch, tokens_of_row).first->second == tokens_of_row);
  }
  CHECK(seen == verified);
}

TEST_CASE("regular arrivals below the service rate never wait, above it each waits longer than the one before") {
  Simulation simulation = one_client();
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 1000.0};
  simulation.plan.warmup_requests = 4;
  simulation.plan.requests = 6;
  const Tally idle = serve(simulation);
  CHECK(values_of(idle)[wait_ns] == 0);
  CHECK(values_of(idle)[latency_ns] == 6 * 500'000);
  CHECK(values_of(idle)[window_ns] == 5 * 1'000'000 + 500'000);
  CHECK(values_of(idle)[in_system_ns] == 6 * 500'000);
  simulation.server().arrivals.rate_per_s = 10'000.0;
  const Tally flooded = serve(simulation);
  // Request i = 4..9 arrives at 0.1 (i + 1) ms and is admitted at 0.1 + 0.5 i ms.
  CHECK(values_of(flooded)[wait_ns] == (4 + 5 + 6 + 7 + 8 + 9) * 400'000);
}

TEST_CASE("goodput counts the tokens of requests that were answered in time, the limit included") {
  Simulation simulation = one_client();
  simulation.server().output = {.tokens = 10, .spread = 9};
  simulation.plan.requests = 200;
  const auto good_share = [&](double goal_us) {
    simulation.server().latency_goal_us = goal_us;
    const Estimates estimates = serving_estimates(serve(simulation).serving);
    return estimates.goodput_tokens_per_s.mean / estimates.tokens_per_s.mean;
  };
  CHECK(good_share(1900.0) == 1.0);
  CHECK(good_share(1899.0) < 1.0);
  CHECK(good_share(99.0) == 0.0);
  // Requests with up to 10 of 19 tokens have 55 of 190 tokens; 200 requests detect an error of 0.2.
  CHECK(std::abs(good_share(1000.0) - 55.0 / 190.0) < 0.1);
}

TEST_CASE("prompts that join are read together, padded to the longest, while the others wait") {
  std::vector<ForwardPass> target;
  Simulation simulation = one_client();
  simulation.server().max_batch = 2;
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 5000.0};
  simulation.server().prompt = {.tokens = 30, .spread = 20};
  simulation.server().output.tokens = 3;
  simulation.plan.requests = 1;
  simulation.scenario.cost = tests::timed(recording(target, 100.0));
  serve(simulation);
  REQUIRE(target.size() == 4);
  // 0.2 ms: the first prompt. 0.3 ms: its second token. 0.4 ms: the second request joins and the first one waits.
  const auto prompt = [&](std::size_t i) { return static_cast<double>(std::get<1>(target[i])); };
  CHECK(target[1] == ForwardPass{1, 1, prompt(0) + 1});
  CHECK(std::get<0>(target[2]) == 1);
  CHECK(target[3] == ForwardPass{2, 1, (prompt(0) + 2 + prompt(2) + 1) / 2});
  simulation.server().arrivals = {.kind = ArrivalKind::closed, .clients = 2};
  target.clear();
  serve(simulation);
  CHECK(std::get<0>(target[0]) == 2);
}

// Prompts and steps of 100 us, requests at 50, 100, 150, ... us, room for three. In us:
//   one   50 prompt of the 1st, 150 its step, 250 prompts of the 2nd and 3rd, 350 a step of all, 450
//   all   50 prompt of the 1st, 150 prompts of the 2nd and 3rd, 250 a step of all, 350 another, 450
TEST_CASE("one prompt pass between two steps, or as many as needed until no request waits") {
  std::vector<ForwardPass> target;
  Simulation simulation = one_client();
  simulation.server().max_batch = 3;
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 20'000.0};
  simulation.server().prompt.tokens = 10;
  simulation.server().output.tokens = 3;
  simulation.plan.requests = 3;
  simulation.scenario.cost = tests::timed(recording(target, 100.0));
  const auto first_passes = [&] { return std::vector<ForwardPass>(target.begin(), target.begin() + 4); };
  const Tally one = serve(simulation);
  CHECK(first_passes() ==
        std::vector<ForwardPass>{{1, 10, 0.0}, {1, 1, 11.0}, {2, 10, 0.0}, {3, 1, (12.0 + 11 + 11) / 3}});
  CHECK(values_of(one)[first_token_ns] == (100 + 250 + 200) * 1000);
  target.clear();
  simulation.server().admission = Admission::all;
  const Tally all = serve(simulation);
  CHECK(first_passes() == std::vector<ForwardPass>{{1, 10, 0.0}, {2, 10, 0.0}, {3, 1, 11.0}, {3, 1, 12.0}});
  CHECK(values_of(all)[first_token_ns] == (100 + 150 + 100) * 1000);
  CHECK(values_of(all)[latency_ns] == (400 + 350 + 300) * 1000);
}

TEST_CASE("a static batch is closed once it was taken, under any admission") {
  Simulation simulation = one_client();
  simulation.server().batching = Batching::ragged;
  simulation.server().max_batch = 3;
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 20'000.0};
  simulation.server().prompt.tokens = 10;
  const Tally one = serve(simulation);
  simulation.server().admission = Admission::all;
  CHECK(serve(simulation) == one);
}

TEST_CASE("a drafting iteration is charged its overhead once, a decode step and a prompt none") {
  Simulation simulation = one_client();
  simulation.server().prompt.tokens = 10;
  simulation.server().overhead_us = 30.0;
  CHECK(values_of(serve(simulation))[latency_ns] == 10 * 500'000);
  simulation.scenario.gamma = 2;
  simulation.server().output.tokens = 6;  // one from the prompt, then 3 and 2
  CHECK(values_of(serve(simulation))[latency_ns] == 10 * (107'000 + 2 * (114'000 + 30'000)));
}

TEST_CASE("acceptance may depend on the position, or vary from iteration to iteration") {
  Simulation simulation = one_client();
  simulation.scenario.gamma = 3;
  simulation.server().output.tokens = 8;
  simulation.server().acceptance = Positional{.conditional = {1.0, 1.0, 0.0}};
  CHECK(serve(simulation).tokens_count == std::vector<std::uint64_t>{0, 10, 20, 0});
  // Beta(1, 1): 1 + 1/2 + 1/3 + 1/4 tokens. The mean of 20,000 answers of 200 tokens has a standard error of 0.001;
  // their last iterations, which are cut off, change it more.
  simulation.server().acceptance = BetaMixture{.a = 1.0, .b = 1.0};
  simulation.server().output.tokens = 200;
  simulation.plan.requests = 20'000;
  const double mean = tokens_per_iteration(serve(simulation)).mean;
  constexpr double end_effect = 0.02;  // of one iteration in 96
  CHECK(std::abs(mean - 25.0 / 12.0) < end_effect);
}

TEST_CASE("an answer of one token is done with its prompt, in any batching") {
  for (const Batching batching : {Batching::continuous, Batching::ragged, Batching::lockstep}) {
    Simulation simulation = one_client();
    simulation.server().batching = batching;
    simulation.server().max_batch = 4;
    simulation.server().arrivals.clients = 6;
    simulation.server().prompt.tokens = 3;
    simulation.server().output.tokens = 1;
    const Tally tally = serve(simulation);
    CHECK(values_of(tally)[passes] == 0);
    CHECK(tally.units.count() == 0);
    CHECK(values_of(tally)[tpot_requests] == 0);
    CHECK(std::isnan(serving_estimates(tally.serving).tpot_p50_ms.mean));
  }
}

TEST_CASE("the time per output token averages the requests that have one") {
  Simulation simulation = one_client();
  simulation.server().prompt.tokens = 3;
  simulation.server().output = {.tokens = 2, .spread = 1};
  simulation.plan.requests = 200;
  const Tally tally = serve(simulation);
  const Estimates estimates = serving_estimates(tally.serving);
  // Plain steps of 100 us for any length; requests of one token, a third of all, have none.
  CHECK(estimates.tpot_ms.mean == Approx(0.1).epsilon(few_ulp));
  CHECK(estimates.tpot_p99_ms.mean == Approx(0.1).epsilon(DurationHistogram::resolution));
  CHECK(values_of(tally)[tpot_requests] > 100);
  CHECK(values_of(tally)[tpot_requests] < 167);
}

TEST_CASE("replicas differ, and the same seed gives the same counts for any number of threads") {
  Simulation simulation = one_client();
  simulation.server().acceptance = Iid{0.7};
  simulation.scenario.gamma = 3;
  simulation.server().max_batch = 4;
  simulation.server().arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = 9000.0};
  simulation.server().output = {.tokens = 12, .geometric = true};
  simulation.server().prompt = {.tokens = 9, .spread = 9};
  simulation.plan = {.requests = 9 * 40, .replicas = 9, .warmup_requests = 5};
  const Tally one = serve(simulation, 1);
  CHECK(one.units.count() == 9);
  CHECK(one.serving.latency.count() == 9 * 40);
  CHECK(one.serving.replicas[3].values != one.serving.replicas[4].values);
  CHECK(serve(simulation, 2) == one);
  CHECK(serve(simulation, 7) == one);
}

TEST_CASE("an impossible step time is rejected when it is used") {
  Simulation simulation = one_client();
  for (const double broken : {-1.0, std::nan(""), HUGE_VAL}) {
    simulation.scenario.cost = tests::timed([broken](const StepShape& /*shape*/) { return broken; });
    CHECK_THROWS_AS(serve(simulation), DomainError);
  }
  simulation.scenario.cost = ConstantRatio{};
  simulation.server().target_step = {.weights_us = 9e11};
  simulation.plan.requests = 1000;
  CHECK_THROWS_WITH(serve(simulation), Catch::Contains("2 years"));
}

TEST_CASE("a roofline step takes its launch and the longer of reading and computing") {
  const RooflineStep step{.launch_us = 5.0, .weights_us = 100.0, .context_us = 0.5, .token_us = 10.0};
  CHECK(step({.batch = 2, .tokens = 3, .context = 20.0}) == 5.0 + 100.0 + 20.0);
  CHECK(step({.batch = 8, .tokens = 4, .context = 20.0}) == 5.0 + 320.0);
}

TEST_CASE("a plan without requests or replicas, or with too many, is rejected") {
  const auto rejected = [](const SimulationPlan& plan) {
    CHECK_THROWS_AS(simulator_of({.scenario = one_client().scenario, .plan = plan}), DomainError);
  };
  CHECK_NOTHROW(simulator_of(one_client()));
  rejected({.requests = 0, .replicas = 1});
  rejected({.requests = (std::uint64_t{1} << 40U) + 1, .replicas = 1});
  rejected({.requests = 10, .replicas = 0});
  rejected({.requests = 10, .replicas = 5000});
  rejected({.requests = 10, .replicas = 1, .warmup_requests = (std::uint64_t{1} << 40U) + 1});
}

}  // namespace foredraft::sim
