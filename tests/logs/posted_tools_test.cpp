// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// What tools print, as it is posted: cut, in another order, or between other text.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

}  // namespace

TEST_CASE("a speed of llama-speculative belongs to its run, whether printed before or after its counters") {
  const auto counters = [](int draft, int accepted) {
    return fmt::format("n_draft   = {}\nn_predict = 200\nn_drafted = 190\nn_accept  = {}\n\n", draft, accepted);
  };
  const std::string ten_s = "decoded  200 tokens in   10.000 seconds, speed:   20.000 t/s\n\n";
  const std::string eight_s = "decoded  200 tokens in    8.000 seconds, speed:   25.000 t/s\n\n";
  const std::string times = "draft:\n\ntarget:\n\n";
  for (const std::string& text :
       {counters(8, 150) + ten_s + counters(4, 140) + eight_s, ten_s + counters(8, 150) + eight_s + counters(4, 140)}) {
    const auto runs = posted_runs(text, "llama-speculative");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].gamma == 8);
    CHECK(runs[0].times.output_tokens_per_s == near(20.0));
    CHECK(runs[1].times.output_tokens_per_s == near(25.0));
  }
  // The speed of the first run is cut off: other tokens, or the times of the models before the next speed.
  std::string other = eight_s;
  other.replace(other.find("200"), 3, "180");
  for (const std::string& text :
       {counters(8, 150) + times + eight_s + counters(4, 140),
        counters(8, 150) + "encoded    9 tokens in    0.100 seconds\n" + eight_s + counters(4, 140),
        counters(8, 150) + other + counters(4, 140)}) {
    const auto runs = posted_runs(text, "llama-speculative");
    REQUIRE(runs.size() == 2);
    CHECK_FALSE(runs[0].times.output_tokens_per_s);
    CHECK(runs[1].times.output_tokens_per_s == near(25.0));
  }
}

TEST_CASE("a console of SGLang that is cut before its TPOT has that of its latencies, without the wait for a token") {
  const std::string cut =
      "============ Serving Benchmark Result ============\n"
      "Backend:                                 sglang\n"
      "Traffic request rate:                    inf\n"
      "Successful requests:                     80\n"
      "Benchmark duration (s):                  60.00\n"
      "Total input tokens:                      8000\n"
      "Total generated tokens:                  16080\n"
      "Request throughput (req/s):              1.33\n"
      "Output token throughput (tok/s):         268.00\n"
      "Concurrency:                             40.00\n"
      "Accept length:                           2.50\n";
  const std::string latencies =
      "Mean E2E Latency (ms):                   30000.00\nMean TTFT (ms):                          10000.00\n";
  const Observation run = posted_runs(cut + latencies, "bench-serving").at(0);
  CHECK(*run.times.tpot_ms == near(100.0));  // 20000 ms / 200 tokens
  CHECK(*run.times.iteration_ms == near(250.0));
  CHECK(*run.requests == near(26.8));
  const Observation shorter = posted_runs(cut, "bench-serving").at(0);
  CHECK_FALSE(shorter.times.tpot_ms);
  CHECK_FALSE(shorter.requests);
  CHECK(shorter.offered_requests == 80.0);
  CHECK(posted_runs(cut + latencies + "Mean TPOT (ms):  90.00\n", "bench-serving").at(0).times.tpot_ms == 90.0);
}

TEST_CASE("SGLang's counters that its gauges rule out are not the acceptance, others far from them are warned of") {
  const auto read = [](const char* tokens, const char* rate) {
    return read_log(
        fmt::format("sglang:time_to_first_token_seconds_count{{m=\"a\"}} 10.0\n"
                    "sglang:generation_tokens_total{{m=\"a\"}} {}\n"
                    "sglang:spec_verify_calls_total{{m=\"a\"}} 200.0\n"
                    "sglang:spec_accept_length{{m=\"a\"}} 2.5\n{}",
                    tokens, rate));
  };
  const std::string half = "sglang:spec_accept_rate{m=\"a\"} 0.5\n";
  const LogContents impossible = read("1810.0", half.c_str());  // 9 a step, of at most 5
  CHECK(impossible.observations.at(0).acceptance_length == 2.5);
  CHECK(warns(impossible, "W18"));
  const LogContents apart = read("1810.0", "");
  CHECK(apart.observations.at(0).acceptance->accepted_tokens == 1600);
  CHECK(warns(apart, "W18"));
  const LogContents close = read("810.0", half.c_str());  // 4 a step
  CHECK(close.observations.at(0).acceptance->accepted_tokens == 600);
  CHECK_FALSE(warns(close, "W18"));
}

TEST_CASE("EvalScope from 1.10 on: a block of rows for each load") {
  const auto runs = posted_runs(sample("evalscope_loads.txt"), "evalscope-console");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 2.0);
  CHECK(runs[0].times.tpot_ms == 15.0);
  CHECK(runs[0].times.ttft_ms == 300.5);
  CHECK(runs[0].times.output_tokens_per_s == 121.2);
  CHECK(runs[0].acceptance_length == 4.0);
  CHECK(runs[0].times.iteration_ms == near(60.0));
  CHECK(runs[0].stratum.output_tokens == 200.0);
  CHECK(runs[1].concurrency == 8.0);
  CHECK(runs[1].times.request_rate_per_s == 2.5);
  CHECK(runs[1].times.output_tokens_per_s == 340.1);
  CHECK(runs[1].acceptance_length == 3.5);
  // Below the summary of another run, the first load is one of its own.
  CHECK(posted_runs(sample("evalscope_console.txt") + sample("evalscope_loads.txt"), "evalscope-console").size() == 3);
}

TEST_CASE("EvalScope's approximate acceptance rate alone gives the tokens of an iteration") {
  const LogContents table = read_log(
      "| Metric | Value |\n|---|---|\n| **Output Throughput (tok/s)** | **300.0** |\n| Avg TPOT (ms) | 40.0 |\n"
      "| Avg Output Tokens | 220.5 |\n| Spec. Accept Rate | 60.0% |\n");
  REQUIRE(table.observations.size() == 1);
  CHECK(*table.observations[0].acceptance_length == near(2.5));
  CHECK(table.observations[0].times.tpot_ms == 40.0);
  CHECK_FALSE(table.observations[0].gamma);
  CHECK(warns(table, "W10"));
  const auto json = posted_runs(R"x({"Concurrency": 4, "TPOT (ms)": 20.0, "Spec. Accept Rate": 0.5})x", "evalscope");
  CHECK(*json.at(0).acceptance_length == near(2.0));
  CHECK(problem(R"x([{"Percentiles": "50%", "TTFT (ms)": 90.0, "TPOT (ms)": 20.0, "Output tokens": 5}])x") != "");
}

TEST_CASE("tables of sweeps: speed by load of EvalScope, by context of ds4-bench") {
  const auto loads = posted_runs(
      "config,Conc.,Latency (tps/user),Throughput (tps/gpu),Approx Cache Hit,Decoded Tok/Iter\n"
      "tp2,1,50.0,900.0,10.0,2.5\ntp2,8,25.0,3000.0,10.0,2.5\n",
      "bench-csv");
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].times.tpot_ms == 20.0);
  CHECK(loads[0].times.iteration_ms == 50.0);
  CHECK(loads[1].concurrency == 8.0);
  CHECK(loads[1].acceptance_length == 2.5);
  const auto contexts = posted_runs(
      "ctx_tokens,prefill_tokens,prefill_tps,gen_tokens,gen_tps,kvcache_bytes\n2000,2000,300.0,100,20.00,5000\n"
      "4000,2000,290.0,100,16.00,9000\n",
      "bench-csv");
  REQUIRE(contexts.size() == 2);
  CHECK(contexts[0].times.tpot_ms == 50.0);
  CHECK(contexts[0].decoding == Decoding::unknown);
  CHECK(contexts[1].stratum.context_tokens == 4050.0);
  CHECK(contexts[1].requests == 1.0);
}

TEST_CASE("SpecForge: sets without the model, with text between, the last one cut") {
  const auto set = [](const char* name, double length) {
    return fmt::format(
        "  * {}\n{{\n  \"{}\": [\n    {{\n      \"batch_size\": 2,\n      \"steps\": null,\n      \"topk\": null,\n"
        "      \"num_draft_tokens\": null,\n      \"metrics\": [\n        {{\n          \"latency\": 50.0,\n"
        "          \"output_throughput\": 200.0,\n          \"accept_length\": {},\n          \"num_questions\": 40\n"
        "        }}\n      ],\n      \"num_samples\": null\n    }}\n  ]\n}}\n",
        name, name, length);
  };
  const auto sets = posted_runs(set("gsm8k", 4.5) + set("mtbench", 3.25), "specforge");
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].stratum.category == "gsm8k");
  CHECK(sets[0].requests == 2.0);
  CHECK(sets[1].acceptance_length == 3.25);
  const std::string cut = set("mtbench", 3.25);
  const std::string rest = cut.substr(0, cut.find("\"num_samples\""));
  const auto partial = posted_runs(rest, "specforge");
  REQUIRE(partial.size() == 1);
  CHECK(partial[0].acceptance_length == 3.25);
  CHECK(partial[0].times.output_tokens_per_s == 200.0);
  const LogContents both = read_log(set("gsm8k", 4.5) + rest);
  REQUIRE(both.observations.size() == 2);
  CHECK(both.observations[1].stratum.category == "mtbench");
  CHECK(both.observations[1].requests == 2.0);
  CHECK_FALSE(warns(both, "W18"));
  const LogContents headless = read_log(set("gsm8k", 4.5) + cut.substr(cut.find("        {\n          \"latency\"")));
  CHECK(headless.observations.size() == 1);
  CHECK(warns(headless, "W18"));
}

TEST_CASE("a JSON document after the words of a logger is read") {
  const std::string answer =
      "{\n  \"usage\": {\n    \"completion_tokens\": 200,\n    \"total_draft_tokens_count\": 240,\n"
      "    \"accepted_draft_tokens_count\": 120\n  },\n  \"stats\": {\n    \"tokens_per_second\": 25.0\n  }\n}\n";
  const std::string log =
      "[2026-01-02 03:04:05][INFO][lab-model] Prompt processing progress: 100.0%\n"
      "[2026-01-02 03:04:09][INFO][lab-model] Generated prediction: " +
      answer + "[2026-01-02 03:05:09][INFO][lab-model] Generated prediction: " + answer;
  std::string of_windows = log;
  RE2::GlobalReplace(&of_windows, "\n", "\r\n");
  for (const std::string& text : {log, of_windows}) {
    const auto answers = posted_runs(text, "lmstudio");
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].acceptance->accepted_tokens == 120);
    CHECK(answers[0].acceptance->steps == 80);
    CHECK(answers[1].times.tpot_ms == 40.0);
  }
}

TEST_CASE("InferenceX: tokens of a step and the time of a round, where a row has them") {
  const auto runs = posted_runs(
      R"([{"conc": 8, "spec_decoding": "mtp", "mean_tpot": 0.008, "observed_tokens_per_step": 2.5,
           "decode_round_tpot_ms": 21.0}])",
      "inferencex");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance_length == 2.5);
  CHECK(runs[0].times.iteration_ms == 21.0);
  CHECK(runs[0].times.tpot_ms == 8.0);
}

TEST_CASE("positions of which a post left some out are not read, the totals are") {
  const std::string totals =
      "vllm:spec_decode_num_drafts_total{engine=\"0\"} 100.0\n"
      "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 400.0\n"
      "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 150.0\n";
  const auto at = [](int position, int count) {
    return fmt::format("vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine=\"0\",position=\"{}\"}} {}.0\n",
                       position, count);
  };
  const auto partial = posted_runs(totals + at(0, 70) + at(3, 10), "prometheus");
  REQUIRE(partial.size() == 1);
  CHECK(partial[0].gamma == 4);
  CHECK(partial[0].acceptance->accepted_tokens == 150);
  CHECK(partial[0].acceptance->accepted_at.empty());
  const auto all = posted_runs(totals + at(0, 70) + at(1, 50) + at(2, 20) + at(3, 10), "prometheus");
  CHECK(all.at(0).acceptance->accepted_at == Counts{70, 50, 20, 10});
}

TEST_CASE("the last progress of each request of llama-server, unless the times at its end are there") {
  const std::string progress =
      "1.10.000 I slot print_timing: id  0 | task 4 | n_decoded =    100, tg =  20.00 t/s, tg_3s =  21.00 t/s\n"
      "1.11.000 I slot print_timing: id  1 | task 9 | n_decoded =     50, tg =  10.00 t/s\n"
      "1.13.000 I slot print_timing: id  0 | task 4 | n_decoded =    220, tg =  25.00 t/s, tg_3s =  30.00 t/s\n";
  const auto requests = posted_runs(progress, "llama-progress");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].times.tpot_ms == 100.0);
  CHECK(requests[1].times.tpot_ms == 40.0);
  CHECK(requests[1].stratum.output_tokens == 220.0);
  CHECK(requests[1].decoding == Decoding::unknown);
  const auto ended = read_log(progress + sample("llama_server.log"));
  CHECK(ended.observations.size() == read_log(sample("llama_server.log")).observations.size());
  std::string many;
  for (int task = 0; task < 1100; ++task)
    many += fmt::format("I slot print_timing: id  0 | task {} | n_decoded =    100, tg =  20.00 t/s\n", task);
  const auto read = read_log(many);
  CHECK(read.observations.size() == 1024);
  CHECK(std::ranges::any_of(read.warnings, [](const auto& one) { return one.code == "W18" && one.line == 1025; }));
}

TEST_CASE("a benchmark's line of keys: its accepted tokens a round, with or without the one that is not drafted") {
  for (const char* mean : {"1.50", "2.50"}) {
    const auto runs = posted_runs(
        fmt::format(
            "`bench --target lab/a --kind mtp` said `Done: prompt=20 generated=100 tok/s=25.0 (wall 4.2s) rounds=40 "
            "acceptance_rate=0.500 mean_accepted_len={}`\n",
            mean),
        "key-line");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].acceptance->steps == 40);
    CHECK(runs[0].acceptance->accepted_tokens == 60);
    CHECK(runs[0].gamma == 3);
    CHECK(runs[0].times.tpot_ms == 40.0);
    CHECK(runs[0].times.iteration_ms == near(100.0));
    CHECK(runs[0].stratum.category == "a");
  }
}

TEST_CASE("accepted and rejected drafts are steps where all runs draft one token") {
  const auto text = [](const std::string& arm) {
    return "| config | tok/s |\n|---|---|\n| no-MTP | 20 |\n| " + arm + " | 30 |\n\n" +
           "60 accept / 40 reject (60%)\n90 accepted, 10 rejected\n";
  };
  for (const char* arm : {"MTP K=1", "MTP nd1"}) {
    CAPTURE(arm);
    const LogContents contents = read_log(text(arm));
    REQUIRE(contents.observations.size() == 3);
    CHECK(contents.observations[1].gamma == 1);
    CHECK(contents.observations[2].acceptance->steps == 200);
    CHECK(contents.observations[2].acceptance->accepted_tokens == 150);
  }
  for (const char* arm : {"MTP K=3", "MTP"}) {
    CAPTURE(arm);
    CHECK(read_log(text(arm)).observations.size() == 2);
    CHECK(warns(read_log(text(arm)), "W18"));
  }
}

TEST_CASE("SGLang's acceptance that was posted without the rest of its lines") {
  const auto windows = posted_runs(
      "accept len: 2.80, accept rate: 0.60   @ 9,000 tok\naccept len: 1.90, accept rate: 0.30\n"
      "accept len: 3.70, accept rate: 0.90\n",
      "sglang");
  REQUIRE(windows.size() == 3);
  CHECK(windows[0].acceptance_length == 2.8);
  CHECK(windows[2].gamma == 3);
}

TEST_CASE("EvalScope's tables with a row for each load, and heads of two lines") {
  const std::string bar = "\xE2\x94\x82", head = "\xE2\x94\x83";
  const auto line = [](const std::string& mark, const std::vector<std::string>& cells) {
    std::string text = mark;
    for (const std::string& cell : cells) text += " " + cell + " " + mark;
    return text + "\n";
  };
  const std::string times = line(head, {"     ", "    ", "   ", "     Avg", "     Avg", "   Gen.", "Success"}) +
                            line(head, {"Conc.", "Rate", "Num", "TTFT(ms)", "TPOT(ms)", " toks/s", "   Rate"}) +
                            line(bar, {"    1", " INF", " 10", "    90.0", "    10.0", "  95.00", " 100.0%"}) +
                            line(bar, {"    8", " INF", " 80", "   110.0", "    20.0", " 390.00", " 100.0%"});
  const std::string drafts = line(head, {"     ", "   ", "Avg In", "Avg Out", " Decoded", "      Spec."}) +
                             line(head, {"Conc.", "Num", "  Toks", "   Toks", "Tok/Iter", "Accept Rate"}) +
                             line(bar, {"    1", " 10", " 512.0", "  200.0", "    2.50", "      60.0%"}) +
                             line(bar, {"    8", " 80", " 512.0", "  200.0", "    2.40", "      58.3%"});
  const auto runs = posted_runs(times + "\n\n" + drafts, "evalscope-console");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == 10.0);
  CHECK(runs[0].times.ttft_ms == 90.0);
  CHECK(runs[0].acceptance_length == 2.5);
  CHECK(runs[0].stratum.output_tokens == 200.0);
  CHECK_FALSE(runs[0].times.request_rate_per_s);
  CHECK(runs[1].concurrency == 8.0);
  CHECK(runs[1].times.output_tokens_per_s == 390.0);
  CHECK(runs[1].acceptance_length == 2.4);
  // "Conc." in the first line of a head; and two runs, each below its heading.
  const auto swapped = [](std::string table, const std::vector<std::string>& first) {
    const std::size_t lower = table.find('\n') + 1;
    std::size_t at = 0;
    for (const std::string& word : first) {  // changes places with the blanks above it
      const std::size_t below = table.find(word, lower);
      at = table.find(std::string(word.size() + 2, ' '), at) + 1;
      table.replace(below, word.size(), word.size(), ' ');
      table.replace(at, word.size(), word);
      at += word.size();
    }
    return table;
  };
  const std::string fast = swapped(times, {"Conc.", "Rate", "Num"}), counts = swapped(drafts, {"Conc.", "Num"});
  std::string without = fast;
  without.replace(without.find("    10.0"), 8, "    15.0");
  const auto both = posted_runs("### server without MTP\n\nToday.\n\n" + without +
                                    "\n\n### the same, started again with `--speculative-config "
                                    "'{\"method\":\"mtp\",\"num_speculative_tokens\":3}'`\n\nToday.\n\n" +
                                    fast + "\n\n" + counts,
                                "evalscope-console");
  REQUIRE(both.size() == 4);
  CHECK(both[0].decoding == Decoding::plain);
  CHECK(both[0].times.tpot_ms == 15.0);
  CHECK_FALSE(both[0].acceptance_length);
  CHECK(both[1].concurrency == 8.0);
  CHECK(both[2].gamma == 3);
  CHECK(both[2].times.tpot_ms == 10.0);
  CHECK(both[2].acceptance_length == 2.5);
  CHECK(both[3].acceptance_length == 2.4);
}

TEST_CASE("SGLang's client prints no acceptance of other servers, whose command says what drafts") {
  const auto run = [](const std::string& options) {
    return "# lmdeploy serve api_server big --backend pytorch" + options +
           "\n============ Serving Benchmark Result ============\n"
           "Backend:                                 lmdeploy\n"
           "Max request concurrency:                 4\n"
           "Successful requests:                     40\n"
           "Output token throughput (tok/s):         200.00\n"
           "Mean E2E Latency (ms):                   2000.00\n"
           "Mean TPOT (ms):                          20.00\n"
           "==================================================\n";
  };
  CHECK(read_log(run("")).observations.at(0).decoding == Decoding::unknown);
  const auto both =
      read_log(run("") + run(" --speculative-algorithm eagle3 --speculative-num-draft-tokens 4")).observations;
  REQUIRE(both.size() == 2);
  CHECK(both[0].decoding == Decoding::plain);
  CHECK(both[1].decoding == Decoding::speculative);
  CHECK(both[1].gamma == 4);
}

}  // namespace foredraft::tests
