// SPDX-License-Identifier: Apache-2.0
#include "sim/system/steady_state.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "foredraft/simulate.hpp"
#include "sim/simulate.hpp"
#include "sim/system/serving_simulator.hpp"
#include "tests/support/simulation.hpp"

namespace foredraft::sim {
namespace {

using tests::Simulation;

constexpr SimulationPlan by_load{
    .seed = 5, .requests = as_load_needs, .replicas = as_load_needs, .warmup_requests = as_load_needs};

/// Answers of 100 tokens, steps of 1 ms.
Simulation server_with(const Arrivals& arrivals, std::int64_t max_batch) {
  return {.scenario = {.fidelity = Server{.acceptance = Iid{0.7},
                                          .max_batch = max_batch,
                                          .arrivals = arrivals,
                                          .output = {.tokens = 100},
                                          .target_step = {.weights_us = 1000.0},
                                          .drafter_step = {.weights_us = 50.0}},
                       .gamma = 0},
          .plan = by_load};
}

Arrivals clients(std::int64_t count) { return {.kind = ArrivalKind::closed, .clients = count}; }
Arrivals at_rate(double per_s) { return {.kind = ArrivalKind::poisson, .rate_per_s = per_s}; }

/// Requests, replicas and warm-up in one text.
std::string plan_of(const Simulation& simulation, const SimulationPlan& asked = by_load) {
  const SimulationPlan plan = plan_of_load(simulation.scenario, asked);
  return std::to_string(plan.requests) + " " + std::to_string(plan.replicas) + " " +
         std::to_string(plan.warmup_requests);
}

Simulated simulated(const Simulation& simulation, const SimulationPlan& plan = by_load) {
  return simulate(simulation.scenario, plan, 1);
}

}  // namespace

TEST_CASE("requests, replicas and warm-up follow from the concurrency, unless they are stated") {
  const Simulation forty = server_with(clients(40), 64);
  CHECK(plan_of(forty) == "5120 32 176");
  CHECK(plan_of(server_with(clients(40), 2)) == "2000 32 24");
  SimulationPlan asked = by_load;
  asked.requests = 992;
  CHECK(plan_of(forty, asked) == "992 8 176");
  asked.requests = 5;
  CHECK(plan_of(forty, asked) == "5 5 176");
  asked = {.requests = as_load_needs, .replicas = 3, .warmup_requests = 0};
  CHECK(plan_of(forty, asked) == "2000 3 0");
  asked = {.requests = 7, .replicas = 2, .warmup_requests = 1};
  CHECK(plan_of(forty, asked) == "7 2 1");
  // 100 steps of 1 ms each: 20 requests per second keep 2 in flight, 1,000 a full batch.
  CHECK(plan_of(server_with(at_rate(20.0), 8)) == "2000 32 24");
  CHECK(plan_of(server_with(at_rate(1000.0), 8)) == "2000 32 48");
}

// 32 replicas of 31 requests for 40 clients once reported a standard error of 0 and the wrong sign of the gain: the
// requests of all clients were synchronized from the start.
TEST_CASE("clients with answers of one length have an error, and drafts gain if prompts delay no decode step") {
  Simulation simulation = server_with(clients(40), 64);
  simulation.server().prompt.tokens = 300;
  simulation.server().target_step = {.weights_us = 5000.0, .token_us = 20.0};
  const Simulated plain = simulated(simulation);
  simulation.scenario.gamma = 3;
  const Simulated drafting = simulated(simulation);
  for (const Simulated& one : {plain, drafting}) {
    CHECK(one.unsteady.empty());
    CHECK(one.estimates.tokens_per_s.standard_error > 0.0);
    CHECK(one.estimates.first_token_ms.standard_error > 0.0);
  }
  SimulationPlan short_plan{.seed = 5, .requests = 992, .replicas = 32, .warmup_requests = 4};
  const std::string why = simulated(simulation, short_plan).unsteady;
  CHECK_THAT(why, Catch::Contains("warms up with 4 requests") && Catch::Contains("set warmup_requests to 160"));
  short_plan.warmup_requests = 160;
  CHECK(simulated(simulation, short_plan).unsteady.empty());
}

TEST_CASE("batches of a single replica give an error when replicas cannot") {
  SimulationPlan plan = by_load;
  plan.replicas = 1;
  const Simulated one = simulated(server_with(at_rate(50.0), 8), plan);
  CHECK(one.estimates.tokens_per_s.standard_error > 0.0);
  // Close to that of independent replicas of the same total length.
  const Simulated many = simulated(server_with(at_rate(50.0), 8));
  CHECK(one.estimates.latency_ms.standard_error > 0.3 * many.estimates.latency_ms.standard_error);
  CHECK(one.estimates.latency_ms.standard_error < 3.0 * many.estimates.latency_ms.standard_error);
}

TEST_CASE("a growing queue is no steady state, one within capacity is") {
  // 8 at once, 0.1 s each: 80 requests per second.
  CHECK_THAT(simulated(server_with(at_rate(120.0), 8)).unsteady,
             Catch::Contains("are there in the first half") && Catch::Contains("the rate"));
  CHECK(simulated(server_with(at_rate(40.0), 8)).unsteady.empty());
}

TEST_CASE("batches are parts of the window: their sums are those of the replica") {
  const Simulation simulation = server_with(at_rate(50.0), 8);
  const Tally tally = run(*make_serving_simulator(simulation.scenario, by_load), {.seed = 1, .point = 0}, 1);
  for (const Replica& replica : tally.serving.replicas) {
    CHECK(replica.warmup_requests ==
          static_cast<std::int64_t>(plan_of_load(simulation.scenario, by_load).warmup_requests));
    REQUIRE(replica.batches.size() >= 2);
    for (const ServingQuantity quantity : {measured_requests, latency_ns, wait_ns, first_token_ns, tpot_ns, window_ns,
                                           window_tokens, passes, rows, in_system_ns}) {
      std::int64_t sum = 0;
      for (const ServingValues& batch : replica.batches) sum += batch[quantity];
      CHECK(sum == replica.values[quantity]);
    }
  }
}

}  // namespace foredraft::sim
