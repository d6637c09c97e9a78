// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/files.hpp"
#include "experiments/sweep/point.hpp"
#include "inputs/table_reader.hpp"

/// Sweep points per second of one core in total: expansion, simulation of five sequences of 1,000 tokens, closed form
/// by the renewal sum, estimates, row, file. Budget: 5e4.
namespace foredraft::experiments {

namespace {

constexpr const char* config_text = R"(
schema = "foredraft.sweep/1"
[axes]
alpha = [0.5, 0.6, 0.7, 0.8, 0.9]
gamma = { from = 1, to = 10 }
c     = { from = 0.01, to = 1.0, step = 0.01 }
[fixed]
sequence_length = 1000
[simulation]
sequences = 5
seed = 1
)";

void BM_small_sweep(benchmark::State& state) {
  const SweepConfig config = read_sweep_config(inputs::parse_toml(config_text, "small_sweep"), "small_sweep");
  const PointRange all{0, point_count(config)};
  std::string path = "/tmp/foredraft_small_sweep_XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) {
    state.SkipWithError("no temporary file");
    return;
  }
  for (auto _ : state) {
    AppendFile file(path);
    file.truncate(0);
    inputs::Inputs inputs;
    run_points(config, all, 1, inputs,
               {.write = [&](std::string_view rows, std::uint64_t /*points*/) { file.append(rows); },
                .progress = [](double /*points*/) {},
                .stop = nullptr});
  }
  std::remove(path.c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.last));
}
BENCHMARK(BM_small_sweep)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foredraft::experiments
