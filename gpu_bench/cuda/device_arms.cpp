#include "gpu_bench/cuda/device_arms.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace foredraft::gpu_bench {
namespace {

/// Calls a sample: from the time of a few calls behind a first one.
int calls_per_sample(const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  launch(0);
  bench.stream.wait();
  constexpr int trial_calls = 3;
  const double trial_us = bench.timer.time_us(bench.stream, [&] {
    for (int call = 0; call < trial_calls; ++call) launch(call);
  });
  const int calls = std::max(calls_per_replay(trial_us / trial_calls), fewest_calls);
  return (calls + fewest_calls - 1) / fewest_calls * fewest_calls;  // whole rounds over rotated buffers
}

Sample sample_of(const Bench& bench, int calls, const std::function<void()>& launch_all) {
  bench.before_sample();
  const double us = bench.timer.time_us(bench.stream, launch_all) / calls;
  return {.us = us, .clock_mhz = bench.nvml.sm_clock_mhz().value_or(0.0)};
}

}  // namespace

Arm graph_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  const int calls = calls_per_sample(bench, launch, fewest_calls);
  const auto graph = std::make_shared<Graph>(bench.stream, [&] {
    for (int call = 0; call < calls; ++call) launch(call);
  });
  return {.name = name,
          .run = [&bench, graph, calls] { return sample_of(bench, calls, [&] { graph->replay(bench.stream); }); }};
}

Arm eager_arm(const std::string& name, const Bench& bench, const std::function<void(int)>& launch, int fewest_calls) {
  const int calls = calls_per_sample(bench, launch, fewest_calls);
  return {.name = name, .run = [&bench, launch, calls] {
            return sample_of(bench, calls, [&] {
              for (int call = 0; call < calls; ++call) launch(call);
            });
          }};
}

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace foredraft::gpu_bench
