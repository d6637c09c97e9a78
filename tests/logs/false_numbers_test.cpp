// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Logs from which a number is computed that is easily wrong, and which then have none.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

std::string efficiency_scrape(const std::string& efficiency, const std::string& drafted, const std::string& emitted) {
  return "vllm:spec_decode_efficiency{m=\"t\"} " + efficiency + "\nvllm:spec_decode_num_draft_tokens_total{m=\"t\"} " +
         drafted + "\nvllm:spec_decode_num_emitted_tokens_total{m=\"t\"} " + emitted + "\n";
}

}  // namespace

TEST_CASE("the efficiency of vLLM before V1 is since the start, also of a window") {
  const LogContents contents =
      read_log(efficiency_scrape("0.5", "150000", "100000") + efficiency_scrape("0.75", "300000", "300000"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 3);
  CHECK(contents.observations[0].acceptance->steps == 50'000);
  CHECK(contents.observations[0].acceptance->accepted_tokens == 150'000);
  CHECK_FALSE(warns(contents, "W02"));
  CHECK(warns(read_log(efficiency_scrape("0.5", "150000", "100000")), "W02"));
}

TEST_CASE("chunks of one token are no iterations where only the acceptance length was recorded") {
  const LogContents contents = read_log(
      R"({"num_speculative_tokens": 3, "accepted_length_tau": 2.5, "request_decode_tok_s_mean": 100.0, "itl_ms": 10.0})");
  REQUIRE(contents.observations.size() == 1);
  CHECK_FALSE(contents.observations[0].times.iteration_ms);
  CHECK(warns(contents, "W07"));
}

TEST_CASE("a row with drafts but without a draft length keeps its counts") {
  const auto rows = read_log("gamma,steps,drafted,accepted\n,1000,3000,1500\n,1000,0,0\n").observations;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].decoding == Decoding::speculative);
  REQUIRE(rows[0].acceptance);
  CHECK(rows[0].acceptance->accepted_tokens == 1500);
  CHECK(rows[1].decoding == Decoding::unknown);
}

TEST_CASE("of columns with one name the first is read") {
  const auto rows = read_log("gamma,tpot_ms,gamma\n3,20,5\n").observations;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].gamma == 3);
}

TEST_CASE("acceptance at tokens may be numbered from 1, if there are as many as drafts") {
  const std::string counts = "num_drafts: 100\nnum_draft_tokens: 300\nnum_accepted_tokens: 150\n";
  const std::string two = "acceptance at token 1: 0.70\nacceptance at token 2: 0.50\n";
  const auto all = read_log(counts + two + "acceptance at token 3: 0.30\n").observations;
  REQUIRE(all.size() == 1);
  CHECK(all[0].acceptance->accepted_at == Counts{70, 50, 30});
  const LogContents cut = read_log(counts + two);  // whose first is missing
  CHECK(cut.observations.at(0).acceptance->accepted_at.empty());
  CHECK(warns(cut, "W18"));
}

TEST_CASE("columns of positions are read in their order, and none if one before another is missing") {
  const std::string rule = "\n|---|---|---|---|---|---|---|---|\n| 3 | 100 | 300 | 150 | 90 | ";
  const std::string front = "| K | steps | drafted | accepted | tok/s | ";
  const auto reversed = read_log(front + "pos 3 | pos 2 | pos 1 |" + rule + "0.3 | 0.5 | 0.7 |\n").observations;
  REQUIRE(reversed.size() == 1);
  CHECK(reversed[0].acceptance->accepted_at == Counts{70, 50, 30});
  const auto from_zero = read_log(front + "pos 0 | pos 1 | pos 2 |" + rule + "0.7 | 0.5 | 0.3 |\n").observations;
  CHECK(from_zero.at(0).acceptance->accepted_at == Counts{70, 50, 30});
  const LogContents gap = read_log(front + "pos 1 | pos 2 | pos 3 |" + rule + "0.7 | - | 0.3 |\n");
  REQUIRE(gap.observations.size() == 1);
  CHECK(gap.observations[0].acceptance->accepted_at.empty());
  CHECK(warns(gap, "W18"));
}

TEST_CASE("drafts of SGLang's steps beyond any number are none") {
  const auto windows = [](const std::string& steps, const std::string& interval) {
    return read_log("server_args=ServerArgs(model_path='m', speculative_num_steps=" + steps +
                    ", speculative_eagle_topk=1, decode_log_interval=" + interval +
                    ")\n[2025-09-02 10:00:00] Decode batch. #running-req: 2, #token: 900, accept len: 2.50, "
                    "gen throughput (token/s): 125.00, \n")
        .observations;
  };
  CHECK_FALSE(windows("2000000000", "9000000000").at(0).gamma);
  CHECK_FALSE(windows("2000000000", "9000000000").at(0).acceptance->drafted_tokens);
  CHECK_FALSE(windows("4000", "90000000000000").at(0).acceptance->drafted_tokens);
  CHECK(windows("4", "10").at(0).acceptance->drafted_tokens == 80);
}

TEST_CASE("an SGLang server may be adaptive by an option on a line above or below that of its steps") {
  const std::string steps = "--speculative-num-steps 3 \\\n  --speculative-eagle-topk 1";
  for (const std::string above : {"python3 -m sglang.launch_server --model m \\\n  ", "args:\n  "}) {
    const auto server = [&](const std::string& options) {
      return above + options +
             "\n============ Serving Benchmark Result ============\nBackend:     sglang\nSuccessful requests:     8\n"
             "Output token throughput (tok/s):         90.0\nAccept length:     2.00\n";
    };
    const auto runs = posted_runs(server("--speculative-adaptive \\\n  " + steps) + server(steps) +
                                      server(steps + " \\\n  --speculative-adaptive"),
                                  "bench-serving");
    REQUIRE(runs.size() == 3);
    CHECK_FALSE(runs[0].gamma);
    CHECK(runs[1].gamma == 3);
    CHECK_FALSE(runs[2].gamma);
    const std::string tree = "--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8";
    const auto with_tree = posted_runs(server(tree) + server(steps), "bench-serving");
    CHECK_FALSE(with_tree.at(0).gamma);
    CHECK(with_tree.at(0).tree == logs::DraftTree{.steps = 3, .width = 4, .tokens = 8});
    CHECK_FALSE(with_tree.at(1).tree);
  }
}

TEST_CASE("pooled counts beyond 2^53 are absent") {
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  const auto window = [](std::int64_t steps, std::int64_t drafted) {
    return Observation{
        .decoding = Decoding::speculative,
        .acceptance = logs::AcceptanceCounts{
            .steps = steps, .drafted_tokens = drafted, .accepted_tokens = 10, .accepted_at = {drafted, 5}}};
  };
  const Observation many = logs::pooled(window(100, largest), window(100, 1));
  REQUIRE(many.acceptance);
  CHECK(many.acceptance->steps == 200);
  CHECK(many.acceptance->accepted_tokens == 20);
  CHECK_FALSE(many.acceptance->drafted_tokens);
  CHECK(many.acceptance->accepted_at.empty());
  CHECK_FALSE(logs::pooled(window(largest, 1), window(1, 1)).acceptance);
  CHECK(logs::pooled(window(largest - 1, 1), window(1, 1)).acceptance->steps == largest);
}

TEST_CASE("the names of the series of a scrape are bounded") {
  const auto scrape = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "vllm:spec_decode_num_drafts_total{id=\"" + std::to_string(i) + std::string(100'000, 'a') + "\"} 1.0\n";
    }
    return text;
  };
  CHECK(problem(scrape(5)).empty());
  CHECK(problem(scrape(20)).starts_with("some.log:11: too many series"));
}

TEST_CASE("a number that may begin before what is looked at, and a line that is too long, are no speed") {
  const auto runs = posted_runs("MTP: " + std::string(80, '1') + " -> 50.0 tok/s\n", "prose");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  const std::string speeds = "baseline: 40.0 tok/s, MTP: 50.0 tok/s\n";
  CHECK(posted_runs(std::string(10'000, '.') + " " + speeds, "prose").size() == 2);
  CHECK_FALSE(problem(std::string(20'000, '.') + " " + speeds).empty());
}

TEST_CASE("an arrow between arms may be any arrow") {
  for (const std::string arrow : {"->", "\xE2\x86\x92"}) {
    CAPTURE(arrow);
    const std::string text = "7B " + arrow + " 7B MTP " + arrow + " 7B MTP: 10.0 " + arrow + " 20.0 t/s\n";
    CHECK(problem(text).find("10 and 20 tok/s") != std::string::npos);
  }
}

TEST_CASE("no acceptance length of drafts that give few of the tokens") {
  const auto row_of = [](const std::string& headings, const std::string& cells) {
    return read_log("| turn | tokens |" + headings + " tok/s |\n|---|---|---|---|---|---|\n| 1 | " + cells +
                    " | 40 |\n");
  };
  for (const auto& [headings, cells] : {std::pair(" proposals | drafted | accepted |", "800 | 12 | 60 | 40"),
                                        {" drafts | proposed | accepted |", "900 | 45 | 1000 | 700"},
                                        {" K | drafted | accepted |", "900 | 4 | 200 | 150"},
                                        {" accept rate | drafted | accepted |", "900 | 66.7% | 30 | 20"}}) {
    const LogContents contents = row_of(headings, cells);
    REQUIRE(contents.observations.size() == 1);
    CHECK(contents.observations[0].decoding == Decoding::speculative);
    CHECK_FALSE(contents.observations[0].acceptance);
    CHECK_FALSE(contents.observations[0].acceptance_length);
    CHECK(contents.observations[0].times.tpot_ms == near(25.0));
    CHECK(warns(contents, "W18"));
  }
  // Proposals of all steps count these; of tokens they are unsure.
  const LogContents all = row_of(" proposals | drafted | accepted |", "500 | 200 | 400 | 290");
  CHECK(all.observations.at(0).acceptance->steps == 200);
  CHECK(all.observations.at(0).gamma == 2);
  CHECK_FALSE(row_of(" K | proposals | accepted |", "500 | 2 | 200 | 290").observations.at(0).acceptance);
}

TEST_CASE("few steps are a draft length, many are counted") {
  const auto runs = [](const std::string& heading, const std::string& most) {
    return read_log("| " + heading + " | AL | tok/s |\n|---|---|---|\n| off | - | 40 |\n| 1 | 1.7 | 50 |\n| " + most +
                    " | 2.4 | 55 |\n")
        .observations;
  };
  for (const std::string heading : {"steps", "num_steps", "Steps"}) {
    const auto few = runs(heading, "3");
    REQUIRE(few.size() == 3);
    CHECK(few[0].decoding == logs::Decoding::plain);
    CHECK(few[1].gamma == 1);
    CHECK(few[2].gamma == 3);
    for (const auto& one : runs(heading, "300")) CHECK_FALSE(one.gamma);
  }
}

TEST_CASE("rates that rise with K are no share of the drafted tokens") {
  const auto table = [](const std::string& heading, const std::string& rates) {
    return read_log("| K | " + heading + " | tok/s |\n|---|---|---|\n| 0 | | 20 |\n" + rates);
  };
  for (const LogContents& contents : {table("acceptance", "| 1 | 0.50 | 31 |\n| 2 | 0.67 | 35 |\n| 3 | 0.75 | 36 |\n"),
                                      table("accept rate", "| 4 | 80 % | 36 |\n| 2 | 66 % | 35 |\n")}) {
    CHECK(warns(contents, "W17"));
    for (const Observation& run : contents.observations) CHECK_FALSE(run.acceptance_length);
    CHECK(contents.observations.at(1).times.tpot_ms);
  }
  CHECK_THAT(problem("| K | accept rate |\n|---|---|\n| 1 | 0.50 |\n| 2 | 0.67 |\n"), Catch::Contains("accept rate"));
  const LogContents falls = table("acceptance", "| 1 | 0.80 | 31 |\n| 2 | 0.67 | 35 |\n| 4 | 0.68 | 36 |\n");
  CHECK_FALSE(warns(falls, "W17"));
  CHECK(falls.observations.at(1).acceptance_length == near(1.8));
  const LogContents models = read_log(
      "| model | K | acceptance | tok/s |\n|---|---|---|---|\n| foo | 1 | 0.5 | 31 |\n| bar | 3 | 0.7 | 36 |\n");
  CHECK_FALSE(warns(models, "W17"));
}

TEST_CASE("a cell of another unit, or of several things, is no number of its column, and is named") {
  const std::string head =
      "| where | plain | +EAGLE3 |\n|---|---|---|\n| one user | 20 ms/token | 10 ms/token |\n| all | ";
  for (const std::string cells : {"150 out/total | 120 out/total", "150 / 900 | 120 / 800", "50 tok/s | 100 tok/s",
                                  "14 / 28 / 46 | 30 / 48 / 71"}) {
    CAPTURE(cells);
    const LogContents contents = read_log(head + cells + " |\n");
    CHECK(contents.observations.size() == 2);
    CHECK(warns(contents, "W18"));
  }
  const LogContents contents = read_log(head + "20.0/0.3 | 12 / 11 |\n");  // a deviation, two runs
  REQUIRE(contents.observations.size() == 4);
  CHECK(contents.observations[2].times.tpot_ms == 20.0);
  CHECK_FALSE(warns(contents, "W18"));
  const auto speeds = read_log("| config | tok/s |\n|---|---|\n| plain | 900 ms |\n| MTP | 40 |\n").observations;
  REQUIRE(speeds.size() == 1);
  CHECK(speeds[0].times.tpot_ms == 25.0);
}

TEST_CASE("the size of a cache is no speed, and no time is shorter than any engine's") {
  const std::string rows =
      "| Spec | K | GPU KV cache | CPU KV cache |\n|---|---|---|---|\n| none | 0 | 1,500 | 600 |\n"
      "| MTP | 3 | 1,400 | 550 |\n";
  CHECK_FALSE(problem("Numbers are tok/s.\n\n" + rows).empty());
  for (const std::string speeds : {"tok/s", "tok/s per request"}) {
    const LogContents contents =
        read_log("| config | " + speeds + " |\n|---|---|\n| baseline | 1400000 |\n| MTP K=2 | 1500000 |\n");
    CHECK(warns(contents, "W18"));
    for (const auto& run : contents.observations) {
      CHECK_FALSE(run.times.tpot_ms);
      CHECK_FALSE(run.times.output_tokens_per_s);
    }
  }
}

TEST_CASE("of several statistics in a cell the mean or the median is read") {
  for (const auto& [heading, of] : {std::pair("tok/s (mean / median / max)", "50 / 60 / 90"),
                                    std::pair("tok/s p50/p99", "50 / 20"), std::pair("min/avg tok/s", "20 / 50")}) {
    CAPTURE(heading);
    const auto runs = read_log(std::string("| config | ") + heading + " |\n|---|---|\n| plain | " + of +
                               " |\n| MTP K=2 | " + of + " |\n")
                          .observations;
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].times.tpot_ms == 20.0);
  }
}

TEST_CASE("models in the names of rows are not compared") {
  const std::string head = "| config | tok/s |\n|---|---|\n";
  for (const std::string rows :
       {"| Qwen3.8-27B, no MTP | 20 |\n| Qwen3.8-27B, MTP n-max 1 | 30 |\n| Qwen3.6-35B-A3B, MTP | 80 |\n",
        "| gemma-3-27b baseline | 20 |\n| gemma-3-27b + MTP K=2 | 30 |\n| llama-3.1-8b + MTP K=2 | 80 |\n"}) {
    const auto runs = read_log(head + rows).observations;
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].stratum.category == runs[1].stratum.category);
    CHECK(runs[0].stratum.category != runs[2].stratum.category);
  }
  const auto drafters = read_log(head + "| Qwen3-32B baseline | 20 |\n| Qwen3-0.6B draft K=4 | 30 |\n").observations;
  REQUIRE(drafters.size() == 2);
  CHECK(drafters[0].stratum.category == drafters[1].stratum.category);
}

TEST_CASE("thresholds in a table are no measurements") {
  const std::string text =
      "| Metric | Healthy | Broken |\n|---|---|---|\n| accept rate | 0.8~1.0 | < 0.3 |\n| accept len | 2.5 | 1.0 |\n";
  CHECK(problem(text).find("no line of a known format") != std::string::npos);
}

}  // namespace foredraft::tests
