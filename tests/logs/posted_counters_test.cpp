// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Numbers that stand beside those that count: formulas, streams, times between tokens, counters above a console.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

std::string console(const std::string& tpot, const std::string& itl) {
  return "============ Serving Benchmark Result ============\n"
         "Successful requests:                     500\n"
         "Benchmark duration (s):                  50.00\n"
         "Total generated tokens:                  90000\n"
         "Output token throughput (tok/s):         1800.00\n"
         "Mean TTFT (ms):                          400.00\n"
         "Mean TPOT (ms):                          " +
         tpot + "\nMean ITL (ms):                           " + itl + "\n\n";
}

std::string counters(const std::string& gamma, const std::string& drafted, const std::string& emitted) {
  return "INFO 11-02 10:20:30 metrics.py:482] Speculative metrics: Draft acceptance rate: 0.700, System efficiency: "
         "0.600, Number of speculative tokens: " +
         gamma + ", Number of accepted tokens: 30000, Number of draft tokens: " + drafted +
         ", Number of emitted tokens: " + emitted + ".\n";
}

}  // namespace

TEST_CASE("a formula in a cell is no value, and a K does not follow from ranges") {
  const auto runs = posted_runs(
      "| mode | TPOT (ms) | AL |\n|---|---|---|\n| plain | 30 | |\n| MTP K=2 | 20 | ~1 + rate * K |\n"
      "| MTP K=3 | 19 | 1..K+1 |\n| MTP K=4 | 18 | 2.5 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK_FALSE(runs[1].acceptance_length);
  CHECK_FALSE(runs[2].acceptance_length);
  CHECK(runs[3].acceptance_length == 2.5);
  const auto ranges = posted_runs(
      "| cache of the draft | accept len | accept rate | tok/s |\n|---|---|---|---|\n| fp4 | 1.1~1.3 | 0.1~0.3 | 31 |\n"
      "| fp8 | 2.7~2.9 | 0.85~0.95 | 62 |\n",
      "table");
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].acceptance_length == near(1.2));
  CHECK(ranges[1].acceptance_length == near(2.8));
  CHECK_FALSE(ranges[1].gamma);
}

TEST_CASE("n streams are no draft length, and the tokens of a batch no acceptance length") {
  const auto runs = posted_runs(
      "| n | agg tok/s | per-stream tok/s | tok/cycle (batch) | tok/cycle (per stream) |\n|---|---|---|---|---|\n"
      "| 1 | 70 | 70 | 3.5 | 3.5 |\n| 4 | 120 | 30 | 12 | 3 |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].concurrency == 4.0);
  CHECK_FALSE(runs[1].gamma);
  CHECK(runs[1].acceptance_length == 3.0);
  const auto counted = posted_runs("| N | tok/s | AL |\n|---|---|---|\n| 1 | 70 | 3.5 |\n| 2 | 120 | 3.4 |\n", "table");
  REQUIRE(counted.size() == 2);
  CHECK_FALSE(counted[0].gamma);
  CHECK(counted[0].stratum.category != counted[1].stratum.category);
}

TEST_CASE("the time between tokens tells that a speed is of several requests") {
  const std::string rows = "| Output throughput (tok/s) | 125 | 600 |\n| ITL (ms) | 8 | 13 |\n";
  const std::string head = "| Metric | first setup | second setup |\n|---|---|---|\n";
  const auto tokens = posted_runs(head + rows + "| Acceptance length | 2.5 | 2.4 |\n", "table");
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0].times.tpot_ms == 8.0);
  CHECK(tokens[1].times.tpot_ms == 13.0);
  const auto chunks = posted_runs(
      "| Metric | plain | MTP |\n|---|---|---|\n| Output throughput (tok/s) | 400 | 600 |\n| ITL (ms) | 20 | 26 |\n"
      "| Acceptance length | - | 2.4 |\n",
      "table");
  REQUIRE(chunks.size() == 2);
  CHECK_FALSE(chunks[0].times.tpot_ms);
}

TEST_CASE("counters beside consoles of old clients are of these, and command lines state their load") {
  const std::string plain = console("30.0", "30.5"), pipeline = console("90.0", "800.0");
  const LogContents above =
      read_log("python benchmark_serving.py --model big \\\n  --max-concurrency 64\n" + plain + pipeline +
               "five drafts\n" + counters("5", "100000", "70000") + console("40.0", "120.0") + "ten\n" +
               counters("10", "100000", "50000") + console("60.0", "240.0"));
  REQUIRE(above.observations.size() == 4);
  CHECK(above.observations[0].decoding == Decoding::plain);
  CHECK(above.observations[0].concurrency == 64.0);
  CHECK_FALSE(above.observations[0].offered_requests);
  CHECK(above.observations[1].decoding == Decoding::unknown);
  CHECK(above.observations[2].gamma == 5);
  CHECK(above.observations[2].acceptance->steps == 20'000);
  CHECK(above.observations[2].times.iteration_ms == near(140.0));
  CHECK(above.observations[3].gamma == 10);
  CHECK(above.observations[3].decoding == Decoding::speculative);
  const LogContents below = read_log(console("40.0", "120.0") + counters("4", "80000", "60000") + "\n\n\n\n\n" + plain);
  REQUIRE(below.observations.size() == 2);
  CHECK(below.observations[0].gamma == 4);
  CHECK(below.observations[0].offered_requests == 500.0);
  CHECK(below.observations[1].decoding == Decoding::plain);
  const LogContents twice = read_log(counters("4", "40000", "30000") + counters("4", "80000", "60000") + plain);
  REQUIRE(twice.observations.size() == 1);
  CHECK(twice.observations[0].acceptance->steps == 20'000);
}

TEST_CASE("of consoles with several tokens a chunk, those of a server without drafts do not speculate") {
  const std::string client = "vllm bench serve --model big --max-concurrency 8\n";
  const LogContents contents = read_log(
      "vllm serve big\n" + client + console("30.0", "30.5") + "vllm serve big --pipeline-parallel-size 2\n" + client +
      console("90.0", "800.0") + "vllm serve big --speculative-config '{\"num_speculative_tokens\": 3}'\n" + client +
      console("20.0", "50.0"));
  REQUIRE(contents.observations.size() == 3);
  CHECK(contents.observations[1].decoding != Decoding::speculative);
  CHECK(contents.observations[2].decoding == Decoding::speculative);
  CHECK(contents.observations[2].gamma == 3);
  CHECK(contents.observations[2].concurrency == 8.0);
}

TEST_CASE("an item of a list that looks like a head of arms is none") {
  const std::string table = "| Metric | Result |\n|---|---|\n| Output throughput | 41.5 tok/s |\n";
  const std::string items = "- Speculative decoding: draft-MTP n-max=2\n- Reasoning: enabled, 1024-token budget\n";
  const LogContents contents =
      read_log(table + "| MTP draft acceptance rate | 80 % (160/200) |\n\n## Environment\n\n" + items);
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].times.output_tokens_per_s == 41.5);
  CHECK(contents.observations[0].acceptance_length == near(2.6));  // K is in the list below
  CHECK_FALSE(warns(contents, "W18"));
  // Nor are words below arms a question.
  CHECK_FALSE(warns(read_log(table + "| acceptance rate | 80 % |\n\n| Part | baseline | MTP K=2 |\n|---|---|---|\n"
                                     "| kernel | old | new |\n"),
                    "W18"));
}

TEST_CASE("a request of llama-server whose statistics are cut off has the draft length of the others") {
  const std::string first =
      "I slot print_timing: id  0 | task 0 | draft acceptance = 0.75000 (    6 accepted /     8 generated), mean len = "
      " "
      "2.50\n"
      "I spec common_specu: statistics        draft-mtp: #calls(b,g,a) =    1      4      4, #gen drafts =      4, "
      "#acc drafts =     4, #gen tokens =      8, #acc tokens =     6, #mean acc len = 2.50, #acc rate/pos = (1.000, "
      "0.500), dur(b,g,a) = 0.003, 18.757, 0.007 ms\n";
  const auto requests = [&](const std::string& generated) {
    return read_log(first + "I slot print_timing: id  0 | task 6 | draft acceptance = 0.75000 (  300 accepted /   " +
                    generated + " generated), mean len =  2.50\n")
        .observations;
  };
  REQUIRE(requests("398").size() == 2);
  CHECK(requests("398")[1].gamma == 2);
  CHECK_FALSE(requests("320")[1].gamma);
}

TEST_CASE("rows that only an unknown column of words tells apart are apart") {
  const std::string head = "| Trained with | tok/s | accept len |\n|---|---|---|\n";
  const auto runs = posted_runs(head + "| few pages | 70 | 1.2 |\n| many pages | 90 | 1.6 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].stratum.category == "few pages");
  CHECK(runs[1].stratum.category == "many pages");
  const auto arms = posted_runs(
      "| mode | Attention | tok/s |\n|---|---|---|\n| plain | paged | 40 |\n| plain | dense | 80 |\n"
      "| MTP K=2 | paged | 60 |\n| MTP K=2 | dense | 100 |\n",
      "table");
  REQUIRE(arms.size() == 4);
  CHECK(arms[0].stratum.category == "paged");
  CHECK(arms[3].stratum.category == "dense");
  const auto metrics = posted_runs(
      "| mode | Of what | tok/s |\n|---|---|---|\n| plain | output throughput | 40 |\n| plain | TPOT | 25 |\n"
      "| MTP K=2 | output throughput | 60 |\n| MTP K=2 | TPOT | 17 |\n",
      "table");
  CHECK_FALSE(metrics.at(0).stratum.category);
  const auto remarks = posted_runs(
      "| mode | Seen | tok/s |\n|---|---|---|\n| plain | yesterday | 40 |\n| MTP K=2 | twice | 60 |\n"
      "| MTP K=2 | today | 62 |\n",
      "table");
  REQUIRE(remarks.size() == 3);
  CHECK_FALSE(remarks[1].stratum.category);
  CHECK(remarks[1].drafter == "MTP K=2, twice");
  CHECK(remarks[2].drafter == "MTP K=2, today");
}

TEST_CASE("rows that only sizes tell apart are apart, and those of which both arms are known are compared") {
  const auto runs = posted_runs(
      "| config | max_model_len | KV cache | tok/s |\n|---|---|---|---|\n| no MTP | 8192 | fp8 | 41 |\n"
      "| MTP n=1 | 8192 | fp8 | 55 |\n| MTP n=1 | 8192 | bf16 | 54 |\n| no MTP | 65536 | bf16 | 40 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == runs[1].stratum.category);
  CHECK(runs[2].stratum.category != runs[1].stratum.category);
  CHECK(runs[3].stratum.category != runs[2].stratum.category);
  const auto watts = posted_runs(
      "| config | Watts | tok/s |\n|---|---|---|\n| no MTP | 310 | 41 |\n| MTP n=1 | 310 | 55 |\n| MTP n=1 | 312 | 54 "
      "|\n",
      "table");
  CHECK_FALSE(watts.at(1).stratum.category);
}

TEST_CASE("prompts of several lengths are no repetitions, unless the lengths were measured") {
  const auto runs = posted_runs(
      "| ISL | baseline TPOT (ms) | MTP K=3 TPOT (ms) |\n|---|---|---|\n| 1,024 | 15 | 10 |\n| 8,192 | 20 | 16 |\n",
      "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].stratum.category == runs[1].stratum.category);
  CHECK(runs[0].stratum.category != runs[2].stratum.category);
  const auto measured = posted_runs(
      "| mode | output tokens | tok/s |\n|---|---|---|\n| plain | 512 | 40 |\n| plain | 498 | 41 |\n| MTP K=2 | 505 | "
      "60 |\n",
      "table");
  CHECK_FALSE(measured.at(0).stratum.category);
}

TEST_CASE("speeds of all requests at an unknown load are times only beside a plain run") {
  const std::string head = "| config | acceptance length | Output Throughput (tok/s) |\n|---|---|---|\n";
  const std::string drafts = head + "| MTP K=2 | 2.1 | 300 |\n";
  CHECK_FALSE(posted_runs(drafts, "table").at(0).times.tpot_ms);
  CHECK(posted_runs(drafts + "| no MTP | | 200 |\n", "table").at(0).times.tpot_ms);
}

TEST_CASE("llama-speculative prints its counters behind the time of the log") {
  const auto runs = read_log(
                        "12.04.110.001 I encoded   40 tokens in    2.000 seconds, speed:   20.000 t/s\n"
                        "12.04.110.002 I decoded  200 tokens in   10.000 seconds, speed:   20.000 t/s\n"
                        "12.04.110.002 I \n12.04.110.002 I n_draft   = 4\n12.04.110.002 I n_predict = 200\n"
                        "12.04.110.003 I n_drafted = 200\n12.04.110.003 I n_accept  = 150\n")
                        .observations;
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 4);
  CHECK(runs[0].acceptance->steps == 50);
  CHECK(runs[0].times.duration_s == 10.0);
}

TEST_CASE("counts in the words of a line, before or after them") {
  for (const char* line :
       {"6,000 accepted / 21,000 drafted / 3,000 steps", "accepted: 6000, drafted: 21000, steps: 3000",
        "3000 verification steps, 21000 tokens drafted, 6000 tokens accepted.",
        "Over 3000 rounds it had 6000 accepted of 21000 proposed"}) {
    CAPTURE(line);
    const auto runs = read_log(std::string(line) + "\n").observations;
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].gamma == 7);
    CHECK(runs[0].acceptance->steps == 3000);
    CHECK(runs[0].acceptance->accepted_tokens == 6000);
  }
  for (const char* line : {"drafted 21000 accepted 6000 steps 3000",  // whose number is 6000?
                           "6000 accepted / 2100 drafted / 300 steps", "85 % accepted, 2.5 drafted in 300 steps"}) {
    CAPTURE(line);
    CHECK_THROWS(read_log(std::string(line) + "\n"));
    CHECK_NOTHROW(read_log(std::string(line) + "\n\n| mode | tok/s |\n|---|---|\n| plain | 40 |\n"));
  }
}

TEST_CASE("ATOM prints the acceptance of intervals, and since the start") {
  const std::string interval =
      "100:[atom 10:00:00] [MTP Stats Interval] Average toks/fwd: 2.70, Accepted/Total Draft tokens: 1700/3000, "
      "Acceptance rate: 56.67%, Accepted tokens distribution: {0: '10.00%', 1: '30.00%', 2: '40.00%', 3: '20.00%'}\n";
  const std::string since =
      "101:[atom 10:00:00] [MTP Stats         ] Average toks/fwd: 2.60, Accepted/Total Draft tokens: 16000/30000, "
      "Acceptance rate: 53.33%, Accepted tokens distribution: {0: '10.00%', 1: '40.00%', 2: '30.00%', 3: '20.00%'}\n";
  const auto intervals = posted_runs(interval + interval, "atom");
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].span == logs::Span::window);
  CHECK(intervals[0].gamma == 3);
  CHECK(intervals[0].acceptance->steps == 1000);
  CHECK(intervals[0].acceptance->accepted_at == std::vector<std::int64_t>{900, 600, 200});
  const auto runs = posted_runs(since + interval + since, "atom");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->steps == 10'000);
  CHECK(runs[0].acceptance->accepted_tokens == 16'000);
}

TEST_CASE("SGLang drafts as many tokens as steps where its drafts are one token wide, and a script states its load") {
  const auto asked = [](const std::string& width) {
    return read_log(
        "python -m sglang.launch_server \\\n    --speculative-algorithm EAGLE3 \\\n    --speculative-num-steps 3 "
        "\\\n    --speculative-eagle-topk " +
        width +
        " \\\n    --speculative-num-draft-tokens 16\n\npython ask.py --parallel 2 --num-questions 40\n\n"
        "Average Latency: 80.000 s\nAverage Output throughput: 50.000 token/s\n"
        "Average Accept length: 1.900\n");
  };
  const LogContents chain = asked("1");
  REQUIRE(chain.observations.size() == 1);
  CHECK(chain.observations[0].gamma == 3);
  CHECK(chain.observations[0].concurrency == 2.0);
  CHECK_FALSE(warns(chain, "W18"));  // options are no table
  CHECK_FALSE(asked("4").observations.at(0).gamma);
}

TEST_CASE("times of whole answers by arm have the ratios of their speedups") {
  const auto runs = posted_runs(
      "Method                     | Avg Time (s) | Speedup\n----------------------------------------\n"
      "1. No Spec Decode (usual)  |        2.400 |   1.00x\n2. Spec Decode + Baseline   |        1.500 |   1.60x\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(*runs[0].times.tpot_ms / *runs[1].times.tpot_ms == near(1.6));
  const auto parallel = posted_runs(
      "target | draft | tp | latency\n-- | -- | -- | --\nbig | small | 1 | 4.0s\nbig | small | 2 | 6.0s\n"
      "big | None | 1 | 5.0s\nbig | None | 2 | 3.0s\n",
      "table");
  REQUIRE(parallel.size() == 4);
  CHECK(parallel[2].decoding == Decoding::plain);
  CHECK(parallel[2].stratum.category == parallel[0].stratum.category);
  CHECK(parallel[2].stratum.category != parallel[3].stratum.category);
  // Another ratio than that of the times; nothing that drafts.
  for (const char* rows : {"| baseline | 9.0 | 1.00x |\n| EAGLE | 3.0 | 2.00x |\n",
                           "| baseline | 9.0 | 1.00x |\n| ninja | 3.0 | 3.00x |\n"})
    CHECK_THROWS(read_log("| Method | Time (s) | Speedup |\n|---|---|---|\n" + std::string(rows)));
}

}  // namespace foredraft::tests
