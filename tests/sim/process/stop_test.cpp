// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/sim/process/process_testing.hpp"

namespace foredraft::tests {
namespace {

/// Requests a stop once the work has begun.
class Later {
 public:
  Later()
      : asker_([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          asked_ = true;
        }) {}

  [[nodiscard]] sim::RunKey key() const { return {.seed = 1, .point = 0, .stop = &asked_}; }

 private:
  std::atomic<bool> asked_{false};
  std::jthread asker_;
};

Simulation unsure(std::int64_t gamma, std::uint64_t iterations) {
  Simulation simulation = iterations_of(Iid{0.999}, gamma, iterations, Path::fast);
  simulation.process().policy = ConfidenceThreshold{.threshold = 0.001, .concentration = 2.0, .bias = 1.0};
  return simulation;
}

/// Requests that arrive so fast that nearly all events are arrivals.
Simulation crowd(double rate_per_s) {
  return {.scenario = {.fidelity = Server{.acceptance = Iid{0.5},
                                          .max_batch = 1,
                                          .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = rate_per_s},
                                          .output = {.tokens = 100},
                                          .target_step = {.weights_us = 1000.0},
                                          .drafter_step = {.weights_us = 10.0}},
                       .gamma = 2},
          .plan = {.requests = 20, .replicas = 1}};
}

}  // namespace

TEST_CASE("a stop token stops once its flag is set, and a meter checks it periodically") {
  CHECK_FALSE(StopToken().asked());
  CHECK_NOTHROW(StopToken().check());
  std::atomic<bool> asked{false};
  const StopToken token(&asked);
  CHECK_NOTHROW(token.check());
  StopMeter meter(token);
  asked = true;
  CHECK(token.asked());
  CHECK_THROWS_AS(token.check(), Interrupted);
  CHECK_THROWS_AS(StopMeter(token), Interrupted);
  CHECK_NOTHROW(meter.spend(1));
  CHECK_THROWS_AS(meter.spend(1'000'000), Interrupted);
  CHECK_NOTHROW(meter.spend(1));
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 1'000'000; ++i) meter.spend(1);
      }(),
      Interrupted);
}

// Each of these blocks takes seconds, far longer than setting the flag: one that did not check it would finish without
// a throw. How soon it stops is not tested here.
TEST_CASE("a stop requested inside a block ends it") {
  const auto stops = [](const Simulation& simulation) {
    const auto simulator = simulator_of(simulation);
    const Later later;
    CHECK_THROWS_AS(simulator->run_block(later.key(), 0), Interrupted);
  };
  stops(sequences_of(Iid{0.5}, 3, {.tokens = 1e9}, 1, Path::fast));
  stops(sequences_of(Iid{0.5}, 3, {.tokens = 1e9}, 1, Path::reference));
  stops(iterations_of(Markov{1.0, 0.5}, 1'000'000, 64, Path::reference));
  stops(iterations_of(BetaMixture{1e9, 1e-3}, 1'000'000, 64, Path::reference));
  stops(unsure(10'000, 1 << 20));
  const auto server = simulator_of(crowd(1e9));
  const Later later;
  CHECK_THROWS_AS(server->run_block(later.key(), 0), Interrupted);
}

TEST_CASE("a stop token that is never set does not change the counts") {
  const std::atomic<bool> asked{false};
  sim::RunKey watched = test_key;
  watched.stop = &asked;
  for (const Path path : {Path::fast, Path::reference}) {
    for (const auto& simulation :
         {iterations_of(Iid{0.7}, 5, 100'000, path), iterations_of(Markov{0.9, 0.4}, 5, 100'000, path),
          iterations_of(BetaMixture{2.0, 1.0}, 5, 100'000, path),
          sequences_of(Markov{0.9, 0.4}, 5, {.tokens = 1000, .geometric = true}, 300, path)}) {
      CHECK(run_once(simulation, watched) == run_once(simulation));
    }
  }
  CHECK(run_once(unsure(20, 50'000), watched) == run_once(unsure(20, 50'000)));
  const auto server = simulator_of(crowd(2.0));
  CHECK(sim::run(*server, watched, 1) == sim::run(*server, test_key, 1));
}

}  // namespace foredraft::tests
