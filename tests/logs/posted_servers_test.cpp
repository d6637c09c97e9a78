// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Posted logs and metrics of servers: wrapped, shortened, partial, or from a web page.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

const std::string tenth_second =
    "INFO 03-04 10:00:10 [loggers.py:271] Engine 001: Avg prompt throughput: 0.1 tokens/s, Avg generation throughput: "
    "42.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%\n";

}  // namespace

TEST_CASE("lines of vLLM that were broken to fit a page are put together") {
  const std::string broken =
      "The server says:\n"
      "```\n"
      "SpecDecoding metrics: Mean acceptance length: 1.75, Accepted throughput: 15.00 tokens/s,\n"
      "  Drafted throughput: 20.00 tokens/s, Accepted: 150 tokens, Drafted: 200 tokens,\n"
      "  Per-position acceptance rate: 0.750, Avg Draft acceptance rate: 75.0%\n"
      "```\n";
  const auto windows = posted_runs(broken, "vllm");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].line == 5);
  CHECK(windows[0].gamma == 1);
  CHECK(windows[0].acceptance->steps == 200);
  CHECK(windows[0].acceptance->accepted_at == Counts{150});
  CHECK(windows[0].times.duration_s == near(10.0));
  const auto engine = posted_runs(
      "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 75.0 tokens/s,\n"
      "Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%\n",
      "vllm");
  REQUIRE(engine.size() == 1);
  CHECK(engine[0].requests == 3.0);
  // A line in between ends it: the rest has no counts. A continuation alone is ignored.
  std::string apart = broken;
  apart.insert(apart.find("  Drafted"), "GET /health\n");
  CHECK_FALSE(posted_runs(apart, "vllm").at(0).acceptance);
  CHECK(problem("Drafted: 200 tokens, Per-position acceptance rate: 0.750\n").find("no line") != std::string::npos);
}

TEST_CASE("lines of vLLM without throughput that were broken within their rates") {
  const auto windows = posted_runs(
      "SpecDecoding metrics: Mean acceptance length: 2.50,\n"
      "Accepted: 600 tokens, Drafted: 1200 tokens,\n"
      "Per-position acceptance rate: 0.800, 0.500,\n"
      "0.200, Avg Draft acceptance rate: 50.0%\n",
      "vllm");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].gamma == 3);
  CHECK(windows[0].acceptance->steps == 400);
}

TEST_CASE("a line with a server's load and its metrics, as LMDeploy writes it, is one window") {
  const std::string line =
      "2026-03-11 10:22:41,120 - lmdeploy - INFO - [DP0] Avg prompt throughput: 1.0 tokens/s, Avg generation "
      "throughput: "
      "75.0 tokens/s, Finished: 4, Running: 2 reqs, Waiting: 0 reqs, SpecDecoding metrics: Draft acceptance rate: "
      "50.00%, Mean acceptance length: 2.50, Accepted: 450 tokens, Drafted: 900 tokens, Per-position acceptance rate: "
      "0.800, 0.500, 0.200\n";
  std::string second = line;
  second.replace(second.find("10:22:41"), 8, "10:22:51");
  const auto windows = posted_runs(line + second, "vllm");
  REQUIRE(windows.size() == 2);
  CHECK(windows[1].gamma == 3);
  CHECK(windows[1].acceptance->steps == 300);
  CHECK(windows[1].requests == 2.0);
  CHECK(windows[1].times.output_tokens_per_s == 75.0);
  CHECK(windows[1].times.duration_s == near(10.0));
}

TEST_CASE("vLLM's line of September 2025 begins with the rate and has throughput") {
  const std::string line =
      "(APIServer pid=7) INFO 09-09 11:00:00 [metrics.py:96] SpecDecoding metrics: Draft acceptance rate: 60.0%, Mean "
      "acceptance length: 2.20, Accepted throughput: 12.00 tokens/s, Drafted throughput: 20.00 tokens/s, Accepted: 120 "
      "tokens, Drafted: 200 tokens, Per-position acceptance rate: 0.700, 0.500";
  const auto windows = posted_runs(line + "\n", "vllm");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].gamma == 2);
  CHECK(windows[0].acceptance->accepted_at == Counts{70, 50});
  CHECK(windows[0].times.duration_s == near(10.0));
  const auto cut = posted_runs(line.substr(0, line.size() - 7) + "\n", "vllm");
  CHECK(cut.at(0).gamma == 2);
  CHECK(cut[0].acceptance->accepted_at.empty());
}

TEST_CASE("vLLM 0.5 says tokens twice") {
  const auto windows = posted_runs(
      "INFO 07-24 04:00:31 metrics.py:316] Speculative metrics: Draft acceptance rate: 0.500, System efficiency: "
      "0.500, "
      "Number of speculative tokens: 3, Number of accepted tokens: 300, Number of draft tokens tokens: 600, Number of "
      "emitted tokens tokens: 400.\n",
      "vllm-v0");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].acceptance->steps == 200);
  CHECK(windows[0].acceptance->accepted_tokens == 200);
}

TEST_CASE("an answer whose other members a post left out") {
  const auto answers = posted_runs(
      "```json\n{\n  \"choices\": [ ... ],\n  \"usage\": { ... },\n  \"metrics\": {\n    \"speculative_decoding\": {\n"
      "      \"acceptance_histogram\": [4, 2, 4],\n      \"num_spec_steps\": 10,\n      \"num_spec_tokens\": 2,\n"
      "      ...\n    },\n    ...\n  }\n}\n```\n",
      "request-metrics");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].acceptance->steps == 10);
  CHECK(answers[0].acceptance->accepted_tokens == 10);
}

TEST_CASE("a line of vLLM that was shortened for a post has its length and the draft length") {
  const auto windows = posted_runs(
      "SpecDecoding metrics: Mean acceptance length: 3.00, ...\n"
      "Per-position acceptance rate: 0.80, 0.60, ..., 0.10\n"
      "Avg Draft acceptance rate: 40.0%\n",
      "vllm");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].decoding == Decoding::speculative);
  CHECK(windows[0].acceptance_length == 3.0);
  CHECK(windows[0].gamma == 5);
  CHECK_FALSE(windows[0].acceptance);
}

TEST_CASE("one window of vLLM lasts as long as its tokens say, not since the last draft") {
  const auto windows = posted_runs(
      tenth_second +
          "INFO 03-04 10:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.80, Accepted "
          "throughput: "
          "9.00 tokens/s, Drafted throughput: 15.00 tokens/s, Accepted: 270 tokens, Drafted: 450 tokens, Per-position "
          "acceptance rate: 0.800, 0.600, 0.400, Avg Draft acceptance rate: 60.0%\n",
      "vllm");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].times.duration_s == 10.0);  // 420 tokens at 42 tokens/s, the throughput of drafts is of 30 s
  CHECK_FALSE(windows[0].acceptance->generated_tokens);
}

TEST_CASE("a console that was cut is no plain run beside the log of a server that speculates") {
  const std::string console =
      "============ Serving Benchmark Result ============\n"
      "Successful requests:                     100\n"
      "Request rate configured (RPS):           20.00\n"
      "Output token throughput (tok/s):         1000.00\n"
      "Mean TPOT (ms):                          17.00\n";
  const std::string server =
      "SpecDecoding metrics: Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 150 tokens, "
      "Drafted: "
      "300 tokens, Per-position acceptance rate: 0.800, 0.450, 0.250\n";
  CHECK(read_log(console).observations.at(0).decoding == Decoding::plain);
  const LogContents both = read_log(server + console);
  REQUIRE(both.observations.size() == 2);
  CHECK(both.observations[1].decoding == Decoding::unknown);
  const LogContents whole = read_log(server + console + "Mean ITL (ms):    17.10\n");
  CHECK(whole.observations.at(1).decoding == Decoding::plain);
}

TEST_CASE("consoles of 2025 without and with speculation in one post: chunks of several tokens beside those of one") {
  const auto console = [](const std::string& tpot, const std::string& itl) {
    return "============ Serving Benchmark Result ============\n"
           "Successful requests:                     80\n"
           "Output token throughput (tok/s):         100.00\n"
           "Mean TPOT (ms):                          " +
           tpot + "\nMean ITL (ms):                           " + itl + "\n";
  };
  const LogContents contents = read_log(console("6.00", "12.00") + console("9.00", "9.05"));
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].decoding == Decoding::speculative);
  CHECK(contents.observations[0].acceptance_length == near(2.0));
  CHECK(contents.observations[0].times.iteration_ms == near(12.0));
  CHECK(contents.observations[1].decoding == Decoding::plain);
  CHECK(warns(contents, "W10"));
  CHECK(read_log(console("6.00", "12.00")).observations.at(0).decoding == Decoding::unknown);
}

TEST_CASE("a console that was cut below its heading of drafts is of a run that speculates") {
  const auto runs = posted_runs(
      "Successful requests:                     100\n"
      "Output token throughput (tok/s):         1000.00\n"
      "Mean TPOT (ms):                          10.00\n"
      "Mean ITL (ms):                           20.00\n"
      "---------------Speculative Decoding---------------\n"
      "Acceptance rate (%):\n",
      "bench-serving");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].times.iteration_ms == 20.0);
  CHECK(runs[0].acceptance_length == 2.0);  // ITL / TPOT
}

TEST_CASE("logs of vLLM without and with speculation in one post are told apart by the pause between them") {
  const auto window = [](const std::string& clock, bool drafts) {
    const std::string front = "INFO 03-04 " + clock;
    std::string text = front + " [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation " +
                       "throughput: 60.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%\n";
    if (drafts) {
      text += front +
              " [metrics.py:101] SpecDecoding metrics: Draft acceptance rate: 50.0%, Mean acceptance length: 2.00, "
              "Accepted: 300 tokens, Drafted: 600 tokens, Per-position acceptance rate: 0.700, 0.300\n";
    }
    return text;
  };
  const std::string plain = window("10:00:00", false) + window("10:00:10", false) + window("10:00:20", false);
  const std::string drafting = window("10:30:00", true) + window("10:30:10", true) + window("10:30:20", true);
  const auto decodings = [](const std::string& log) {
    std::vector<Decoding> all;
    for (const Observation& one : posted_runs(log, "vllm")) all.push_back(one.decoding);
    return all;
  };
  const std::vector<Decoding> without(3, Decoding::plain);
  std::vector<Decoding> both = without;
  both.insert(both.end(), 3, Decoding::speculative);
  CHECK(decodings("Without:\n" + plain + "With MTP:\n" + drafting) == both);
  CHECK(posted_runs(plain + drafting, "vllm").at(1).times.iteration_ms == near(1000.0 / 60.0));
  std::reverse(both.begin(), both.end());
  CHECK(decodings(drafting + window("11:00:00", false) + window("11:00:10", false) + window("11:00:20", false)) ==
        both);
  // Not if the log states the server's settings, if steps without a draft are usual, or without a pause.
  const std::string settings = "LLM engine (v0.9.0) SpeculativeConfig(method='ngram', num_spec_tokens=2)\n";
  CHECK(decodings(settings + plain + drafting).front() != Decoding::plain);
  const std::string skipping = drafting + window("10:30:30", false) + window("10:30:40", false);
  CHECK(decodings(plain + skipping).front() != Decoding::plain);
  CHECK(decodings(plain + window("10:00:30", true)).front() != Decoding::plain);
}

TEST_CASE("a quotation in a post is read, whatever share of it that is") {
  std::string quoted;
  for (int i = 0; i < 9; ++i) quoted += "I tried it again.\n";
  quoted +=
      "> ============ Serving Benchmark Result ============\n"
      "> Successful requests:                     80\n"
      "> Output token throughput (tok/s):         400.00\n"
      ">> Mean TPOT (ms):                          10.00\n"
      "> Acceptance length:                       2.10\n";
  const auto runs = posted_runs(quoted, "bench-serving");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].line == 14);
  CHECK(runs[0].acceptance_length == 2.1);
  CHECK(runs[0].times.tpot_ms == 10.0);
}

TEST_CASE("scripts of SGLang and SpecForge: throughput and length of a set of questions, a length of 1 is plain") {
  const auto runs = posted_runs(
      "python3 run_questions.py\n"
      "Latency: 100.000 s\n"
      "Output throughput: 1000.000 token/s\n"
      "Accept length: 1.000\n"
      "python3 run_questions.py\n"
      "Accuracy: 0.950\n"
      "Average Latency: 80.000 s\n"
      "Average Output throughput: 1250.000 token/s\n"
      "Average Accept length: 2.500\n"
      "#questions: 80, Throughput: 300.00 token/s, Acceptance length: 3.20\n",
      "bench-serving");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.output_tokens_per_s == 1000.0);
  CHECK(runs[0].times.duration_s == 100.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].acceptance_length == 2.5);
  CHECK(runs[1].times.output_tokens_per_s == 1250.0);
  CHECK(runs[2].acceptance_length == 3.2);
  CHECK(runs[2].times.output_tokens_per_s == 300.0);
}

TEST_CASE("SpecForge's sets of questions are kinds of prompts, each with the setting and the load printed above it") {
  const auto results = [](const std::string& title, const std::string& speed, const std::string& length) {
    return "\n==========\n" + title +
           " Evaluation Results\n==========\nNumber of questions: 20\nAverage Latency: 30.000 s\n" +
           "Average Output throughput: " + speed + " token/s\nAverage Accept length: " + length + "\n==========\n";
  };
  const std::string log =
      "Running benchmark mtbench with 20 prompts, batch size 8, steps 0, topk 0, num_draft_tokens 0, subset None\n" +
      results("MT-Bench", "500.000", "1.000") +
      "Running benchmark mtbench with 20 prompts, batch size 2, steps 4, topk 1, num_draft_tokens 5, subset None\n" +
      results("MT-Bench", "900.000", "2.600") +
      "Running benchmark math500 with 20 prompts, batch size 2, steps 6, topk 8, num_draft_tokens 32, subset None\n" +
      results("MATH500", "990.000", "3.100");
  const auto runs = posted_runs(log, "bench-serving");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].concurrency == 8.0);
  CHECK(runs[0].stratum.category == "mtbench");
  CHECK(runs[1].stratum.category == "mtbench");
  CHECK(runs[1].gamma == 4);
  CHECK(runs[1].concurrency == 2.0);
  CHECK(runs[2].stratum.category == "math500");
  CHECK_FALSE(runs[2].gamma);  // a tree
  // Without the first line, the title is the name, in its letters; results without a title have none.
  const auto titled = posted_runs(results("HumanEval", "90.000", "2.100") +
                                      "Average Output throughput: 80.000 token/s\n" + "Average Accept length: 2.000\n",
                                  "bench-serving");
  REQUIRE(titled.size() == 2);
  CHECK(titled[0].stratum.category == "humaneval");
  CHECK_FALSE(titled[1].stratum.category);
}

TEST_CASE("SGLang's clients name the engine in several ways") {
  const auto engine_of = [](const std::string& backend) {
    return read_log("Backend:    " + backend +
                    "\nSuccessful requests:    8\nOutput token throughput (tok/s):    100.00\n")
        .engine;
  };
  CHECK(engine_of("sglang-oai-chat") == "sglang");
  CHECK(engine_of("engine") == "sglang");
  CHECK(engine_of("vllm-chat") == "vllm");
  CHECK(engine_of("trt") == "tensorrt-llm");
}

TEST_CASE("the summary of a sweep of vLLM is its runs") {
  const auto runs = posted_runs(sample("vllm_sweep.csv"), "bench-serving-csv");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].concurrency == 4.0);
  CHECK(runs[0].times.tpot_ms == 12.0);
  CHECK(runs[0].times.iteration_ms == 12.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].acceptance->accepted_at == Counts{700, 500});
  CHECK(runs[1].times.iteration_ms == 17.6);
  CHECK(runs[2].times.request_rate_per_s == 5.0);
}

TEST_CASE("metrics of vLLM from the page of Prometheus, and as people write them") {
  const std::string page =
      "vllm:spec_decode_num_drafts_total{engine=\"0\", job=\"vllm\"} | 100\n"
      "-- | --\n"
      "vllm:spec_decode_num_drafts_total{engine=\"1\", job=\"vllm\"} | 60\n"
      "vllm:spec_decode_num_drafts_created{engine=\"0\", job=\"vllm\"} | 1756736798.733569\n"
      "vllm:spec_decode_num_draft_tokens_total{engine=\"0\", job=\"vllm\"} | 200\n"
      "vllm:spec_decode_num_draft_tokens_total{engine=\"1\", job=\"vllm\"} | 120\n"
      "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\", job=\"vllm\"} | 80\n"
      "vllm:spec_decode_num_accepted_tokens_total{engine=\"1\", job=\"vllm\"} | 48\n";
  const auto runs = posted_runs(page, "prometheus");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->steps == 160);
  CHECK(runs[0].acceptance->accepted_tokens == 128);
  CHECK(runs[0].gamma == 2);
  const auto written = posted_runs(
      "    vllm:spec_decode_num_drafts_total: 160\n"
      "    vllm:spec_decode_num_draft_tokens_total = 320.0\n"
      "| vllm:spec_decode_num_accepted_tokens_total | 128 |\n",
      "prometheus");
  REQUIRE(written.size() == 1);
  CHECK(written[0].acceptance->steps == 160);
  CHECK(written[0].acceptance->drafted_tokens == 320);
  CHECK(written[0].acceptance->accepted_tokens == 128);
}

TEST_CASE("SGLang's counters of verifications and tokens give the acceptance between two scrapes") {
  const auto scrape = [](const std::string& requests, const std::string& tokens, const std::string& steps) {
    return "sglang:time_to_first_token_seconds_count{model_name=\"m\"} " + requests +
           "\nsglang:generation_tokens_total{model_name=\"m\"} " + tokens +
           "\nsglang:spec_verify_calls_total{model_name=\"m\"} " + steps +
           "\nsglang:spec_num_steps{tp_rank=\"0\"} 3.0\nsglang:spec_num_draft_tokens{tp_rank=\"0\"} 4.0\n"
           "sglang:spec_accept_length{tp_rank=\"0\"} 3.9\n";
  };
  const auto runs = posted_runs(scrape("5.0", "1000.0", "400.0") + scrape("15.0", "3510.0", "1400.0"), "prometheus");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->steps == 1000);
  CHECK(runs[0].acceptance->accepted_tokens == 1500);
  CHECK(runs[0].acceptance->drafted_tokens == 3000);
  CHECK(runs[0].gamma == 3);
  CHECK_FALSE(runs[0].acceptance_length);
  // More than the drafts can yield: only the gauge remains.
  CHECK(posted_runs(scrape("5.0", "9000.0", "400.0"), "prometheus").at(0).acceptance_length == 3.9);
}

TEST_CASE("consoles in an indented block are read") {
  const auto indented = [](const std::string& console) {
    std::string text = "    ";
    for (const char c : console) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return text;
  };
  CHECK(posted_runs(indented(sample("aiperf_drafts.txt")), "genai-perf").size() == 1);
  const auto plain = posted_runs(sample("trtllm_bench.txt"), "trtllm-bench-console");
  const auto runs = posted_runs(indented(sample("trtllm_bench.txt")), "trtllm-bench-console");
  REQUIRE(runs.size() == plain.size());
  CHECK(runs[0].acceptance_length == plain[0].acceptance_length);
  CHECK(read_log(indented(sample("trtllm_bench.txt"))).settings.method ==
        read_log(sample("trtllm_bench.txt")).settings.method);
}

TEST_CASE("AIPerf's metrics of speculation are of the run above them") {
  const auto runs = posted_runs(sample("aiperf_drafts.txt") + sample("aiperf.txt"), "genai-perf");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  REQUIRE(runs[0].acceptance);
  CHECK(runs[0].acceptance->steps == 7680);
  CHECK(runs[0].acceptance->accepted_tokens == 11520);  // of all steps, not the mean of requests
  CHECK(runs[0].acceptance->accepted_at == Counts{5760, 3840, 1920});
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].times.tpot_ms == 10.0);
  CHECK(runs[0].times.iteration_ms == near(25.0));
  CHECK(runs[0].times.output_tokens_per_s == 390.0);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK(runs[1].times.tpot_ms == 20.0);
}

TEST_CASE("the command lines of SGLang in a post say the draft lengths of what follows") {
  const auto command = [](const std::string& options) {
    return "python3 -m sglang.launch_server --model m \\\n" + options;
  };
  const auto console = [](const std::string& throughput, const std::string& rest) {
    return "============ Serving Benchmark Result ============\nBackend:     sglang\nSuccessful requests:     8\n"
           "Output token throughput (tok/s):         " +
           throughput + "\n" + rest;
  };
  // The length is printed right before the latencies: a console that ends before these may be cut.
  CHECK(posted_runs(console("50.0", ""), "bench-serving").at(0).decoding == Decoding::unknown);
  const auto runs = posted_runs(
      command("") + console("50.0", "Mean TTFT (ms):     90.0\n") +
          command("  --speculative-num-steps 3 \\\n  --speculative-eagle-topk 1 \\\n"
                  "  --speculative-num-draft-tokens 4\n") +
          console("90.0", "Accept length:     2.50\n") +
          command("--speculative-num-steps=5 --speculative-eagle-topk=1 --speculative-num-draft-tokens=6\n") +
          console("95.0", "Accept length:     3.10\n") +
          command("--speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 32\n") +
          console("80.0", "Accept length:     3.50\n"),
      "bench-serving");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[0].gamma);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[2].gamma == 5);
  CHECK_FALSE(runs[3].gamma);  // a tree
  const auto windows = posted_runs(
      command("--speculative-num-steps 2 --speculative-eagle-topk 1\n") +
          "[2025-05-31 18:31:21] Decode batch. #running-req: 1, #token: 200, token usage: 0.13, accept len: 2.00, cuda "
          "graph: True, gen throughput (token/s): 100.00, #queue-req: 0\n",
      "sglang");
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].gamma == 2);
}

TEST_CASE("a tree of SGLang's options is that of its drafter") {
  const std::string table = "| config | tok/s | accept length |\n|---|---|---|\n| baseline | 50 | 1.0 |\n";
  const std::string tree =
      "`--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8`\n\n";
  const auto drafter = [&](const std::string& options, const std::string& rows) {
    const logs::Observation run = posted_runs(options + table + rows, "table").back();
    return run.drafter.value_or("") + (run.tree ? ": " + to_string(*run.tree) : "");
  };
  CHECK(drafter(tree, "| speculative | 90 | 2.4 |\n") == ": 3 steps, topk 4, 8 draft tokens");
  CHECK(drafter(tree, "| EAGLE3 | 90 | 2.4 |\n") == "eagle3: 3 steps, topk 4, 8 draft tokens");
  CHECK(warns(read_log(tree + table + "| EAGLE3 | 90 | 2.4 |\n"), "W22"));
  // Of which, and of which server?
  CHECK(drafter(tree, "| EAGLE3 | 90 | 2.4 |\n| Medusa | 80 | 2.1 |\n") == "medusa");
  CHECK(drafter(tree + "`--speculative-num-steps 5 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8`\n\n",
                "| EAGLE3 | 90 | 2.4 |\n") == "eagle3");
  CHECK(drafter("`--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4`\n\n",
                "| EAGLE3 | 90 | 2.4 |\n") == "eagle3");
}

TEST_CASE("SGLang's requests in its log have their steps") {
  const std::string begin =
      "[2025-10-02 23:42:16] Finish: obj=GenerateReqInput(rid='5f', stream=True), out={'meta_info': {'id': '5f', "
      "'finish_reason': {'type': 'stop'}, 'prompt_tokens': 30, 'completion_tokens': 251, 'cached_tokens': 0, ";
  const auto requests =
      posted_runs(begin + "'spec_verify_ct': 100, 'spec_accept_rate': 0.5, 'spec_accept_length': 2.51}}\n" + begin +
                      "'spec_verify_ct': 100, 'spec_num_correct_drafts': 150, 'spec_num_proposed_drafts': 300}}\n",
                  "sglang");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].span == logs::Span::request);
  CHECK(requests[0].acceptance->steps == 100);
  CHECK(requests[0].acceptance->accepted_tokens == 150);  // the first token is that of the prompt
  CHECK(requests[0].stratum.context_tokens == 30.0 + 125.5);
  CHECK(requests[1].acceptance->drafted_tokens == 300);
  CHECK(requests[1].gamma == 3);
}

TEST_CASE("SGLang's answers of 2026 have their counts under other names, and beside the answer") {
  const auto answers = posted_runs(
      R"({"id": "a", "usage": {"prompt_tokens": 20, "completion_tokens": 31}, "sglext": {"spec_tokens_details": )"
      R"({"spec_verify_ct": 10, "spec_num_correct_drafts": 20, "spec_num_proposed_drafts": 30, )"
      R"("spec_correct_drafts_histogram": [1, 2, 3, 4]}}})"
      "\n"
      R"({"meta_info": {"id": "b", "prompt_tokens": 20, "completion_tokens": 31, "spec_verify_ct": 10}})"
      "\n",
      "request-metrics");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].acceptance->accepted_at == Counts{9, 7, 4});
  CHECK(answers[0].acceptance->drafted_tokens == 30);
  CHECK(answers[0].stratum.output_tokens == 31.0);
  const auto alone = posted_runs(
      R"({"spec_accept_rate": 0.5, "spec_accept_length": 2.5, "spec_verify_ct": 10, "spec_num_correct_drafts": 15, )"
      R"("spec_num_proposed_drafts": 30})",
      "request-metrics");
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].gamma == 3);
  CHECK(answers[0].stratum.request == "a");
  CHECK(answers[1].acceptance->accepted_tokens == 20);
  CHECK(answers[1].stratum.request == "b");
}

TEST_CASE("the steps of a request of vLLM are read without the answer around them") {
  const auto runs = posted_runs(
      "{\n"
      R"(  "mean_acceptance_length": 2.0, "acceptance_histogram": {"0": 4, "1": 2, "2": 4},)"
      "\n"
      R"(  "num_spec_steps": 10, "num_accepted_draft_tokens": 10, "num_draft_tokens": 20, "num_spec_tokens": 2})"
      "\n",
      "request-metrics");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->accepted_at == Counts{6, 4});
  CHECK(runs[0].gamma == 2);
}

TEST_CASE("vLLM's bar of progress has the throughput of all its requests") {
  const auto runs = posted_runs(
      "Processed prompts:  50%|5| 5/10 [00:16<00:16, est. speed input: 40.00 toks/s, output: 300.00 toks/s]\n"
      "Processed prompts: 100%|#| 10/10 [00:33<00:00, est. speed input: 41.00 toks/s, output: 305.50 toks/\n",
      "small-bench");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].times.output_tokens_per_s == 305.5);
  CHECK(runs[0].decoding == Decoding::unknown);
}

TEST_CASE("vLLM's list of an n-gram drafter has the steps without a draft") {
  const auto runs = posted_runs(
      "total_num_output_tokens: 600\nnum_drafts: 100\nnum_draft_tokens: 198\nnum_accepted_tokens: 150\n"
      "mean acceptance length: 2.50\nnum_tokens_generated_without_sd: 350\n"
      "acceptance at token 0: 0.90\nacceptance at token 1: 0.60\n",
      "key-values");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 2);
  CHECK(logs::all_steps(*runs[0].acceptance) == 450.0);
}

TEST_CASE("what an SGLang server says of itself: a length since its start, or of its last batches") {
  const LogContents contents = read_log(sample("sglang_info.json"), "sglang-info");
  CHECK(contents.settings.draft == "org/draft");
  CHECK(warns(contents, "W02"));
  REQUIRE(contents.observations.size() == 2);
  const Observation& since_start = contents.observations[0];
  CHECK(since_start.acceptance_length == 2.75);
  CHECK(since_start.gamma == 4);
  CHECK_FALSE(since_start.times.output_tokens_per_s);
  const Observation& last_batches = contents.observations[1];
  CHECK(last_batches.acceptance_length == 2.5);
  CHECK(last_batches.gamma == 3);
  CHECK(last_batches.requests == 6.0);
  CHECK(last_batches.times.output_tokens_per_s == 480.0);
  std::string wide = sample("sglang_info.json");
  wide.replace(wide.find("topk\": 1"), 8, "topk\": 2");
  CHECK(posted_runs(wide, "sglang-info").at(0).tree == logs::DraftTree{.steps = 4, .width = 2, .tokens = 5});
  CHECK(posted_runs(sample("sglang_info.json"), "sglang-info").size() == 2);
}

}  // namespace foredraft::tests
