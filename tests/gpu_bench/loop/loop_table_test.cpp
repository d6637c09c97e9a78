// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_table.hpp"

#include <catch2/catch.hpp>

#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench {
namespace {

LoopCell table_cell() {
  return {.target = "t5-base",
          .drafter = "t5-small",
          .drafting = latency::Role::block_drafting,
          .dtype = "bf16",
          .launch = latency::Launch::eager,
          .gamma = 7,
          .alpha = 0.1 + 0.2,
          .batch = 3,
          .context = 192};
}

}  // namespace

TEST_CASE("cells and rows are read back from their files to the last bit") {
  const std::vector<LoopCell> cells{table_cell(), LoopCell{.target = "a", .drafter = "b", .dtype = "fp32"}};
  CHECK(read_loop_cells(loop_cells_csv(cells), "cells.csv") == cells);

  const LoopRow once{.cell = table_cell(),
                     .plain = {.samples = 20, .median_us = 1.0 / 3.0, .median_ci95_us = {0.3, 0.4}},
                     .iteration = {.samples = 21, .median_us = 7.25, .median_ci95_us = {7.0, 7.5}},
                     .tokens_per_iteration = 2.5};
  LoopRow twice = once;
  twice.between_runs = 0.01;
  const std::string csv = loop_rows_csv({once, twice});
  const std::vector<LoopRow> rows = read_loop_rows(csv, "rows.csv");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].cell == once.cell);
  CHECK(rows[0].plain.median_us == once.plain.median_us);
  CHECK(rows[0].iteration.median_ci95_us.high == 7.5);
  CHECK(rows[0].iteration.samples == 21);
  CHECK(!rows[0].between_runs);
  CHECK(rows[1].between_runs == 0.01);
  CHECK(loop_rows_csv(rows) == csv);
}

TEST_CASE("an invalid file of cells is rejected with its line") {
  const std::string csv = loop_cells_csv({table_cell()});
  const auto problem = [](const std::string& text) -> std::string {
    return rejection<DomainError>([&] { return read_loop_cells(text, "cells.csv"); });
  };
  CHECK(problem("") == "cells.csv:1: wrong columns");
  CHECK(problem(loop_cells_csv({}) + "a,b,decoder_pass,fp32,graph,1,0.5,1,0\n") ==
        "cells.csv:2: invalid drafting=\"decoder_pass\"");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,1x,0.5,1,0\n") == "cells.csv:3: invalid gamma=\"1x\"");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,1,0.5,1\n") == "cells.csv:3: invalid context=\"\"");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,1,0.5,1,0,9\n") == "cells.csv:3: more cells than columns");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,1,0.5,-1,0\n") == "cells.csv:3: invalid batch=\"-1\"");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,9223372036854775808,0.5,1,0\n") ==
        "cells.csv:3: invalid gamma=\"9223372036854775808\"");
  CHECK(problem(csv + "a,b,block_drafting,fp32,graph,1,nan,1,0\n") == "cells.csv:3: invalid alpha=\"nan\"");
  CHECK(problem(csv + std::string(1'048'577, 'a')).starts_with("cells.csv:3: a line of 1048577 bytes"));
  CHECK(problem(csv).empty());
}

}  // namespace foredraft::gpu_bench
