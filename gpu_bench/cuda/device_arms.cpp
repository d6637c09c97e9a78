// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_arms.hpp"

#include <memory>

#include "gpu_bench/measure/sampling.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Calls a sample: from the time of a few calls behind a first one.
int calls_for(const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  launch(0);
  bench.stream.wait();
  constexpr int trial_calls = 3;
  const double trial_us = bench.timer.time_us(bench.stream, [&] {
    for (int call = 0; call < trial_calls; ++call) launch(call);
  });
  return calls_per_sample(trial_us / trial_calls, fewest_calls);
}

Sample sample_of(const Bench& bench, int calls, const std::function<void()>& launch_all) {
  bench.before_sample();
  const double us = bench.timer.time_us(bench.stream, launch_all) / calls;
  return {.us = us, .clock_mhz = bench.nvml.sm_clock_mhz().value_or(0.0)};
}

}  // namespace

Arm graph_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  const int calls = calls_for(bench, launch, fewest_calls);
  const auto graph = std::make_shared<Graph>(bench.stream, [&] {
    for (int call = 0; call < calls; ++call) launch(call);
  });
  return {.name = name,
          .run = [&bench, graph, calls] { return sample_of(bench, calls, [&] { graph->replay(bench.stream); }); }};
}

Arm eager_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  const int calls = calls_for(bench, launch, fewest_calls);
  return {.name = name, .run = [&bench, launch, calls] {
            return sample_of(bench, calls, [&] {
              for (int call = 0; call < calls; ++call) launch(call);
            });
          }};
}

}  // namespace foredraft::gpu_bench
