// SPDX-License-Identifier: Apache-2.0
// Speed of process fidelity: iterations, or sweep points, per second of one thread. The same work in numpy:
// baselines/alpha_loop_numpy.py.
#include <benchmark/benchmark.h>

#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/estimates.hpp"
#include "sim/process/kernels.hpp"
#include "sim/simulate.hpp"

namespace foredraft::sim {
namespace {

constexpr RunKey key{.seed = 1, .point = 0};

void run_iterations(benchmark::State& state, const AcceptanceProcess& process, std::int64_t gamma,
                    std::uint64_t iterations, Path path) {
  const auto simulator = make_simulator({.fidelity = ProcessFidelity{.acceptance = process}, .gamma = gamma},
                                        {.iterations = iterations, .path = path});
  RunKey next = key;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run(*simulator, next, 1));
    ++next.point;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(iterations));
  state.SetLabel(std::string(instruction_set()));
}

constexpr std::uint64_t many = 10'000'000;

void BM_process_fast(benchmark::State& state) {
  run_iterations(state, Iid{.alpha = 0.8}, state.range(0), many, Path::fast);
}
BENCHMARK(BM_process_fast)->ArgName("gamma")->Arg(5)->Arg(10)->Arg(64)->Unit(benchmark::kMillisecond);

void BM_process_fast_positional(benchmark::State& state) {
  const Positional process{.conditional = {0.9, 0.85, 0.8, 0.75, 0.7}};
  run_iterations(state, process, 5, many, Path::fast);
}
BENCHMARK(BM_process_fast_positional)->Unit(benchmark::kMillisecond);

void BM_process_reference(benchmark::State& state) {
  run_iterations(state, Iid{.alpha = 0.8}, state.range(0), many, Path::reference);
}
BENCHMARK(BM_process_reference)->ArgName("gamma")->Arg(5)->Arg(10)->Arg(64)->Unit(benchmark::kMillisecond);

void BM_process_markov(benchmark::State& state) {
  const Path path = state.range(0) == 0 ? Path::reference : Path::fast;
  run_iterations(state, Markov{.a = 0.9, .b = 0.4}, 5, many / 10, path);
}
BENCHMARK(BM_process_markov)->ArgName("fast")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_process_beta_reference(benchmark::State& state) {
  run_iterations(state, BetaMixture{.a = 4.0, .b = 1.0}, 5, many / 100, Path::reference);
}
BENCHMARK(BM_process_beta_reference)->Unit(benchmark::kMillisecond);

/// A whole point of a small sweep: five sequences of 1,000 tokens, from the parameters to the estimates.
void BM_small_sweep_point(benchmark::State& state) {
  const Scenario scenario{
      .fidelity = ProcessFidelity{.acceptance = Iid{.alpha = 0.8}, .sequence_length = SequenceLength{.tokens = 1000.0}},
      .gamma = 5};
  RunKey next = key;
  for (auto _ : state) {
    const Tally tally = run(*make_simulator(scenario, {.sequences = 5}), next, 1);
    benchmark::DoNotOptimize(tokens_per_iteration(tally));
    benchmark::DoNotOptimize(speedup(tally, constant_ratio(0.05)));
    benchmark::DoNotOptimize(acceptance(tally));
    ++next.point;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_small_sweep_point)->Unit(benchmark::kMicrosecond);

/// The environment selects the instruction set, for the benchmark as for the program.
const bool selected = [] {
  select_instruction_set_from_environment();
  return true;
}();

}  // namespace
}  // namespace foredraft::sim
