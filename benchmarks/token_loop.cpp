// SPDX-License-Identifier: Apache-2.0
// Speed of token fidelity with a real vocabulary: iterations per second of one core. Compare with
// baselines/vocab_rejection_numpy.py.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/rules.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"

namespace {

using namespace foredraft;

/// V = 32,000, gamma 5, 64 contexts, logits of standard deviation 2, alpha 0.8: the setting of the baseline.
Scenario scenario_of(Contexts contexts, const Rule& rule = RejectionSampling{}) {
  return {.fidelity = TokenFidelity{.rule = rule,
                                    .models = SyntheticModels{.target = TargetDistribution::gaussian_logits,
                                                              .parameter = 2.0,
                                                              .vocabulary = 32'000,
                                                              .draft = DraftDistribution::noise,
                                                              .alpha = 0.8,
                                                              .pool = 64,
                                                              .contexts = contexts}},
          .gamma = 5};
}

constexpr std::uint64_t endless = std::uint64_t{1} << 34U;  // iterations, more than are timed

void run_blocks(benchmark::State& state, const Scenario& scenario) {
  const std::unique_ptr<sim::Simulator> simulator = sim::make_simulator(scenario, {.iterations = endless, .seed = 1});
  sim::Tally tally;
  std::uint64_t block = 0;
  for (auto _ : state) tally.merge(simulator->run_block({.seed = 1, .point = 0}, block++));
  state.SetItemsProcessed(tally.units.count());
  state.counters["tokens/iteration"] = sim::tokens_per_iteration(tally).mean;
}

void BM_token_pooled(benchmark::State& state) { run_blocks(state, scenario_of(Contexts::pooled)); }
void BM_token_fresh(benchmark::State& state) { run_blocks(state, scenario_of(Contexts::fresh)); }

void BM_token_prepare_pool(benchmark::State& state) {
  std::uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        sim::make_simulator(scenario_of(Contexts::pooled), {.iterations = endless, .seed = seed++}));
  }
}

/// Every rule with its default parameters, in pooled contexts: none may take three times the time of
/// rejection_sampling. Several candidates also without replacement and with more of them.
[[maybe_unused]] const bool rules_registered = [] {
  const auto add = [](const std::string& name, const Rule& rule) {
    benchmark::RegisterBenchmark(("BM_token_rule/" + name).c_str(), [rule](benchmark::State& state) {
      run_blocks(state, scenario_of(Contexts::pooled, rule));
    })->UseRealTime();
  };
  for (const scenario::RuleMember& entry : scenario::rules()) add(std::string(entry.name), entry.value);
  add("multi_candidate_distinct", MultiCandidate{.replacement = false});
  add("multi_candidate_4", MultiCandidate{.candidates = 4});
  add("multi_candidate_4_distinct", MultiCandidate{.candidates = 4, .replacement = false});
  return true;
}();

}  // namespace

BENCHMARK(BM_token_pooled)->UseRealTime();
BENCHMARK(BM_token_fresh)->UseRealTime();
BENCHMARK(BM_token_prepare_pool)->Unit(benchmark::kMillisecond)->UseRealTime();
