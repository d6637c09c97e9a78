// SPDX-License-Identifier: Apache-2.0
// Speed of the server simulation: request-iterations (sequences of an iteration, until each has finished) per second of
// one thread.
#include <benchmark/benchmark.h>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/simulate.hpp"

namespace foredraft::sim {
namespace {

/// Poisson arrivals at about three quarters of the server's capacity; roofline step times.
void BM_serving(benchmark::State& state) {
  const std::int64_t max_batch = state.range(0);
  const RooflineStep target{.launch_us = 500.0, .weights_us = 9500.0, .context_us = 0.05, .token_us = 50.0};
  const RooflineStep drafter{.launch_us = 100.0, .weights_us = 400.0, .context_us = 0.005, .token_us = 2.0};
  const auto simulator = make_simulator(
      {.fidelity =
           Server{.acceptance = Iid{0.8},
                  .max_batch = max_batch,
                  .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = 1.5 * static_cast<double>(max_batch)},
                  .prompt = {.tokens = 200, .spread = 100},
                  .output = {.tokens = 128, .geometric = true},
                  .target_step = target,
                  .drafter_step = drafter},
       .gamma = 4},
      {.requests = 20'000, .replicas = 1});
  RunKey key{.seed = 1, .point = 0};
  std::int64_t request_iterations = 0;
  for (auto _ : state) {
    const Tally tally = run(*simulator, key, 1);
    request_iterations += static_cast<std::int64_t>(tally.units.sum(iterations));
    ++key.point;
  }
  state.SetItemsProcessed(request_iterations);
}
BENCHMARK(BM_serving)->ArgName("max_batch")->Arg(1)->Arg(32)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foredraft::sim
