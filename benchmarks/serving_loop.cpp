// SPDX-License-Identifier: Apache-2.0
// Speed of the server simulation: request-iterations (sequences of an iteration, until each has finished) per second of
// one thread.
#include <benchmark/benchmark.h>

#include "sim/system/serving_simulation.hpp"

namespace foredraft::sim {
namespace {

/// Poisson arrivals at about three quarters of the server's capacity; roofline step times.
void BM_serving(benchmark::State& state) {
  const std::int64_t max_batch = state.range(0);
  const RooflineStep target{.launch_us = 500.0, .weights_us = 9500.0, .context_us = 0.05, .token_us = 50.0};
  const RooflineStep drafter{.launch_us = 100.0, .weights_us = 400.0, .context_us = 0.005, .token_us = 2.0};
  const auto simulator = make_serving_simulator(
      {.acceptance = Iid{0.8},
       .gamma = {{1, max_batch, 4}},
       .convention = Convention::bonus,
       .drafting = Drafting::autoregressive,
       .batching = Batching::continuous,
       .max_batch = max_batch,
       .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = 1.5 * static_cast<double>(max_batch)},
       .prompt = {.tokens = 200, .spread = 100},
       .output = {.tokens = 128, .geometric = true},
       .target_us = target,
       .drafter_us = drafter,
       .requests = 20'000,
       .warmup_requests = 0,
       .replicas = 1});
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
