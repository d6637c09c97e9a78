// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "logs/table_shapes.hpp"
#include "tests/logs/logs_testing.hpp"

/// What sentences, options and names of containers above runs say of them.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::load_in_caption;
using logs::LogContents;
using logs::Observation;

/// The only run at a load.
const Observation& run_at(const LogContents& read, double load, Decoding decoding) {
  const auto is = [&](const Observation& one) { return one.concurrency == load && one.decoding == decoding; };
  REQUIRE(std::ranges::count_if(read.observations, is) == 1);
  return *std::ranges::find_if(read.observations, is);
}

}  // namespace

TEST_CASE("a batch is the load, if the line above says nothing else of it") {
  CHECK(load_in_caption("One card, batch 4, 5 runs each.") == "4");
  CHECK(load_in_caption("Batch 16: tokens/s") == "16");
  CHECK(load_in_caption("Results (batch 2)") == "2");
  CHECK_FALSE(load_in_caption("One card, batch 1, 4 and 8"));
  CHECK_FALSE(load_in_caption("One card, batch 1/8"));
  CHECK_FALSE(load_in_caption("batch 3 of 10 arrived"));
  const LogContents read = read_log(
      "EAGLE-3 on one card, batch 1, 2 runs each.\n\n| K | tok/s |\n|---|---|\n| baseline | 50 |\n| 3 | 90 |\n");
  CHECK(run_at(read, 1.0, Decoding::plain).times.tpot_ms == 20.0);
}

TEST_CASE("settings of bench_speculative.py are compared with its run without steps") {
  const auto line = [](int batch, int steps, int topk, int tokens, double length, double seconds) {
    return fmt::format(
        R"({{"batch_size": {}, "steps": {}, "topk": {}, "num_draft_tokens": {}, "acc_length": {}, "step_time": {}, "speed": {}, "completion_tokens": 64.0}})"
        "\n",
        batch, steps, topk, tokens, length, seconds, length / seconds);
  };
  const LogContents read = read_log(line(1, 0, 0, 0, 1.0, 0.01) + line(1, 3, 1, 4, 2.5, 0.0125) +
                                    line(1, 4, 8, 16, 3.2, 0.02) + line(1, 4, 8, 32, 3.5, 0.025));
  REQUIRE(read.observations.size() == 4);
  CHECK(run_at(read, 1.0, Decoding::plain).times.tpot_ms == 10.0);
  CHECK(read.observations[1].gamma == 3);
  CHECK_FALSE(read.observations[1].drafter);
  CHECK(read.observations[1].times.iteration_ms == 12.5);
  CHECK(read.observations[1].times.tpot_ms == 5.0);
  CHECK_FALSE(read.observations[2].gamma);
  CHECK(read.observations[2].drafter == "4 steps, topk 8, 16 draft tokens");
  CHECK(read.observations[3].drafter == "4 steps, topk 8, 32 draft tokens");
}

}  // namespace foredraft::tests
