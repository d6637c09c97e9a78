// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_loop.hpp"

#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::gpu_bench {
namespace {

LoopCell tiny_loop(latency::Role drafting, std::int64_t gamma, double alpha, std::int64_t batch) {
  return {.target = "tiny-target",
          .drafter = drafting == latency::Role::head_drafting ? "tiny-target" : "tiny-drafter",
          .drafting = drafting,
          .dtype = "fp32",
          .launch = latency::Launch::eager,
          .gamma = gamma,
          .alpha = alpha,
          .batch = batch,
          .context = 12};
}

LoopResult run_on_cpu(
    const std::vector<LoopCell>& cells, unsigned threads, double budget_s,
    const std::function<void()>& before_step = [] {}) {
  CpuLoop loop(latency::model_registry(), threads, before_step);
  // A clock that counts its readings, so that a slow machine omits no cell.
  const auto now_s = [looks = 0.0]() mutable { return 5e-4 * ++looks; };
  const LoopDevice device{.side_of = [&](const LoopCell& cell) { return loop.side_of(cell); }, .now_s = now_s};
  return run_loop(
      cells, budget_s, device, [](const auto&) {}, [](const std::string&) {});
}

}  // namespace

TEST_CASE("a loop on the CPU drafts, verifies and emits its forced tokens, for every way of drafting") {
  // run_loop rejects anything except the accepted drafts and one token, so its results are correct.
  std::vector<LoopCell> cells;
  for (const latency::Role drafting :
       {latency::Role::autoregressive_drafting, latency::Role::block_drafting, latency::Role::head_drafting}) {
    cells.push_back(tiny_loop(drafting, 3, 0.7, 2));
  }
  const LoopResult result = run_on_cpu(cells, 1, 0.1);
  for (const latency::Missing& missing : result.missing) FAIL_CHECK(missing.what << ": " << missing.why);
  REQUIRE(result.rows.size() == cells.size());
  for (const LoopRow& row : result.rows) {
    CHECK(row.plain.median_us > 0.0);
    CHECK(row.iteration.median_us > 0.0);
    CHECK(row.tokens_per_iteration > 1.0);
    CHECK(row.between_runs);
  }
}

TEST_CASE("tokens of a loop do not depend on the number of threads, and iterations differ") {
  const LoopCell cell = tiny_loop(latency::Role::autoregressive_drafting, 3, 0.5, 2);
  std::vector<std::vector<std::int32_t>> first;
  for (const unsigned threads : {1U, 2U}) {
    CpuLoop loop(latency::model_registry(), threads, [] {});
    const LoopSide side = loop.side_of(cell);
    const std::vector<std::int32_t> accepted{1, 3};
    std::vector<std::vector<std::int32_t>> emitted;
    for (int i = 0; i < 3; ++i) {
      const IterationTaken taken = side.iterate(accepted);
      emitted.emplace_back(taken.tokens.begin(), taken.tokens.end());
    }
    CHECK(emitted[0] != emitted[1]);
    CHECK(emitted[1] != emitted[2]);
    if (first.empty()) first = emitted;
    CHECK(emitted == first);
  }
}

TEST_CASE("unsupported passes are rejected, and an interrupt ends a loop between two steps") {
  LoopCell half = tiny_loop(latency::Role::autoregressive_drafting, 2, 0.5, 1);
  half.dtype = "fp16";
  LoopCell other_vocabulary = tiny_loop(latency::Role::autoregressive_drafting, 2, 0.5, 1);
  other_vocabulary.drafter = "t5-small";
  const LoopResult rejected = run_on_cpu({half, other_vocabulary}, 1, 0.2);
  REQUIRE(rejected.missing.size() == 2);
  CHECK_THAT(rejected.missing[0].why, Catch::Contains("fp32"));
  CHECK_THAT(rejected.missing[1].why, Catch::Contains("one vocabulary"));

  int steps = 0;
  const LoopResult interrupted =
      run_on_cpu({tiny_loop(latency::Role::autoregressive_drafting, 2, 0.5, 1)}, 1, 60.0, [&steps] {
        if (++steps > 5) throw Interrupted();
      });
  CHECK(interrupted.end == MeasureEnd::interrupted);
  CHECK(steps == 6);
}

}  // namespace foredraft::gpu_bench
