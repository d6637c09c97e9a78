// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <memory>

#include "sim/estimates.hpp"
#include "tests/support/simulation.hpp"

// Rows of a batch that remember what they accepted.
namespace foredraft::sim {
namespace {

using tests::Simulation;
using tests::simulator_of;

constexpr RunKey rows_key{.seed = 22, .point = 0};

/// As many clients as rows, no prompts, drafts of 3, answers of `tokens`.
Simulation serving(const AcceptanceProcess& acceptance, std::int64_t batch, double tokens) {
  return {.scenario = {.fidelity = Server{.acceptance = acceptance,
                                          .max_batch = batch,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = batch},
                                          .output = {.tokens = tokens},
                                          .target_step = {.weights_us = 100.0}},
                       .gamma = 3},
          .plan = {.requests = 24, .replicas = 1}};
}

double tokens_of(const Simulation& simulation) {
  return tokens_per_iteration(run(*simulator_of(simulation), rows_key, 1)).mean;
}

Trace trace_of(const Recording& recording) { return {.recording = std::make_shared<const Recording>(recording)}; }

}  // namespace

TEST_CASE("an answer replays its recorded sequence like a trace, whatever else runs") {
  const Recording recording{.sequences = {{1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1}}};
  const Trace trace = trace_of(recording);
  const Simulation replay{.scenario = {.fidelity = ProcessFidelity{.acceptance = trace}, .gamma = 3}, .plan = {}};
  const double alone = tokens_of(replay);
  for (const std::int64_t batch : {1, 5}) {
    CHECK(tokens_of(serving(trace, batch, 15.0)) == Approx(alone).epsilon(1e-12));
  }
}

TEST_CASE("an answer longer than its recording restarts it") {
  // 1 1 0 repeated: from the start, drafts 1 1 0 yield three tokens, every time.
  const Trace trace = trace_of({.sequences = {{1, 1, 0, 1, 1, 0}}});
  CHECK(tokens_of(serving(trace, 1, 30.0)) == Approx(3.0).epsilon(1e-12));
  // A step that begins at the last position continues at the first one.
  const Trace counts = trace_of({.sequences = {}, .accepted_from = {{1, 3, 1}}});
  // Positions 0 (1 accepted: 2 tokens), 2 (1, and 1 at the start: 3 tokens), 2 again.
  CHECK(tokens_of(serving(counts, 1, 32.0)) == Approx(32.0 / 11.0).epsilon(1e-12));
}

TEST_CASE("every recorded sequence is replayed equally often, within noise") {
  const Trace trace = trace_of({.sequences = {}, .accepted_from = {{0}, {3}}});
  Simulation simulation = serving(trace, 4, 4.0);
  simulation.plan.requests = 4000;
  // An answer of four tokens takes four iterations or one: 8 tokens in 5 if both are equally frequent. A share of one
  // half of 4,000 answers is known to 0.8 % (one standard error), which moves the mean by 0.95 %.
  CHECK(tokens_of(simulation) == Approx(8.0 / 5.0).epsilon(0.03));
}

TEST_CASE("runs continue within an answer and never into another one") {
  const Runs never_ends{.a = 1.0 - 1e-12, .b = 0.0};
  // No run begins, so no draft is accepted.
  CHECK(tokens_of(serving(never_ends, 4, 12.0)) == 1.0);
  // After a rejection a draft is accepted with probability 1/2, and then all later ones.
  const Runs half{.a = 1.0 - 1e-12, .b = 0.5};
  Simulation simulation = serving(half, 8, 400.0);
  simulation.plan.requests = 400;
  CHECK(tokens_of(simulation) > 3.9);
}

TEST_CASE("a trace is replayed in lockstep too") {
  Simulation lockstep = serving(trace_of({.sequences = {{1, 1, 0}}}), 2, 8.0);
  lockstep.server().batching = Batching::lockstep;
  CHECK(tokens_of(lockstep) > 1.0);
}

}  // namespace foredraft::sim
