// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Tables whose arms are in columns.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("a column of speedups says whether the cells of two arms are speeds or times") {
  const auto table = [](const char* cells) {
    return std::string("| tokens | Baseline | MTP | Speedup | accept |\n|---|---|---|---|---|\n| 256 | ") + cells +
           " | 70 % |\n";
  };
  const auto speeds = posted_runs(table("50 | 80 | **1.60x**"), "table");
  REQUIRE(speeds.size() == 2);
  CHECK(speeds[0].decoding == Decoding::plain);
  CHECK(speeds[0].times.tpot_ms == near(20.0));
  CHECK(speeds[1].times.tpot_ms == near(12.5));
  CHECK(posted_runs(table("80 | 50 | 1.60x"), "table").at(0).times.tpot_ms == 80.0);
  for (const char* other : {"50 | 80 | 1.30x", "50 | 51 | 1.02x"}) {
    CAPTURE(other);
    CHECK(problem(table(other)).find("Baseline") != std::string::npos);
  }
}

TEST_CASE("a column that adds a drafter or a second model to another one drafts") {
  const auto metrics = [](const std::string& target, const std::string& added) {
    return "| Metric | " + target + " | " + added + " | % Difference |\n|:---|---:|---:|---:|\n" +
           "| Mean TPOT (ms) | 40 | 25 | -37.5 |\n| Peak memory (GiB) | 20 | 22 | 10.0 |\n";
  };
  for (const std::string added : {" + 0.6B Q8", " + small-1B", " + MTP", " w/ EAGLE3", " + a draft model"}) {
    CAPTURE(added);
    const auto runs = posted_runs(metrics("GPU 32B Q4", "GPU 32B Q4" + added), "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == 40.0);
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].times.tpot_ms == 25.0);
  }
  const auto several = posted_runs(
      "| prompt | 70B | 70B + 1B | 70B + 3B |\n|---|---|---|---|\n| code | 20 t/s | 30 t/s | 32 t/s |\n", "table");
  REQUIRE(several.size() == 3);
  CHECK(several[0].decoding == Decoding::plain);
  CHECK(several[1].drafter != several[2].drafter);
  // The third column adds to another model, which has no column.
  CHECK(
      posted_runs("| Metric | 32B | 32B + 1B | 14B + 1B |\n|---|---|---|---|\n| TPOT (ms) | 40 | 25 | 15 |\n", "table")
          .size() == 2);
  // What is added is no drafter, or it is added to something else.
  for (const std::string& other :
       {metrics("GPU 32B", "GPU 32B + FA"), metrics("GPU 32B", "GPU 14B + 0.6B"), metrics("GPU", "GPU + second GPU")}) {
    CAPTURE(other);
    try {
      for (const auto& run : read_log(other).observations) CHECK(run.decoding != Decoding::speculative);
    } catch (const InputError&) {
      CHECK(true);
    }
  }
}

TEST_CASE("columns that name an arm and what was measured are runs, a shared acceptance is that of the drafts") {
  const std::string table =
      "| prompt | baseline tok/s | MTP K=3 tok/s | speedup | acceptance |\n|---|---|---|---|---|\n"
      "| code | 40.0 | **72.0** | 1.8x | 70 % |\n| prose | 40.0 | 44.0 | 1.1x | 30 % |\n";
  const auto runs = posted_runs(table, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(25.0));
  CHECK(runs[0].stratum.category == "code");
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].drafter == "mtp");
  CHECK(runs[1].acceptance_length == near(3.1));
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 72.0));
  CHECK(runs[3].stratum.category == "prose");
  CHECK(runs[3].line == 4);
}

TEST_CASE("a shorter name of an arm is the one that goes on, unless several do") {
  const auto runs =
      posted_runs("| plain t/s | MTP n=2 t/s | MTP acceptance |\n|---|---|---|\n| 50 | 80 | 0.75 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].acceptance_length == near(2.5));
  const auto several = posted_runs(
      "| plain t/s | MTP n=2 t/s | MTP n=4 t/s | MTP acceptance |\n|---|---|---|---|\n| 50 | 80 | 85 | 0.75 |\n",
      "table");
  REQUIRE(several.size() >= 3);
  CHECK_FALSE(several[1].acceptance_length);
}

TEST_CASE("STP, one token a step, is the plain arm") {
  for (const std::string table :
       {"| conc | STP tok/s/user | MTP tok/s/user |\n|---|---|---|\n| 1 | 40.0 | 60.0 |\n",
        "| conc | arm | tok/s/user |\n|---|---|---|\n| 1 | stp | 40.0 |\n| 1 | mtp | 60.0 |\n",
        "| conc | arm | tok/s/user |\n|---|---|---|\n| 1 | fp8-stp | 40.0 |\n| 1 | fp8-mtp | 60.0 |\n"}) {
    CAPTURE(table);
    const auto runs = posted_runs(table, "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(25.0));
    CHECK(runs[1].decoding == Decoding::speculative);
  }
}

TEST_CASE("brackets in brackets, and around a draft length") {
  for (const std::string head : {"baseline tok/s | EAGLE3 (K=3) tok/s", "baseline (tok/s) | spec (3) (tok/s)",
                                 "tok/s (plain) | tok/s (MTP (K=3))"}) {
    CAPTURE(head);
    const auto runs = posted_runs("| c | " + head + " |\n|---|---|---|\n| 1 | 20.0 | 30.0 |\n", "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == logs::Decoding::plain);
    CHECK(runs[1].gamma == 3);
    CHECK(runs[1].times.tpot_ms == near(1000.0 / 30.0));
  }
  const auto times =
      posted_runs("| c | off (TPOT (ms)) | MTP (TPOT (ms)) |\n|---|---|---|\n| 1 | 50 | 40 |\n", "table");
  REQUIRE(times.size() == 2);
  CHECK(times[1].times.tpot_ms == near(40.0));
}

TEST_CASE("an arm after what was measured or in brackets, at several loads") {
  for (const std::string table : {"c,total tok/s (plain),total tok/s (K=2)\n1,50,80\n8,300,330\n",
                                  "c;plain (total tok/s);MTP K=2 (total tok/s)\n1;50;80\n8;300;330\n",
                                  "c\ttotal tok/s plain\ttotal tok/s K=2\n1\t50\t80\n8\t300\t330\n"}) {
    const auto runs = posted_runs(table, "table");
    REQUIRE(runs.size() == 4);
    CHECK(runs[2].decoding == Decoding::plain);
    CHECK(runs[2].concurrency == 8.0);
    CHECK(runs[2].times.output_tokens_per_s == 300.0);
    CHECK(runs[3].gamma == 2);
    CHECK(runs[3].times.output_tokens_per_s == 330.0);
  }
  const auto depths = posted_runs(
      "| K | off t/s | on t/s | AL |\n|---|---|---|---|\n| 2 | 30 | 45 | 2.1 |\n| 4 | 30 | 50 | 2.9 |\n", "table");
  REQUIRE(depths.size() == 4);
  CHECK(depths[0].decoding == Decoding::plain);
  CHECK_FALSE(depths[0].acceptance_length);
  CHECK(depths[1].gamma == 2);
  CHECK(depths[1].acceptance_length == 2.1);
  CHECK(depths[3].gamma == 4);
}

TEST_CASE("a table of what was measured by arm, with units in its cells") {
  const auto runs = posted_runs(
      "| Metric | Baseline | MTP (n=2) | Delta |\n|---|---|---|---|\n| Throughput | 20.0 tok/s | **40.0 tok/s** | "
      "+100% |\n"
      "| TTFT | ~0.5 s | ~600 ms | +100 ms |\n| Memory | ~55 GB | ~59 GB | +4 GB |\n| Acceptance length | N/A | 2.4 | "
      "- |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(50.0));
  CHECK(runs[0].times.ttft_ms == near(500.0));
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.ttft_ms == near(600.0));
  CHECK(runs[1].acceptance_length == 2.4);
  CHECK(runs[1].times.iteration_ms == near(60.0));
}

TEST_CASE("a column of gains in percent tells what the cells of arms are") {
  const auto speeds =
      posted_runs("| Model | Baseline | MTP | Speedup |\n|---|---|---|---|\n| a | 20 | 50 | +150% |\n", "table");
  REQUIRE(speeds.size() == 2);
  CHECK(speeds[0].times.tpot_ms == near(50.0));
  CHECK(speeds[1].times.tpot_ms == near(20.0));
}

TEST_CASE("prompts, peaks and speedups are no arms") {
  const auto runs = posted_runs(
      "| K | prompt tok/s | tok/s | peak tok/s | speedup (MTP) |\n|---|---|---|---|---|\n| 0 | 900 | 50 | 60 | 1 |\n| "
      "2 | 880 | 70 | 90 | 1.4 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 70.0));
  CHECK(problem("| Metric | Linux | Windows |\n|---|---|---|\n| Throughput | 20 | 30 |\n").find("no line") !=
        std::string::npos);
}

TEST_CASE("a line with a number or a time of day begins no table") {
  CHECK(problem("draft, 10:00:01, accept\n3, 10:00:02, 0.7\n2, 10:00:03, 0.8\n").find("no line of a known format") !=
        std::string::npos);
  CHECK(problem("draft, 12, accept\n3, 13, 0.7\n2, 14, 0.8\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("a column that others add to is plain, if their gains are over it") {
  const std::string table =
      "| Workload | my-branch | + MTP | int8 | + both |\n|---|---|---|---|---|\n| a | 50.0 tok/s | 75.0 (+50%) | 55 "
      "(+10%) | 90 (+80%) |\n| b | 40.0 | 30.0 (-25%) | 44 (+10%) | 50 (+25%) |\n";
  const auto runs = posted_runs(table, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].stratum.category == "a");
  CHECK(runs[1].drafter == "mtp");
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 75.0));
  CHECK(runs[3].times.tpot_ms == near(1000.0 / 30.0));
}

TEST_CASE("rows that are draft lengths over one plain run are no kinds of prompts") {
  const auto table = [](const char* second) {
    return std::string(
               "| | Baseline | With flag | n-max |\n|---|---|---|---|\n| here | 60 | 90 (+50%) | 2 |\n| there | ") +
           second + " | 4 |\n";
  };
  const auto runs = posted_runs(table("60 | 108 (+80%)"), "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[3].gamma == 4);
  CHECK_FALSE(runs[3].stratum.category);
  CHECK(posted_runs(table("50 | 90 (+80%)"), "table").at(3).stratum.category == "there");
}

TEST_CASE("a table of metrics with Chinese words") {
  const auto runs = posted_runs(
      "| \xE6\x8C\x87\xE6\xA0\x87 | X MTP=3 | no MTP \xE5\x9F\xBA\xE7\xBA\xBF | \xE5\x8F\x98\xE5\x8C\x96 "
      "|\n|---|---|---|---|\n| TPOT | 12.5ms | 25ms | -50% |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].times.tpot_ms == 12.5);
  CHECK(runs[1].decoding == Decoding::plain);
}

TEST_CASE("columns below metrics are runs, too, if one of them is a baseline that drafts") {
  const auto runs = posted_runs(
      "| Metric | 1.2 baseline | new kernel | Change |\n|---|---|---|---|\n| TPOT | 12 ms | 10 ms | -17% |\n"
      "| Acceptance length | 2.5 | 2.6 | +4% |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].acceptance_length == 2.5);
  CHECK(runs[0].decoding == logs::Decoding::speculative);
  CHECK(runs[1].times.tpot_ms == 10.0);
}

TEST_CASE("rows of metrics are no repetitions of a speed, whatever the heading over them") {
  for (const std::string heading : {"metric (median of 5)", "Observed", "指標"}) {
    CAPTURE(heading);
    const auto runs = posted_runs("| " + heading +
                                      " | spec OFF | spec ON | on/off |\n|---|---|---|---|\n"
                                      "| prompt tok/s | 400 | 380 | 0.95x |\n"
                                      "| decode tok/s | 20.0 | 30.0 | 1.50x |\n| TPOT p50 | 50 ms | 33 ms | 1.51x |\n",
                                  "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].times.tpot_ms == 50.0);
    CHECK(runs[1].times.tpot_ms == 33.0);
  }
}

TEST_CASE("an unknown first column tells rows apart, and repetitions do not") {
  const auto rows = [](const std::string& first, const std::string& second) {
    return posted_runs("| Where | plain tok/s | MTP tok/s |\n|---|---|---|\n| " + first + " | 20 | 30 |\n| " + second +
                           " | 40 | 80 |\n",
                       "table");
  };
  const auto apart = rows("kitchen", "garden");
  REQUIRE(apart.size() == 4);
  CHECK(apart[2].stratum.category == "garden");
  CHECK_FALSE(rows("run 1", "run 2").at(2).stratum.category);
}

TEST_CASE("a column of gains without a heading tells what cells measure") {
  const auto runs = posted_runs(
      "| prompts | spec off | spec on | | vs other |\n|---|---|---|---|---|\n| chat | 40 | 50 | 1.25x | 1.00x |\n"
      "| code | 40 | 80 | 2.00x | 1.60x |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[3].times.tpot_ms == 12.5);
  CHECK_FALSE(problem("| prompts | spec off | spec on | |\n|---|---|---|---|\n| chat | 40 | 50 | 1.25x |\n"
                      "| code | 40 | 80 | 1.50x |\n")
                  .empty());
}

TEST_CASE("ours is another drafter, and acceptance lengths may stand in brackets") {
  const std::string rows =
      "\n\n| batch size | base | D-Flash | Ours (3-1-4) |\n|---|---|---|---|\n"
      "| 2 | 100 | 120 (2.25) | +20% | 150 (2.50) | +50% |\n| 8 | 300 | 310 (2.25) | +3.3% | 360 (2.50) | +20% "
      "|\n\ntok/s\n";
  const auto runs = posted_runs("Throughput (AL)" + rows, "table");
  REQUIRE(runs.size() == 6);
  CHECK(runs[0].decoding == logs::Decoding::plain);
  CHECK_FALSE(runs[0].acceptance_length);
  CHECK(runs[1].drafter == "dflash");
  CHECK(runs[1].acceptance_length == 2.25);
  CHECK(runs[2].drafter == "ours");
  CHECK(runs[2].acceptance_length == 2.5);
  CHECK(runs[5].times.output_tokens_per_s == 360.0);
  CHECK_FALSE(posted_runs("Throughput (runs)" + rows, "table").at(1).acceptance_length);
}

TEST_CASE("beside a speed for each user, one without more words is that of all") {
  const auto runs = posted_runs(
      "config    K  tok/s  tok/s/user  AL\nbaseline  0  160.0  40.0        1.00\nmtp-k2    2  280.0  70.0        "
      "2.10\n",
      "table");
  CHECK(runs.at(0).times.tpot_ms == 25.0);
}

}  // namespace foredraft::tests
