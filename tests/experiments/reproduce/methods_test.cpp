// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "analytic/cost/overlapped_drafting.hpp"
#include "experiments/reproduce/paper_formulas.hpp"
#include "experiments/reproduce/registry.hpp"
#include "foredraft/overlap.hpp"
#include "tests/experiments/reproduce/reproduced.hpp"

namespace foredraft::experiments {

TEST_CASE("of two drafts block verification accepts 11/9, token by token 10/9, and nothing over 12/9") {
  const ExperimentResult result = tests::reproduced("block-rule-example");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 3);
  CHECK(tests::row_of(result, "token by token", "accepted_ninths").ours.value() == Approx(10.0).epsilon(1e-12));
  CHECK(tests::row_of(result, "block", "accepted_ninths").ours.value() == Approx(11.0).epsilon(1e-12));
  CHECK(tests::row_of(result, "block with every joint probability known", "accepted_ninths").ours.value() ==
        Approx(12.0).epsilon(1e-12));
}

TEST_CASE("the printed gains and averages of block verification follow from its printed efficiencies") {
  const ExperimentResult result = tests::reproduced("block-rule-table1");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 8 * 2 + 6);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  CHECK(tests::row_of(result, "LM1B", "efficiency_gain_percent").ours.value() == Approx(100.0 * (3.49 / 3.21 - 1.0)));
  CHECK(tests::row_of(result, "LM1B", "block_speed_x").ours.value() == Approx(2.17 * 3.49 / 3.21));
}

TEST_CASE("one acceptance rate explains token by token at draft lengths of 4, 6 and 8") {
  const ExperimentResult result = tests::reproduced("block-rule-lengths");
  for (const char* length : {"gamma=4", "gamma=6"}) {
    const ScorecardRow& row = tests::row_of(result, length, "token_efficiency");
    CHECK(row.kind == Kind::predicted);
    CHECK(row.ours_interval->low <= row.published->rounding.high);
    CHECK(row.ours_interval->high >= row.published->rounding.low);
  }
  // A synthetic pair whose spread fits the gain at gamma 4 is within 2 % of the others.
  for (const char* length : {"gamma=4", "gamma=6", "gamma=8"}) {
    const ScorecardRow& row = tests::row_of(result, length, "block_efficiency");
    CHECK(row.kind == (std::string_view(length) == "gamma=4" ? Kind::fitted : Kind::simulated));
    CHECK(std::abs(row.ours.value() / row.published->value - 1.0) < 0.02);
  }
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 3);
}

TEST_CASE("SpecTr's printed gain is that of its tokens at equal iterations") {
  const ExperimentResult result = tests::reproduced("spectr");
  const ScorecardRow& gain = tests::row_of(result, "SpecTr drafts=8 gamma=8", "gain_x");
  CHECK(gain.ours.value() == Approx(4.0 / 2.9));
  CHECK(gain.ours_interval->low < 1.37);
  CHECK(gain.ours_interval->high > 1.37);
}

TEST_CASE(
    "EAGLE-2's printed means follow from six tasks with one exception, and speeds from the iteration time of one "
    "task") {
  const ExperimentResult result = tests::reproduced("eagle2-table1");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 63);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::finding) == 1);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  CHECK(tests::row_of(result, "temperature=1 V 13B SpS", "mean_x").verdict == Verdict::finding);
  const ScorecardRow& humaneval = tests::row_of(result, "temperature=0 V 13B EAGLE-2", "humaneval_x");
  CHECK(humaneval.ours.value() == Approx(5.41 * 4.26 / 4.83));
  // Every prediction is within 13 % of what was measured.
  for (const ScorecardRow& row : result.rows) {
    if (row.kind != Kind::predicted) continue;
    CAPTURE(row.row, row.column);
    CHECK(std::abs(row.ours.value() / row.published->value - 1.0) < 0.13);
  }
}

TEST_CASE("tokens of PEARL's engine follow from its tokens between rejections and one window a pair of models") {
  const ExperimentResult result = tests::reproduced("pearl-engine");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 24 * 3);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  CHECK(tests::rows_with(result, Kind::fitted, Verdict::shown) == 6);
  for (const ScorecardRow& row : result.rows) {
    if (row.kind != Kind::predicted || row.column != "pearl_tokens") continue;
    CAPTURE(row.row);
    CHECK(std::abs(row.ours.value() / row.published->value - 1.0) < 0.11);
  }
  // By hand, of alpha 1/2 and window 2: pi = 1/2 / (1/2 + 3/4) = 2/5 of the stages emit 1.5 tokens, the others one.
  CHECK(paper_formula("pearl_tokens_per_stage")({0.5, 2.0}) == Approx(1.2));
  CHECK(paper_formula("pearl_gamma")({0.5, 1.2}) == 2.0);
}

TEST_CASE("DSI's example counts the tokens of its latencies, and its worst case of speculation has two too many") {
  const ExperimentResult result = tests::reproduced("dsi-example");
  CHECK(tests::rows_with(result, Kind::exact, Verdict::pass) == 28);
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  for (const char* point : {"t3", "t4"}) {
    const ScorecardRow& row = tests::row_of(result, std::string("worst case SI ") + point, "tokens");
    CHECK(row.verdict == Verdict::finding);
    CHECK(row.ours.value() == row.published->value - 1.0);
  }
  // Between two late times of the example the rate of tokens is that of the closed form.
  const double rate = (tests::row_of(result, "best case DSI t4", "tokens").ours.value() -
                       tests::row_of(result, "best case DSI t2", "tokens").ours.value()) /
                      (64.0 - 32.0);
  CHECK(7.0 * rate == Approx(analytic::speedup({.schedule = Overlap::dsi, .alpha = 1.0, .gamma = 1, .c = 1.0 / 7.0})));
}

TEST_CASE("claims of the abstracts on block verification and EAGLE-2 are compared with their tables") {
  const ExperimentResult result = tests::reproduced("methods-claims");
  const auto row = [&](std::string_view claim) -> const ScorecardRow& { return tests::row_of(result, claim, "value"); };
  CHECK(row("Sun2025 wall clock gain of block verification at least").ours.value() == Approx(5.36));
  CHECK(row("Sun2025 wall clock gain of block verification at most").verdict == Verdict::pass);
  CHECK(row("Li2024eagle2 EAGLE-2 accelerates MT-bench by at most").verdict == Verdict::pass);
  CHECK(row("Li2024eagle2 EAGLE-2 faster than EAGLE by at most").ours.value() == Approx(100.0 * (3.80 / 2.32 - 1.0)));
  CHECK(tests::rows_with(result, Kind::exact, Verdict::fail) == 0);
  CHECK(tests::rows_with(result, Kind::out_of_reach, Verdict::shown) == 4);
  CHECK(row("Li2024eagle2 EAGLE-2 faster than EAGLE by at least").ours.value() == Approx(100.0 * (3.43 / 2.78 - 1.0)));
}

}  // namespace foredraft::experiments
