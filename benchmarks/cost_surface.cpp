// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/cost_surface.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "latency/models/model_registry.hpp"

/// Time look-ups per second in a prepared cost surface. Budget: 1e6 per core.
namespace foredraft::latency {
namespace {

const ForwardPassKind asked{.model = "llama-2-7b", .setting = {.dtype = "fp16"}};

/// A profile without rows: its times come from `fits` or a data sheet's limits.
Profile empty_profile(Source source) {
  Profile profile{.source = source, .identity = {}, .device = {}, .limits = {}};
  profile.device.name = "made up";
  return profile;
}

Profile with_fit() {
  Profile profile = empty_profile(Source::measured);
  LatencyFit fit{.dtype = "fp16", .model = {}, .ci95 = {}, .held_out = {}, .domain = {}};
  fit.model = {.launch_us = 3.0,
               .input_us = 2e-4,
               .bandwidth_bytes_per_s = 4e12,
               .peak_flop_per_s = 6e14,
               .sharpness = 3.0,
               .attend_launch_us = 8.0,
               .attend_peak_flop_per_s = 5e13};
  profile.fits.push_back(fit);
  return profile;
}

Profile with_limits() {
  Profile profile = empty_profile(Source::datasheet);
  profile.limits.memory_bandwidth_bytes_per_s = {.value = 4e12, .ci95 = {}, .origin = "made up"};
  profile.limits.matrix_peak_fp16_flop_per_s = {.value = 6e14, .ci95 = {}, .origin = "made up"};
  return profile;
}

/// 210 rows; the default plan measures 145 of a target per dtype, with a cold cache and as graphs.
Profile with_table() {
  Profile profile = empty_profile(Source::measured);
  for (const std::int64_t context : {128, 512, 1024, 2048, 4096}) {
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
      for (const std::int64_t tokens : {1, 2, 4, 8, 16, 32}) {
        StepRow row{.cell = {.model = asked.model, .dtype = "fp16", .batch = batch, .tokens = tokens}, .timing = {}};
        row.cell.context = context;
        const double us = 100.0 + static_cast<double>(batch * tokens) + 0.01 * static_cast<double>(batch * context);
        row.timing.summary = {.samples = 9, .median_us = us, .median_ci95_us = {us, us}};
        profile.steps.push_back(row);
      }
    }
  }
  return profile;
}

void ask(benchmark::State& state, const Profile& profile) {
  const CostSurface surface(profile, model_registry(), asked);
  std::vector<ForwardPassPoint> points;
  for (std::int64_t i = 0; i < 4096; ++i) points.push_back({1 + i % 61, 1 + i % 31, 130 + i % 3900});
  for (auto _ : state) {
    for (const ForwardPassPoint& point : points) benchmark::DoNotOptimize(surface.at(point));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(points.size()));
}

void BM_surface_table(benchmark::State& state) { ask(state, with_table()); }
void BM_surface_fit(benchmark::State& state) { ask(state, with_fit()); }
void BM_surface_roofline(benchmark::State& state) { ask(state, with_limits()); }

BENCHMARK(BM_surface_table);
BENCHMARK(BM_surface_fit);
BENCHMARK(BM_surface_roofline);

}  // namespace
}  // namespace foredraft::latency
