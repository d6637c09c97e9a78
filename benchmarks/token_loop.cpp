// The token fidelity at the size of a real vocabulary: how many iterations a second does one core run? The rows beside
// it are those of baselines/vocab_rejection_numpy.py.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "sim/estimates.hpp"
#include "sim/token/token_simulation.hpp"

namespace {

using namespace foredraft;

/// V = 32,000, gamma 5, 64 contexts, logits of standard deviation 2, alpha 0.8: the setting of the baseline.
sim::TokenSimulation simulation(sim::Contexts contexts) {
  return {.models = sim::SyntheticPair{.target = sim::TargetLaw::gaussian_logits,
                                       .parameter = 2.0,
                                       .vocabulary = 32'000,
                                       .draft = sim::DraftLaw::noise,
                                       .alpha = 0.8,
                                       .pool = 64},
          .rule = "rejection_sampling",
          .rule_parameters = {},
          .temperature = 1.0,
          .gamma = 5,
          .convention = Convention::bonus,
          .drafting = Drafting::autoregressive,
          .contexts = contexts,
          .iterations = std::uint64_t{1} << 34U};
}

void run_blocks(benchmark::State& state, sim::Contexts contexts) {
  const std::unique_ptr<sim::Simulator> simulator = sim::make_token_simulator(simulation(contexts), 1);
  sim::Tally tally;
  std::uint64_t block = 0;
  for (auto _ : state) tally.merge(simulator->run_block({.seed = 1, .point = 0}, block++));
  state.SetItemsProcessed(tally.units.count());
  state.counters["tokens/iteration"] = sim::tokens_per_iteration(tally).mean;
}

void BM_token_pooled(benchmark::State& state) { run_blocks(state, sim::Contexts::pooled); }
void BM_token_fresh(benchmark::State& state) { run_blocks(state, sim::Contexts::fresh); }

void BM_token_prepare_pool(benchmark::State& state) {
  std::uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sim::make_token_simulator(simulation(sim::Contexts::pooled), seed++));
  }
}

}  // namespace

BENCHMARK(BM_token_pooled)->UseRealTime();
BENCHMARK(BM_token_fresh)->UseRealTime();
BENCHMARK(BM_token_prepare_pool)->Unit(benchmark::kMillisecond)->UseRealTime();
