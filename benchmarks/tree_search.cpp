// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <vector>

/// Token trees per second, for the accuracies of the baseline: 32 candidates per depth, the best accepted with
/// probability 0.63, each next with 0.35 times that of the one before. Its ten levels include the root: nine drafted
/// tokens deep. Budgets: 128 nodes below 10 ms, 1,024 below 100 ms.
namespace foredraft::analytic {
namespace {

HeadAccuracies baseline_accuracies(std::int64_t depth) {
  std::vector<double> row;
  for (int i = 0; i < 32; ++i) row.push_back(0.63 * std::pow(0.35, i));
  return HeadAccuracies(std::vector<std::vector<double>>(static_cast<std::size_t>(depth), row));
}

void BM_tree_greedy(benchmark::State& state) {
  const HeadAccuracies accuracies = baseline_accuracies(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(greedy_tree(accuracies, {state.range(0), state.range(1)}));
  state.SetItemsProcessed(state.iterations());
}

/// The baseline's search: the optimum for every size and depth up to the budget, and the last tree.
void BM_tree_program(benchmark::State& state) {
  const HeadAccuracies accuracies = baseline_accuracies(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(dynamic_program_tree(accuracies, {state.range(0), state.range(1)}));
  state.SetItemsProcessed(state.iterations());
}

/// Optimal size and depth for a cost that grows with both.
void BM_tree_priced(benchmark::State& state) {
  const HeadAccuracies accuracies = baseline_accuracies(state.range(1));
  const std::vector<double> verification = linear_verification(state.range(0), 0.002);
  const TreeCost cost{.verification = verification, .c = 0.02, .drafting = Drafting::autoregressive};
  for (auto _ : state) {
    benchmark::DoNotOptimize(best_priced_tree(accuracies, {state.range(0), state.range(1)}, cost));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(BM_tree_greedy)->Args({128, 9})->Args({1024, 9});
BENCHMARK(BM_tree_program)->Args({128, 9})->Args({1024, 9});
BENCHMARK(BM_tree_priced)->Args({1024, 9});

}  // namespace
}  // namespace foredraft::analytic
