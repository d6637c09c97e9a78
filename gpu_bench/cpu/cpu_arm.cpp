// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_arm.hpp"

#include "gpu_bench/measure/sampling.hpp"
#include "gpu_bench/run/host_facts.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Of one call, in microseconds; the clock may be too coarse to see a very short one pass.
double mean_us(const std::function<void(int)>& call, int calls) {
  constexpr double clock_resolution_us = 1e-3;
  const double start_s = steady_now_s();
  for (int i = 0; i < calls; ++i) call(i);
  const double us = 1e6 * (steady_now_s() - start_s);
  return (us > clock_resolution_us ? us : clock_resolution_us) / calls;
}

}  // namespace

int calls_of_sample(const std::function<void(int)>& call, int rotated) {
  double us = mean_us(call, 1);
  // The first call is slower than the next; whether a long one is does not matter.
  constexpr double long_call_us = 1e3;
  if (us < long_call_us) us = mean_us(call, 1);
  return calls_per_sample(us, rotated);
}

Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int calls,
            const std::function<void()>& before_sample) {
  return {.name = name, .run = [call, calls, before_sample] {
            before_sample();
            return Sample{.us = mean_us(call, calls), .clock_mhz = 0.0};
          }};
}

}  // namespace foredraft::gpu_bench
