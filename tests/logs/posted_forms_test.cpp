// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Forms of a tool's output that are less common: bare numbers, rows without a head, lines of small engines.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

const std::string totals =
    "| test | t/s (total) |\n|---|---:|\n| pp1024 (c1) | 9,100.50 ±10.1 |\n| tg64 (c1) | 100.00 ±2.1 |\n"
    "| tg64 (c8) | 420.00 ±2.1 |\n| ctx_tg @ d4096 (c1) | 90.00 ±2.1 |\n";

}  // namespace

TEST_CASE("acceptance lengths of SGLang stand alone, as ranges, and with remarks that keep them apart") {
  const auto bare = posted_runs("accept len: 3.10\naccept len: 2.90\n", "sglang");
  REQUIRE(bare.size() == 2);
  CHECK(bare[0].acceptance_length == 3.1);
  CHECK_FALSE(bare[0].gamma);
  const std::string ranges =
      "accept len: 2.20-2.60   accept rate: 0.40-0.53     # deep context\n"
      "accept len: 3.40        accept rate: 0.80          # short prompts\n";
  const auto kinds = posted_runs(ranges, "sglang");
  REQUIRE(kinds.size() == 2);
  CHECK(*kinds[0].acceptance_length == near(2.4));
  CHECK(kinds[1].acceptance_length == 3.4);
  CHECK(kinds[0].stratum.category == "deep context");
  CHECK(kinds[1].stratum.category == "short prompts");
  for (const Observation& kind : kinds) {
    CHECK(kind.gamma == 3);
    CHECK(kind.span == logs::Span::run);  // whose kinds are kept apart
  }
}

TEST_CASE("llama-benchy's totals are of a server that may speculate, and of all requests") {
  for (const std::string& text : {totals, replaced(totals, "9,100", "9100")}) {
    const auto runs = posted_runs(text, "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].requests == 1.0);
    CHECK(runs[1].requests == 8.0);
    CHECK(runs[1].times.output_tokens_per_s == 420.0);
    for (const Observation& run : runs) CHECK(run.decoding == Decoding::unknown);
  }
  const std::string model =
      "| model | test | t/s (total) |\n|---|---|---:|\n| some/m | tg64 (c1) | 100.00 ± 2.1 |\n"
      "| some/m | tg64 (c8) | 420.00 ± 2.1 |\n";
  REQUIRE(posted_runs(model, "table").size() == 2);  // not of llama-bench, which never speculates
}

TEST_CASE("llama-benchy's box names the load in a column of its own") {
  const std::string box =
      "┏━━━━━━━━━━━━━━━━━━━┳━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━┓\n"
      "┃ Test              ┃  c  ┃ pp t/s ┃ tg t/s ┃ TTFT (ms) ┃\n"
      "┡━━━━━━━━━━━━━━━━━━━╇━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━┩\n"
      "│ pp1024 tg64 @ d0  │ c1  │    900 │   40.5 │     1,100 │\n"
      "│ pp1024 tg64 @ d0  │ c8  │    950 │  120.5 │     8,100 │\n"
      "└───────────────────┴─────┴────────┴────────┴───────────┘\n";
  const auto runs = posted_runs(box, "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].requests == 8.0);
  CHECK(runs[1].times.output_tokens_per_s == 120.5);
  CHECK(runs[1].stratum.output_tokens == 64.0);
}

TEST_CASE("rows of AIPerf's CSV are read without the head above them, but not the columns of arms") {
  const std::string rows =
      "Inter Token Latency (ms),4.50,...,p50=4.40,...\nOutput Token Throughput (tokens/sec),400.00\n";
  const auto runs = posted_runs("key rows:\n  " + rows, "genai-perf");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].times.tpot_ms == 4.5);
  CHECK(runs[0].times.output_tokens_per_s == 400.0);
  CHECK(runs[0].decoding == Decoding::unknown);
  const std::string arms = "Inter Token Latency (ms),8.00,4.50\nOutput Token Throughput (tokens/sec),200.00,400.00\n";
  CHECK_FALSE(problem(arms).empty());
}

TEST_CASE("small engines print tokens and speed of an answer, and the counts of its drafts") {
  const auto answers =
      posted_runs("Prompt: 20 tokens, 60.00 t/s (0.30s)\nGeneration: 200 tokens, 40.00 t/s (5.0s)\n", "local-prompts");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].times.tpot_ms == near(25.0));
  CHECK(answers[0].stratum.output_tokens == 200.0);
  CHECK(answers[0].decoding == Decoding::unknown);
  const LogContents drafted = read_log(
      "INFO x: Decoded: 1000 tokens in 20.00s (50.00 t/s)\n"
      "INFO x: Speculation: steps=300 proposed=2400 accepted=700 rate=29.2% avg_tok/step=3.53 other=0\n");
  REQUIRE(drafted.observations.size() == 1);
  CHECK(drafted.observations[0].gamma == 8);
  CHECK(drafted.observations[0].acceptance->accepted_tokens == 700);
  CHECK(drafted.observations[0].times.tpot_ms == near(20.0));
  CHECK(warns(drafted, "W18"));  // 3.33 by the counts
  const auto other = posted_runs("spec: accepted=700 proposed=2400 steps=300\n", "key-line");
  REQUIRE(other.size() == 1);
  CHECK(other[0].gamma == 8);
  CHECK(other[0].acceptance->steps == 300);
}

TEST_CASE("counters of many drafts tell K although the ends of texts cut some short") {
  const auto gamma = [](const std::string& steps, const std::string& drafted) {
    const std::string name = "vllm:spec_decode_num_";
    return read_log(name + "drafts_total " + steps + "\n" + name + "draft_tokens_total " + drafted + "\n" + name +
                    "accepted_tokens_total 2000\n")
        .observations.at(0)
        .gamma;
  };
  CHECK(gamma("2.0001e+06", "1.0000412e+07") == 5);
  CHECK(gamma("3.00012e+06", "9.00037e+06") == 3);  // with six digits
  CHECK_FALSE(gamma("2.0001e+06", "9.93e+06"));
  CHECK_FALSE(gamma("3.00012e+06", "9.1e+06"));
  CHECK_FALSE(gamma("999", "2996"));
}

TEST_CASE("the progress of llama-server is that of a server that speculates if its command line says so") {
  const std::string progress = "slot print_timing: id  0 | task 0 | n_decoded =    200, tg =  14.00 t/s\n";
  const auto one = [](const std::string& log) { return posted_runs(log, "llama-progress").at(0); };
  const std::string mtp = "./llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 3\n";
  CHECK(one(mtp + progress).decoding == Decoding::speculative);
  CHECK(one(mtp + progress).gamma == 3);
  CHECK(one("> " + mtp + "> " + progress).decoding == Decoding::speculative);
  const Observation eagle = one("llama-server -m a.gguf -md b.gguf --spec-draft-n-max 1\n" + progress);
  CHECK(eagle.decoding == Decoding::speculative);
  CHECK_FALSE(eagle.gamma);  // a maximum
  CHECK(one("./llama-server -m a.gguf\n" + progress).decoding == Decoding::unknown);
}

TEST_CASE("rows that accept drafts speculate, whatever their names say") {
  const auto runs = posted_runs(
      "| version | tps | draft acceptance |\n| -- | -- | -- |\n| 0.1 | 100.5 | 0.91 |\n| 0.2 | 105.5 | 0.92 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  for (const Observation& run : runs) CHECK(run.decoding == Decoding::speculative);
  const auto accuracy = posted_runs("| model | tok/s | acc |\n|--|--|--|\n| A | 40.1 | 0.62 |\n", "table");
  CHECK(accuracy.at(0).decoding == Decoding::unknown);
}

TEST_CASE("records with the same labels that differ far are no repetitions") {
  const auto record = [](const std::string& speed) {
    return R"({"task": "t", "throughput": )" + speed + R"(, "accept_length": 3.5, "other": {"parallel": 1}})" + "\n";
  };
  const auto apart = posted_runs(record("700.0") + record("200.0"), "table");
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].stratum.category == "line 1 / t");
  CHECK(apart[1].stratum.category == "line 2 / t");
  for (const Observation& run : posted_runs(record("700.0") + record("690.0"), "table"))
    CHECK(run.stratum.category == "t");
}

TEST_CASE("a cell with several values is read by what its words say of them") {
  const auto speeds = [](const std::string& table) {
    std::vector<double> all;
    for (const auto& run : posted_runs(table, "table"))
      all.push_back(run.times.output_tokens_per_s.value_or(1000.0 / run.times.tpot_ms.value_or(1e9)));
    return all;
  };
  using Speeds = std::vector<double>;
  const auto are = [](const Speeds& read, const Speeds& expected) {
    return std::ranges::equal(read, expected, [](double one, double other) { return one == near(other); });
  };
  const std::string ruling = "|---|---|---|\n";
  CHECK(are(speeds("| Way | best config | gain vs AR |\n" + ruling + "| MTP | K=2 | **1.5x** (40 -> 60 tok/s) |\n"),
            {40, 60}));
  CHECK(are(speeds("| model | best K | speedup |\n" + ruling + "| Foo | K=2 | 1.5x (40 -> 60 tok/s) |\n"), {40, 60}));
  CHECK(are(speeds("| method | result |\n|---|---|\n| MTP, K=3 | 45 -> 90 tok/s (2.0x) |\n"), {45, 90}));
  CHECK(are(speeds("| config | total/output tok/s |\n|---|---|\n| off | 240 / 90 |\n| EAGLE3 | 330 / 120 |\n"),
            {90, 120}));
  CHECK(are(speeds("| load | off | MTP |\n" + ruling + "| one | 25.5 / 57.8 out/total | 33.5 / 75.8 out/total |\n"),
            {25.5, 33.5}));
  const auto loads = posted_runs(
      "| config | aggregate tok/s (c=1, 8, 32) |\n|---|---|\n| off | 40 / 230 / 600 |\n| MTP K=7 | 90 / 330 / 610 |\n",
      "table");
  REQUIRE(loads.size() == 6);
  CHECK(loads[1].concurrency == 8.0);
  CHECK(loads[1].times.output_tokens_per_s == 230.0);
  CHECK(loads[5].concurrency == 32.0);
  CHECK(loads[5].times.output_tokens_per_s == 610.0);
  const auto metrics = posted_runs("| | no draft | MTP k=3 |\n" + ruling +
                                       "| accepted tokens per step | - | 3.3 |\n"
                                       "| per-request tok/s at C1 / C4 | 14 / 12 | 33 / 20 |\n",
                                   "table");
  REQUIRE(metrics.size() == 5);
  CHECK(metrics[1].concurrency == 4.0);
  CHECK(metrics[1].times.tpot_ms == near(1000.0 / 12));
  const auto rates = posted_runs(
      "| config | tok/s |\n|---|---|\n| MTP K=2 | 30 tok/s, acceptance 70 % |\n| MTP K=3 | 31 t/s (accept rate: 50%) "
      "|\n",
      "table");
  REQUIRE(rates.size() == 2);
  CHECK(rates[0].acceptance_length == near(2.4));
  CHECK(rates[1].acceptance_length == near(2.5));
  const auto rows = posted_runs("| load | off | MTP |\n" + ruling +
                                    "| C=1 | 57 / 25 total/out | 75 / 33 total/out |\n| C=4 | 180 / 80 | 157 / 70 |\n",
                                "table");
  REQUIRE(rows.size() == 4);
  CHECK(rows[2].concurrency == 4.0);
  CHECK(rows[2].times.output_tokens_per_s == 80.0);
  // Repetitions, and numbers that are no loads.
  CHECK(posted_runs("| config | tok/s | acceptance @1/2/3 |\n" + ruling + "| MTP K=3 | 60 | 0.8/0.6/0.4 |\n", "table")
            .size() == 1);
  CHECK(are(speeds("| config | tok/s |\n|---|---|\n| off | 58 / 60 / 62 |\n"), {60}));
  CHECK(are(speeds("| config | tok/s (run 1/2) |\n|---|---|\n| off | 58.0, 60.0 |\n"), {59}));
}

TEST_CASE("a column of metrics is known by its cells, whatever its heading") {
  const std::string arms = "| off | MTP K=2 |\n|---|---|---|\n";
  const auto runs = posted_runs(
      "| Kenngr. " + arms + "| output throughput (tok/s) | 80 | 60 |\n| TTFT (ms) | 200 | 250 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].times.ttft_ms == 200.0);
  CHECK(runs[1].gamma == 2);
  CHECK(
      posted_runs("| Kenngr. " + arms + "| tg128 | 80 t/s | 60 t/s |\n| tg512 | 70 t/s | 50 t/s |\n", "table").size() ==
      4);
}

}  // namespace foredraft::tests
