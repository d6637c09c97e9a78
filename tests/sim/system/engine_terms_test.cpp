// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/simulation.hpp"

// The times that an engine adds to forward passes, in runs simple enough to list every event: constant lengths,
// acceptance 0 or 1, whole microseconds. A pass of the target takes 100 us and 1 us for each of its tokens.
namespace foredraft::sim {
namespace {

using tests::Simulation;
using tests::simulator_of;

constexpr std::int64_t one_us = 1000;  // in ns

Simulation server_of(std::int64_t clients, std::int64_t gamma) {
  return {.scenario = {.fidelity = Server{.acceptance = Iid{1.0},
                                          .max_batch = clients,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = clients},
                                          .output = {.tokens = 6},
                                          .target_step = {.launch_us = 100.0, .token_us = 1.0},
                                          .drafter_step = {.launch_us = 7.0}},
                       .gamma = gamma},
          .plan = {.requests = static_cast<std::uint64_t>(clients), .replicas = 1}};
}

Tally tally_of(const Simulation& simulation) { return run(*simulator_of(simulation), {.seed = 21, .point = 0}, 1); }

ServingValues values_with(const Simulation& simulation) { return tally_of(simulation).serving.replicas.at(0).values; }

struct SeenPass {
  std::int64_t batch, tokens;
  double context;
  std::int64_t chunk;
  double chunk_context;
  bool operator==(const SeenPass&) const = default;
};

/// The same times, recording the passes of the target; the drafter takes 10 us for prompts.
Cost seen_by(std::vector<SeenPass>& passes) {
  return tests::timed(
      [&passes](const StepShape& shape) {
        passes.push_back({shape.batch, shape.tokens, shape.context, shape.chunk, shape.chunk_context});
        return RooflineStep{.launch_us = 100.0, .token_us = 1.0}(shape);
      },
      [](const StepShape& shape) { return shape.prompt ? 10.0 : 7.0; });
}

Simulation chunked_server(std::int64_t clients, std::int64_t gamma) {
  Simulation simulation = server_of(clients, gamma);
  simulation.server().engine = {.prefill = Prefill::chunked, .pass_tokens = 8};
  return simulation;
}

}  // namespace

// Three prompts of 10 tokens, answers of 3, two places, passes of 8 tokens. In us:
//   0 to 108    8 of the 1st prompt
//   to 216      its last 2, and 6 of the 2nd: the 1st answer begins
//   to 321      1 decodes, 4 of the 2nd: the 2nd answer begins
//   to 423      2 decode: the 1st ends, and its client sends a 4th
//   to 531      1 decodes, 7 of the 3rd: the 2nd answer ends
//   to 639      the last 3 of the 3rd, and 5 of the 4th: the 3rd answer begins
//   to 745      1 decodes, 5 of the 4th
//   to 847      2 decode: the 3rd answer ends
TEST_CASE("iterations read prompts in the token budget left by verifications, first come, first served") {
  std::vector<SeenPass> seen;
  Simulation simulation = chunked_server(3, 0);
  simulation.server().max_batch = 2;
  simulation.server().prompt.tokens = 10;
  simulation.server().output.tokens = 3;
  simulation.scenario.cost = seen_by(seen);
  const ServingValues values = values_with(simulation);
  CHECK(seen == std::vector<SeenPass>{{0, 0, 0.0, 8, 0.0},
                                      {0, 0, 0.0, 8, 2.0},
                                      {1, 1, 11.0, 4, 6.0},
                                      {2, 1, 11.5, 0, 0.0},
                                      {1, 1, 12.0, 7, 0.0},
                                      {0, 0, 0.0, 8, 21.0 / 8.0},
                                      {1, 1, 11.0, 5, 5.0},
                                      {2, 1, 11.5, 0, 0.0}});
  CHECK(values[latency_ns] == (423 + 531 + 847) * one_us);
  CHECK(values[first_token_ns] == (216 + 321 + 639) * one_us);
  CHECK(values[wait_ns] == (108 + 423) * one_us);
  CHECK(values[passes] == 5);
}

// Prompts of 5 tokens, answers of 7: one from the prompt, then 3 per iteration. The drafter reads a chunk in 10 us.
TEST_CASE("verified drafts get the tokens of a pass first, and the drafter reads the chunk in its own pass") {
  std::vector<SeenPass> seen;
  Simulation simulation = chunked_server(2, 2);
  simulation.server().prompt.tokens = 5;
  simulation.server().output.tokens = 7;
  simulation.scenario.cost = seen_by(seen);
  const ServingValues values = values_with(simulation);
  CHECK(seen == std::vector<SeenPass>{
                    {0, 0, 0.0, 8, 0.0}, {1, 3, 6.0, 2, 3.0}, {2, 3, (9.0 + 6.0) / 2, 0, 0.0}, {1, 3, 9.0, 5, 0.0}});
  constexpr std::int64_t first = 108 + 10;
  constexpr std::int64_t second = first + 105 + 14 + 10;
  constexpr std::int64_t third = second + 106 + 14;
  CHECK(values[first_token_ns] == (first + second) * one_us);
  CHECK(values[latency_ns] == (third + third + 108 + 14 + 10) * one_us);
}

TEST_CASE("if verifications fill a pass no prompt is read before one of them ends") {
  std::vector<SeenPass> seen;
  Simulation simulation = chunked_server(3, 0);
  simulation.server().engine.pass_tokens = 2;
  simulation.server().prompt.tokens = 1;
  simulation.scenario.cost = seen_by(seen);
  const ServingValues values = values_with(simulation);
  // Two prompts share the first pass, and five steps of both follow; only then is the third prompt read.
  CHECK(std::count_if(seen.begin(), seen.begin() + 6, [](const SeenPass& pass) { return pass.chunk > 0; }) == 1);
  CHECK(values[wait_ns] == 6 * 102 * one_us);
}

TEST_CASE("requests without a prompt join the next iteration of an engine that reads prompts in chunks") {
  Simulation simulation = server_of(3, 2);
  const Tally alone = tally_of(simulation);
  simulation.server().engine = {.prefill = Prefill::chunked, .pass_tokens = 8};
  CHECK(tally_of(simulation) == alone);
}

TEST_CASE("a cached prefix is not read again, except for the last token of a prompt") {
  std::vector<SeenPass> seen;
  Simulation simulation = server_of(1, 0);
  simulation.server().prompt.tokens = 10;
  simulation.server().output.tokens = 2;
  simulation.server().prefix_hit = 0.75;
  simulation.scenario.cost = seen_by(seen);
  CHECK(values_with(simulation)[first_token_ns] == 103 * one_us);
  CHECK(seen == std::vector<SeenPass>{{1, 3, 7.0, 0, 0.0}, {1, 1, 11.0, 0, 0.0}});
  seen.clear();
  simulation.server().engine = {.prefill = Prefill::chunked, .pass_tokens = 8};
  simulation.server().prefix_hit = 0.999;
  CHECK(values_with(simulation)[first_token_ns] == 101 * one_us);
  CHECK(seen == std::vector<SeenPass>{{0, 0, 0.0, 1, 9.0}, {1, 1, 11.0, 0, 0.0}});
}

TEST_CASE("slots served one by one take one pass a request, but decode steps are batched") {
  Simulation simulation = server_of(3, 2);
  simulation.server().overhead_us = 30.0;
  simulation.server().engine.slot_by_slot = true;
  CHECK(values_with(simulation)[latency_ns] == 3 * 2 * 3 * (103 + 2 * 7 + 30) * one_us);
  simulation.scenario.gamma = 0;
  CHECK(values_with(simulation)[latency_ns] == 3 * 6 * 103 * one_us);
}

TEST_CASE("a pass beyond the largest captured one takes at least its launches, and so does each prompt's own pass") {
  Simulation simulation = server_of(3, 2);
  simulation.server().engine = {.graph_tokens = 8, .eager_us = 500.0};
  CHECK(values_with(simulation)[latency_ns] == 3 * 2 * (500 + 2 * 7) * one_us);
  simulation.server().engine.graph_tokens = 9;
  CHECK(values_with(simulation)[latency_ns] == 3 * 2 * (109 + 2 * 7) * one_us);
  simulation.server().prompt.tokens = 2;
  CHECK(values_with(simulation)[first_token_ns] == 3 * (500 + 7) * one_us);
  // Slots have separate passes of three tokens each.
  simulation.server().prompt.tokens = 0;
  simulation.server().engine = {.graph_tokens = 3, .eager_us = 500.0, .slot_by_slot = true};
  CHECK(values_with(simulation)[latency_ns] == 3 * 2 * 3 * (103 + 2 * 7) * one_us);
}

TEST_CASE("the tokens of a chunk count against the largest captured pass") {
  Simulation simulation = chunked_server(1, 0);
  simulation.server().prompt.tokens = 8;
  simulation.server().output.tokens = 2;
  simulation.server().engine.graph_tokens = 7;
  simulation.server().engine.eager_us = 500.0;
  CHECK(values_with(simulation)[latency_ns] == (500 + 101) * one_us);
}

TEST_CASE("host time is added to the passes of an iteration, or hidden by them") {
  Simulation simulation = server_of(3, 0);
  EngineTerms& engine = simulation.server().engine;
  engine = {.host_us = 10.0, .host_request_us = 5.0, .draft_host_us = 20.0, .draft_host_request_us = 1.0};
  const auto latency = [&] { return values_with(simulation)[latency_ns] / (3 * one_us); };
  CHECK(latency() == 6 * (103 + 25));
  engine.asynchronous = true;
  CHECK(latency() == 6 * 103);
  engine.host_us = 200.0;
  CHECK(latency() == 6 * 215);
  simulation.scenario.gamma = 2;
  CHECK(latency() == 2 * (215 + 23));
  engine.asynchronous = false;
  CHECK(latency() == 2 * (109 + 2 * 7 + 215 + 23));
}

// A request every 300 us, answers of 4 tokens, no draft accepted, 100 us per step; only a single request drafts: 300
// alone, 600 two of them (a change), 750 alone (a change), 900 two (a change), 1050, 1150 alone (a change), 1300 two (a
// change), 1450.
TEST_CASE("a change of the draft length takes its time, and a margin prevents small changes") {
  Simulation simulation = server_of(1, 0);
  simulation.server().acceptance = Iid{0.0};
  simulation.server().max_batch = 4;
  simulation.server().gamma_schedule = {{1, 1, 3}, {2, 4, 0}};
  simulation.server().arrivals = {.kind = ArrivalKind::regular, .rate_per_s = 1e6 / 300.0};
  simulation.server().output.tokens = 4;
  simulation.server().switch_us = 50.0;
  simulation.server().target_step = {.launch_us = 100.0};
  simulation.server().drafter_step = {};
  simulation.plan.requests = 3;
  CHECK(values_with(simulation)[latency_ns] == (450 + 550 + 550) * one_us);
  simulation.server().switch_margin = 1;
  CHECK(values_with(simulation)[latency_ns] == 3 * 400 * one_us);
}

TEST_CASE("recorded requests arrive at their times with their lengths, repeatedly") {
  Simulation simulation = server_of(1, 0);
  auto recording = std::make_shared<RequestRecording>();
  recording->requests = {{.arrival_s = 0.0, .prompt_tokens = 10, .output_tokens = 3},
                         {.arrival_s = 0.002, .prompt_tokens = 0, .output_tokens = 2},
                         {.arrival_s = 0.004, .prompt_tokens = 5, .output_tokens = 1}};
  simulation.server().recorded = recording;
  simulation.server().arrivals = {.kind = ArrivalKind::recorded};
  simulation.plan.requests = 4;
  const ServingValues values = values_with(simulation);
  CHECK(values[latency_ns] == ((110 + 2 * 101) + 2 * 101 + 105 + (110 + 2 * 101)) * one_us);
  CHECK(values[window_ns] == 6000 * one_us + (110 + 2 * 101) * one_us);
}

// All clients send at once, and all answers have one length: without a phase their prompts always arrive together.
TEST_CASE("clients with answers of one length are out of step once warm, and measured answers are complete") {
  std::vector<SeenPass> seen;
  Simulation simulation = server_of(8, 0);
  simulation.server().prompt.tokens = 3;
  simulation.server().output.tokens = 400;
  simulation.plan = {.requests = 80, .replicas = 1, .warmup_requests = 8};
  simulation.scenario.cost = seen_by(seen);
  const Tally tally = tally_of(simulation);
  CHECK(tally.units.sum(tokens) == 80 * 399);
  std::int64_t together = 0;
  for (const SeenPass& pass : seen)
    together = std::max(together, pass.tokens == 3 && &pass != &seen[0] ? pass.batch : 0);
  CHECK(together <= 3);
  // Each replica has its own phase, and so its own sums.
  simulation.plan.replicas = 2;
  const std::vector<Replica> replicas = tally_of(simulation).serving.replicas;
  CHECK(replicas.at(0).values[window_ns] != replicas.at(1).values[window_ns]);
}

}  // namespace foredraft::sim
