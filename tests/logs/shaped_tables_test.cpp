// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "logs/captions.hpp"
#include "logs/headings.hpp"
#include "tests/logs/logs_testing.hpp"

/// Tables in other shapes than a run a row, and what stands around them.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("a table of two columns needs no bars at its ends") {
  const auto runs = posted_runs("Decode:\n\nbs | TPOT (ms)\n-- | --\n1 | 20\n8 | 40\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[1].times.tpot_ms == 40.0);
}

TEST_CASE("beside a row that says it is plain, K = 0 is another arm") {
  const auto runs = posted_runs("| K | TPOT (ms) |\n|---|---|\n| none | 20 |\n| 0 | 16 |\n| 2 | 10 |\n", "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK(runs[2].gamma == 2);
  const auto columns =
      posted_runs("| c | no spec TPOT | dsd (K=0) TPOT |\n|---|---|---|\n| 2 | 14 ms | 15 ms |\n", "table");
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].decoding == Decoding::plain);
  CHECK(columns[1].drafter == "dsd");
}

TEST_CASE("loads may be the head row, above metrics or arms") {
  for (const std::string text :
       {"#### Baseline Output (tok/s)\n\n| concurrencies | 1 | 4 |\n|---|---|---|\n| tok/s | 50 | 160 |\n\n"
        "#### EAGLE3 Output (tok/s)\n\n| concurrencies | 1 | 4 |\n|---|---|---|\n| tok/s | 100 | 200 |\n",
        "Total tok/s:\n\n| batch size | 1 | 4 |\n|---|---|---|\n| baseline | 50 | 160 |\n| EAGLE3 | 100 | 200 |\n",
        "| concurrency | 1 | 4 |\n|---|---|---|\n| baseline tok/s | 50 | 160 |\n| EAGLE3 tok/s | 100 | 200 |\n"}) {
    CAPTURE(text);
    auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 4);
    std::ranges::stable_sort(runs, [](const auto& a, const auto& b) { return a.decoding < b.decoding; });
    const std::size_t drafts = runs[0].decoding == Decoding::speculative ? 0 : 2;
    CHECK(runs[drafts].drafter == "eagle3");
    CHECK(runs[drafts + 1].times.output_tokens_per_s == near(200.0));
    CHECK(runs[2 - drafts].decoding == Decoding::plain);
    CHECK(runs[2 - drafts].concurrency == 1.0);
    CHECK(runs[3 - drafts].concurrency == 4.0);
  }
  CHECK_FALSE(problem("| users | 4 | 1 |\n|---|---|---|\n| tok/s | 50 | 160 |\n").empty());
}

TEST_CASE("numbers of arms without a unit that multiply with the batch are tokens per second of all requests") {
  for (const std::string head :
       {"bs\tK=0\tK=3\tK=5\n", "batch_size,no-spec,K=3,K=5\n", "Batch Size  plain  K=3  K=5\n", "bs  none  K=3  K=5\n",
        "batch  without  k3  k5\n", "bs,off,3,5\n", "batch  AR  3  5\n"}) {
    const char* const gap = head.find('\t') < head.size() ? "\t" : head.find(',') < head.size() ? "," : "          ";
    std::string text = head;
    for (const std::string row : {"2 80 150 160\n", "8 300 420 380\n", "32 900 910 700\n"}) {
      for (const char one : row) text += one == ' ' ? gap : std::string(1, one);
    }
    INFO(text);
    const auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 9);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].concurrency == 2.0);
    CHECK(runs[0].times.output_tokens_per_s == 80.0);
    CHECK(runs[5].gamma == 5);
    CHECK(runs[5].times.output_tokens_per_s == 380.0);
  }
  const auto asks = [](const std::string& text) { return problem(text).find("may mean several things"); };
  const std::string table = "bs\tK=0\tK=3\n2\t80\t150\n8\t300\t420\n";
  CHECK(asks(table) == std::string::npos);
  CHECK(asks(replaced(table, "bs", "users")) != std::string::npos);  // they may wait for each other
  CHECK(asks(replaced(table, "300", "150")) != std::string::npos);   // times of steps may rise so
  CHECK(asks(replaced(table, "420", "140")) != std::string::npos);
  CHECK(asks(replaced(replaced(table, "\n2", "\n64"), "\n8", "\n256")) != std::string::npos);
  CHECK(asks(replaced(table, "K=0", "K=1")) != std::string::npos);  // none without speculation
  CHECK(problem("bs\t0\t3\n2\t80\t150\n8\t300\t420\n").find("0: may mean several things") != std::string::npos);
}

TEST_CASE("numbers beside a load and a word for the run without speculation are draft lengths") {
  const auto runs =
      posted_runs("Throughput of MTP (tok/s)\n\nc | off | 2 | 4\n1 | 40 | 70 | 80\n8 | 240 | 330 | 300\n", "table");
  REQUIRE(runs.size() == 6);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[2].gamma == 4);
  CHECK(runs[5].concurrency == 8.0);
  CHECK(runs[5].times.output_tokens_per_s == 300.0);
  for (const std::string falls : {"c | off | 4 | 2", "c | off | 2 | n", "n | off | 2 | 4"})
    CHECK_FALSE(problem("Throughput of MTP (tok/s)\n\n" + falls + "\n1 | 40 | 70 | 80\n").empty());
}

TEST_CASE("a kind of prompts may stand before the unit of a heading") {
  const auto runs = posted_runs(
      "| config | prompt tok/s | story tok/s | code t/s |\n|---|---|---|---|\n| no speculation | 900 | 20 | 30 |\n"
      "| MTP K=2 | 800 | 25 | 60 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == "story");
  CHECK(runs[3].stratum.category == "code");
  CHECK(runs[3].times.tpot_ms == near(1000.0 / 60.0));
}

TEST_CASE("runs below a first heading that is empty have their metrics in rows") {
  const auto runs = posted_runs(
      "We changed one thing.\n\n| | old head | new head |\n|---|---|---|\n| accept length | 1.4-1.6 | 2.5 |\n"
      "| single-stream | 10 tok/s | **20 tok/s** |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].stratum.category == "old head");
  CHECK(runs[0].acceptance_length == near(1.5));
  CHECK(runs[1].times.tpot_ms == near(50.0));
}

TEST_CASE("a count of n that a plain row has too is no draft length") {
  const auto runs = posted_runs(
      "| arm | n | decode |\n|---|---|---|\n| control | 3 | 36 tok/s |\n| ngram | 3 | 35 tok/s |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK_FALSE(runs[1].gamma);
}

TEST_CASE("the line above a table says what its cells measure, and its load") {
  const std::string table = "\n\n| model | baseline | MTP K=2 |\n|---|---|---|\n| a | 40 | 25 |\n";
  const auto times = posted_runs("### Time per output token (ms)" + table, "table");
  REQUIRE(times.size() == 2);
  CHECK(times[0].times.tpot_ms == 40.0);
  CHECK(times[1].gamma == 2);
  CHECK(times[1].times.tpot_ms == 25.0);
  CHECK(posted_runs("Decode speed in tok/s:" + table, "table").at(0).times.tpot_ms == near(25.0));
  for (const char* other : {"Prefill, tok/s", "tok/s and TPOT", "Results"}) {
    CAPTURE(other);
    CHECK(problem(other + table).find("baseline") != std::string::npos);
  }
  const std::string speeds = "\n| K | total tok/s |\n|---|---|\n| 0 | 400 |\n| 2 | 600 |\n";
  const auto loaded = posted_runs("## Summaries, concurrency = 16, T = 0" + speeds, "table");
  CHECK(loaded.at(0).concurrency == 16.0);
  CHECK(loaded.at(0).times.output_tokens_per_s == 400.0);
  CHECK_FALSE(posted_runs("## concurrency 1, 4 and 16" + speeds, "table").at(0).concurrency);
  // Of all requests or of each? At an unknown load their ratio is the same.
  CHECK_FALSE(
      posted_runs("concurrency 16\n| K | tok/s |\n|---|---|\n| 0 | 400 |\n| 2 | 600 |\n", "table").at(0).concurrency);
  // A log before the table is none of it.
  CHECK_FALSE(posted_runs("concurrency = 16\n\nEnd.\n" + speeds, "table").at(0).concurrency);
}

TEST_CASE("the line above a table names the arm of its rows, if it names one") {
  const std::string table = "\n\n| c | TPOT (ms) |\n|---|---|\n| 1 | 20 |\n\n";
  const auto runs = posted_runs("### Baseline" + table + "### With MTP, K = 2:" + table, "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  CHECK(posted_runs("Baseline vs MTP" + table, "table").at(0).decoding == Decoding::unknown);
}

TEST_CASE("a row that says only that a draft model drafts is no run of the drafter of another row") {
  const auto runs = posted_runs(
      "| Prompt | Variant | t/s | Accept rate | Draft stats |\n|---|---|---|---|---|\n| code | baseline | 20.1 | N/A | "
      "- "
      "|\n| code | mtp | 41.5 | 75.0% | `mtp: drafts 180/200, tokens 450/600` |\n| code | draft | 26.0 | 25.0% | "
      "`draft: drafts 90/200, tokens 150/600` |\n",
      "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[1].drafter == "mtp");
  CHECK(runs[2].drafter == "draft");
  REQUIRE(runs[1].acceptance);
  CHECK(runs[1].acceptance->steps == 200);
  CHECK(runs[1].acceptance->accepted_tokens == 450);
  CHECK(runs[1].acceptance->drafted_tokens == 600);
}

TEST_CASE("seconds of whole answers are no times per token, and their sum is no prompt") {
  const LogContents contents = read_log(
      "| Prompt | Baseline | Speculative | Speedup |\n|---|---|---|---|\n| poem | 2.40s | 2.00s | 1.20x |\n| proof | "
      "9.00s | 6.00s | 1.50x |\n| **Total** | **11.40s** | **8.00s** | 1.43x |\n");
  CHECK(contents.observations.size() == 4);
  CHECK(warns(contents, "W12"));
  CHECK_FALSE(
      warns(read_log("| Prompt | Baseline | Speculative | Speedup |\n|---|---|---|---|\n| poem | 24 ms | 20 ms | "
                     "1.20x |\n| proof | 30 ms | 20 ms | 1.50x |\n"),
            "W12"));
}

TEST_CASE("a heading states the speed without speculation, above the gains over it") {
  const auto table = [](const std::string& plain) {
    return "| Task | Decode | vs " + plain +
           " t/s unassisted |\n|---|---:|---|\n| code | 24-26 t/s | 2.5x |\n| prose | "
           "15.0 t/s | 1.5x |\n";
  };
  const auto runs = posted_runs(table("10.0"), "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(100.0));
  CHECK(runs[0].stratum.category == "code");
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].times.tpot_ms == near(40.0));
  CHECK(posted_runs(table("12.0"), "table").size() == 2);
}

TEST_CASE("benchmarks and their scores beside lengths are kinds of prompts") {
  const auto runs = posted_runs(
      "|Benchmark|Latency (ms)|Throughput (tok/s)|Accept Length|Accuracy|Num Questions|Valid Predictions|Num "
      "Samples|\n|---|---|---|---|---|---|---|---|\n|chat|400.5|200.0|2.50|N/"
      "A|80|0|80|\n|math|130.0|240.0|3.10|0.9|200|"
      "200|200|\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].stratum.category == "chat");
  CHECK(runs[1].acceptance_length == 3.1);
}

TEST_CASE("a cache or graphs that are on or off are no arm") {
  const auto runs = posted_runs(
      "| config | tok/s |\n|---|---|\n| MTP off | 30 |\n| MTP on | 45 |\n| Prefix cache active | 42 |\n| CUDA graphs "
      "on | 44 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[2].decoding == Decoding::unknown);
  CHECK(runs[3].decoding == Decoding::unknown);
}

TEST_CASE("a column that switches speculation is not called a draft length") {
  const auto read_as = [](const std::string& cell) {
    return read_log("| config | MTP | tok/s |\n|---|---|---|\n| foo | off | 30 |\n| foo | " + cell + " | 45 |\n")
        .warnings.at(0)
        .message;
  };
  CHECK_THAT(read_as("3"), Catch::Contains("K"));
  CHECK_THAT(read_as("on"), !Catch::Contains("K"));
}

TEST_CASE("speeds of a full server hardly fall") {
  const auto runs = posted_runs("bs | throughput\n-- | --\n1 | 100\n8 | 600\n32 | 1000\n64 | 990\n", "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].times.output_tokens_per_s == 600.0);
}

TEST_CASE("speeds of each request fall with the load of one setup") {
  const auto runs = posted_runs(
      "| model | concurrency | tok/s |\n|---|---|---|\n| Bar-32B | 1 | 30 |\n| Bar-32B | 8 | 20 |\n"
      "| Foo-8B | 1 | 90 |\n| Foo-8B | 8 | 60 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].times.tpot_ms == near(50.0));
}

TEST_CASE("columns that are loads are runs at these loads") {
  const std::string table =
      "method | spec_len | concurrency 1 | concurrency 16\n-- | -- | -- | --\nbaseline | - | 10 | 30\nsuffix | 4 | 6 | "
      "25\n";
  const auto runs = posted_runs("**TPOT (ms)**\n\n" + table, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == 10.0);
  CHECK(runs[3].gamma == 4);
  CHECK(runs[3].concurrency == 16.0);
  CHECK(runs[3].times.tpot_ms == 25.0);
  CHECK(problem(table).find("concurrency 1") != std::string::npos);
}

TEST_CASE("columns are loads of a server's slots, and the line above says of what their speeds are") {
  const std::string head = "| Drafter | np=1 | np=4 |\n|---|---|---|\n";
  const auto all = posted_runs(
      "### Aggregate throughput (tok/s)\n\n" + head + "| MTP | 20.0 | 16.0 |\n| none | 10.0 | 9.0 |\n", "table");
  REQUIRE(all.size() == 4);
  CHECK(all[1].concurrency == 4.0);
  CHECK(all[1].times.output_tokens_per_s == 16.0);
  CHECK(all[3].decoding == Decoding::plain);
  const std::string table = head + "| MTP | 20.0 | 24.0 |\n| none | 10.0 | 32.0 |\n";
  const auto each = posted_runs("### Per-request throughput (tok/s)\n\n" + table, "table");
  REQUIRE(each.size() == 4);
  CHECK(each[0].times.tpot_ms == near(50.0));
  CHECK_FALSE(each[0].times.output_tokens_per_s);
}

TEST_CASE("Chinese headings, and times at the server and the client") {
  const auto runs = posted_runs(
      "| MTP 步数 | 服务端 TPOT (ms) | 客户端 TPOT (ms) | 接受率 |\n|---|---|---|---|\n| 1 | 5.0 | 4.9 | 80% |\n| 3 | "
      "4.0 | "
      "3.9 | **60%** |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].times.tpot_ms == 4.0);
  CHECK(runs[1].acceptance_length == near(2.8));
  const auto plain =
      posted_runs("| 配置 | 并发数 | TPOT (ms) | 总耗时 (s) |\n|---|---|---|---|\n| 基线 | 4 | 20 | 9 |\n", "table");
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].decoding == Decoding::plain);
  CHECK(plain[0].concurrency == 4.0);
  CHECK(plain[0].times.duration_s == 9.0);
}

TEST_CASE("the heading above that of a table names its arm, and a data set does not") {
  const std::string table = "\n| c | TPOT (ms) |\n|---|---|\n| 1 | 20 |\n\n";
  const auto runs =
      posted_runs("# With MTP, K = 2\n## spec_bench\n" + table + "# BASELINE\n## spec_bench\n" + table, "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK_FALSE(logs::arm_in_caption("## spec_bench"));
  CHECK(posted_runs("## Baseline\n## chat\n" + table, "table").at(0).decoding == Decoding::unknown);
}

TEST_CASE("columns that are kinds of prompts are runs of each, that of all kinds alone if it is there") {
  const std::string head = "| Run | Code | Story |";
  const std::string rows =
      "\n|---|---|---|\n| Baseline no MTP | 20.0 t/s | 10.0 t/s |\n| MTP `--draft-max 2` | 40.0 t/s, 90% accept | 15.0 "
      "t/s, 50.0% accept |\n";
  const auto runs = posted_runs(head + rows, "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].stratum.category == "Code");
  CHECK(runs[3].stratum.category == "Story");
  CHECK(runs[3].gamma == 2);
  CHECK(runs[3].acceptance_length == near(2.0));
  const auto all = posted_runs(
      "| Mode | Code | Story | Overall | Accept rate |\n|---|---|---|---|---|\n| Baseline | 12 t/s | 8 t/s | 10 +/- 1 "
      "t/s "
      "| N/A |\n| MTP `draft-max 1` | 9 t/s | 7 t/s | 8 t/s | 80% |\n",
      "table");
  REQUIRE(all.size() == 2);
  CHECK(all[0].times.tpot_ms == near(100.0));
  CHECK(all[1].times.tpot_ms == near(125.0));
  CHECK(all[1].acceptance_length == near(1.8));
}

TEST_CASE("a first column of measures beside one run, or runs that are no arms") {
  const auto one = posted_runs(
      "| Metric | Value |\n|---|---|\n| Mean TPOT (ms) | 12.5 |\n| Output throughput (tok/s) | 640 |\n", "table");
  REQUIRE(one.size() == 1);
  CHECK(one[0].decoding == Decoding::unknown);
  CHECK(one[0].times.tpot_ms == 12.5);
  const auto two = posted_runs(
      "| Metric | short avg | long avg |\n|---|---|---|\n| TPOT (ms) | 10 | 11 |\n| acceptance length | 2.5 | 2.0 |\n",
      "table");
  REQUIRE(two.size() == 2);
  CHECK(two[0].decoding == Decoding::speculative);
  CHECK(two[1].acceptance_length == 2.0);
  CHECK(two[0].stratum.category != two[1].stratum.category);
}

TEST_CASE("merged cells of a first column are those of the row above") {
  const auto runs = posted_runs(
      "| Model | MTP | Parallel | TPOT (ms) |\n|---|---|---|---|\n| a | off | 1 | 20 |\n| | | 4 | 24 |\n| b | on | 1 | "
      "15 "
      "|\n| | | 4 | 18 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].stratum.category == "a");
  CHECK(runs[3].decoding == Decoding::speculative);
  CHECK(runs[3].stratum.category == "b");
}

TEST_CASE("a speed whose unit is in its cells, and remarks behind rows") {
  const auto runs = posted_runs(
      "  --draft-tokens   decode      vs none\n  (none)          40.0 tok/s      --\n  2               50.0          "
      "+25%   <- best\n  4               45.0          +12%\n",
      "table");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.tpot_ms == near(20.0));
  CHECK(runs[2].gamma == 4);
  const auto named = posted_runs(
      "| Draft tokens | Decode | Acceptance |\n|---|---|---|\n| none | 20 t/s | - |\n| 2 | ~40 t/s | 75% |\n", "table");
  REQUIRE(named.size() == 2);
  CHECK(named[1].times.tpot_ms == near(25.0));
}

TEST_CASE("runs at different request rates are different loads") {
  const auto runs =
      posted_runs("| QPS | Baseline TPOT | k=1 TPOT |\n|---|---|---|\n| 1 | 50 | 30 |\n| 8 | 60 | 70 |\n", "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].times.request_rate_per_s == 1.0);
  CHECK(runs[3].times.request_rate_per_s == 8.0);
}

TEST_CASE("what a row without drafts says of acceptance") {
  // K = 0 that accepts some is a position, or another mistake.
  CHECK(problem("k,acceptance rate\n0,0.8\n1,0.6\n2,0.4\n").find("k") != std::string::npos);
  // A baseline that accepts drafts is another version.
  const auto versions =
      posted_runs("version,config,tok/s,accept len\n1,baseline,40,2.5\n2,this branch,45,2.6\n", "table");
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].decoding == Decoding::speculative);
  // Tokens a step are 1 without drafts, and all of none are accepted.
  const auto runs = posted_runs(
      "| K | accept % | accepted per round | tok/s |\n|---|---|---|---|\n| 0 | 100% | 1.00 | 40 |\n| 2 | 70% | 2.40 | "
      "60 "
      "|\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].acceptance_length == 2.4);
  const auto rates =
      posted_runs("| K | accept % | tok/s |\n|---|---|---|\n| 0 | 100% | 40 |\n| 2 | 70% | 60 |\n", "table");
  CHECK(rates.at(1).acceptance_length == near(2.4));
}

TEST_CASE("inter-token latency beside TPOT is that of an iteration where a plain run has one token a chunk") {
  const std::string head = "| Metric | MTP=off | MTP=on |\n|---|---|---|\n| Mean TPOT (ms) | 20 | 12 |\n";
  const LogContents contents = read_log(head + "| Mean ITL (ms) | 20 | 30 |\n");
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[1].acceptance_length == near(2.5));
  CHECK(contents.observations[1].times.iteration_ms == 30.0);
  CHECK(warns(contents, "W10"));
  // Chunks of several tokens without speculation say nothing.
  CHECK_FALSE(posted_runs(head + "| Mean ITL (ms) | 40 | 30 |\n", "table").at(1).acceptance_length);
}

TEST_CASE("rows with units are no header") {
  const LogContents contents = read_log(
      "| x | y | z |\n|---|---|---|\n| Baseline | 11.3 t/s (90 tok) | N/A |\n| other | 9.0 | 8.0 |\n\n| K | tok/s "
      "|\n|---|---|\n"
      "| 0 | 9 |\n");
  CHECK(contents.observations.size() == 1);
  for (const auto& warning : contents.warnings) CHECK_THAT(warning.message, !Catch::StartsWith("ignored a table"));
}

TEST_CASE("SGLang's settings: steps beside a topk of 1 are draft lengths, those beside others are of trees") {
  for (const std::string head : {"bs | steps | topk | num_draft |", "bs | num_steps | topk | num_draft_tokens |",
                                 "bs | speculative_num_steps | speculative_eagle_topk | speculative_num_draft_tokens |",
                                 "bs | spec steps | eagle topk | draft tokens |"}) {
    const auto runs = posted_runs(head +
                                      " throughput | acc len\n-- | -- | -- | -- | -- | --\n1 | 0 | 0 | 0 | 100 | 1.0\n"
                                      "1 | 3 | 1 | 4 | 160 | 1.9\n1 | 3 | 4 | 8 | 170 | 2.2\n",
                                  "table");
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[1].gamma == 3);
    CHECK_FALSE(runs[1].tree);
    CHECK(runs[2].decoding == Decoding::speculative);
    CHECK_FALSE(runs[2].gamma);
    CHECK(runs[2].tree == logs::DraftTree{.steps = 3, .width = 4, .tokens = 8});
    for (const auto& run : runs) CHECK_FALSE(run.stratum.category);
  }
  // Without the tokens, rows of other trees are of other kinds; drafts in all are no tree.
  const auto apart =
      posted_runs("bs | steps | topk | throughput\n-- | -- | -- | --\n1 | 3 | 1 | 160\n1 | 3 | 4 | 170\n", "table");
  CHECK(apart.at(0).stratum.category != apart.at(1).stratum.category);
  CHECK_FALSE(posted_runs("name | steps | topk | num_draft_tokens | accepted | tok/s\n-- | -- | -- | -- | -- | --\n"
                          "EAGLE | 900 | 4 | 2700 | 1500 | 170\n",
                          "table")
                  .at(0)
                  .tree);
}

TEST_CASE("both tables of AISBench are one run") {
  const auto runs = posted_runs(sample("aisbench.txt"), "aisbench");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);  // a token a chunk, the other run 2.4
  CHECK(runs[0].times.tpot_ms == 20.5);
  CHECK(runs[0].times.ttft_ms == 400.0);
  CHECK(runs[0].concurrency == 4.0);
  CHECK(runs[0].requests == 3.9);
  CHECK(runs[0].times.output_tokens_per_s == 190.0);
  CHECK(runs[0].times.duration_s == 50.0);
  CHECK(runs[0].completed_requests == 10);
  CHECK(runs[0].stratum.output_tokens == 1000.0);
  CHECK(runs[1].times.tpot_ms == 12.5);
}

TEST_CASE("counters in other words: proposals, tokens generated, rates at tokens") {
  const auto runs = posted_runs(
      "Number of draft proposals: 1,000\nNumber of draft tokens generated: 2,000\nNumber of accepted tokens: 1,200\n"
      "Mean acceptance length: 2.20\n\nAcceptance rate at token 0: 0.70\nAcceptance rate at token 1: 0.50\n",
      "key-values");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 2);
  REQUIRE(runs[0].acceptance);
  CHECK(runs[0].acceptance->steps == 1000);
  CHECK(runs[0].acceptance->accepted_at == Counts{700, 500});
}

TEST_CASE("the line above a table says that its rows draft where no row is plain") {
  const auto runs = posted_runs(
      "### By load (MTP enabled, 3 rounds averaged)\n\n| Concurrency | Per-req tok/s |\n|---|---|\n| **\xC3\x97"
      "1** | "
      "50 |\n| **\xC3\x97"
      "4** | 25 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].drafter == "mtp");
  CHECK(runs[1].concurrency == 4.0);
  // A data set.
  CHECK(posted_runs("## Spec-Bench\n\n| Concurrency | TPOT (ms) |\n|---|---|\n| 1 | 20 |\n", "table").at(0).decoding ==
        Decoding::unknown);
}

TEST_CASE("what rows of one arm have besides it is not pooled with it") {
  const auto runs = posted_runs(
      "| Config | tok/s |\n|---|---|\n| Baseline | 40 |\n| MTP head | 50 |\n| **MTP + FastKV** | 80 |\n| FastKV | 60 "
      "|\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK_FALSE(runs[0].stratum.category);
  CHECK_FALSE(runs[1].stratum.category);
  CHECK(runs[2].decoding == Decoding::speculative);
  CHECK(runs[2].stratum.category == "FastKV");
  CHECK(runs[3].decoding == Decoding::plain);
  CHECK(runs[3].stratum.category == "FastKV");
}

TEST_CASE("names tell setups, arms or kinds of prompts apart, where nothing else does, and repeated runs are one arm") {
  const auto arms = posted_runs(
      "| engine / checkpoint | prefill | cold TTFT | decode |\n|---|---|---|---|\n| 0.9.1 + `A-4bit-MTP`, MTP on | 190 "
      "tok/s | 13 s | 25 tok/s |\n| 0.9.1 + same, `--no-spec-decode` | 190 tok/s | 13 s | 20 tok/s |\n| Other 2.0, "
      "native MTP | 170 tok/s | 15 s | 40 tok/s |\n| 0.9.0 + `A-4bit` | 140 tok/s | 18 s | 10 tok/s |\n",
      "table");
  REQUIRE(arms.size() == 4);
  CHECK(arms[0].stratum.category == "0.9.1");
  CHECK(arms[1].decoding == Decoding::plain);
  CHECK(arms[1].stratum.category == "0.9.1");
  CHECK(arms[2].stratum.category == "Other 2.0");
  CHECK(arms[3].decoding == Decoding::unknown);
  const auto kinds = posted_runs(
      "| mode | tok/s |\n|---|---|\n| code, baseline | 40 |\n| code, MTP | 80 |\n| chat, baseline | 42 |\n| chat, MTP "
      "| 50 |\n",
      "table");
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[1].stratum.category == "code");
  CHECK(kinds[1].drafter != kinds[0].drafter);
  CHECK(kinds[2].stratum.category == "chat");
  const auto repeated = posted_runs(
      "| run | tok/s |\n|---|---|\n| baseline | 40 |\n| MTP run 1 | 80 |\n| MTP run 2 (warm) | 82 |\n", "table");
  CHECK(repeated.at(1).drafter == "mtp");
  CHECK(repeated.at(2).drafter == "mtp");
}

TEST_CASE("a condition names the run and its temperature") {
  const auto runs = posted_runs(
      "| build | condition | decode tok/s | MTP accepts/attempts |\n|---|---|---|---|\n| x | `--no-spec-decode`, temp "
      "0.7 | 160 / 162 | - |\n| x | MTP k=2, temp 0.7 | 80 / 84 | 40/100 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].stratum.temperature == 0.7);
  CHECK(runs[1].gamma == 2);
  REQUIRE(runs[1].acceptance);
  CHECK(runs[1].acceptance->accepted_tokens == 40);
}

TEST_CASE("rows that do not say whether they speculate are counted where others say it") {
  const LogContents contents = read_log(
      "### A\n\n| Concurrency | total tok/s | notes |\n|---|---|---|\n| 1 | 80 | active |\n\n### B\n\n| Concurrency | "
      "No "
      "MTP (tok/s) | With MTP (tok/s) |\n|---|---|---|\n| 1 | 40 | 50 |\n");
  CHECK(contents.observations.size() == 3);
  CHECK(warns(contents, "W18"));
  CHECK_FALSE(warns(read_log(sample("table.md")), "W18"));
}

TEST_CASE("speeds that exceed those of one request at its time per token are of all requests") {
  CHECK(posted_runs("| K | TPOT (ms) | tok/s |\n|---|---|---|\n| 2 | 50 | 480 |\n", "table")
            .at(0)
            .times.output_tokens_per_s == 480.0);
  const auto loaded =
      posted_runs("| Concur | K | TPOT (ms) | tok/s |\n|---|---|---|---|\n| 32 | 2 | 50 | 480 |\n", "table");
  CHECK(loaded.at(0).concurrency == 32.0);
  CHECK(loaded.at(0).times.output_tokens_per_s == 480.0);
}

}  // namespace foredraft::tests
