// SPDX-License-Identifier: Apache-2.0
#include "analytic/draft_length/best_gamma.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

/// Optimal draft lengths per second. Budget: 5e7 per core for alpha in 0.05 to 0.95, c in 0.01 to 0.5.
namespace foredraft::analytic {
namespace {

// Too many for a branch predictor to learn.
constexpr std::size_t setting_count = 65536;

std::vector<IidSetting> settings(Convention convention, double smallest_alpha, double largest_alpha, double smallest_c,
                                 double largest_c) {
  std::mt19937_64 bits(1);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11U) * 0x1.0p-53;
  };
  std::vector<IidSetting> result;
  result.reserve(setting_count);
  while (result.size() < setting_count) {
    result.push_back({.alpha = uniform(smallest_alpha, largest_alpha),
                      .c = uniform(smallest_c, largest_c),
                      .convention = convention,
                      .drafting = Drafting::autoregressive});
  }
  return result;
}

void measure(benchmark::State& state, const std::vector<IidSetting>& work) {
  for (auto _ : state) {
    for (const IidSetting& setting : work) benchmark::DoNotOptimize(best_gamma(setting));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(setting_count));
}

void BM_best_gamma(benchmark::State& state) { measure(state, settings(Convention::bonus, 0.05, 0.95, 0.01, 0.5)); }

void BM_best_gamma_no_bonus(benchmark::State& state) {
  measure(state, settings(Convention::no_bonus, 0.05, 0.95, 0.01, 0.5));
}

/// Optima of hundreds and thousands of drafts, by the real-valued optimum.
void BM_best_gamma_long(benchmark::State& state) {
  measure(state, settings(Convention::bonus, 0.9999, 1.0, 1e-6, 1e-2));
}

BENCHMARK(BM_best_gamma);
BENCHMARK(BM_best_gamma_no_bonus);
BENCHMARK(BM_best_gamma_long);

}  // namespace
}  // namespace foredraft::analytic
