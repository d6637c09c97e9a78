// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Lines that small scripts and engines print: requests before and after a change, metrics, totals, records.
namespace foredraft::tests {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;
using logs::Span;

namespace {

std::string ik_request(const std::string& prefix, const std::string& ms) {
  return prefix +
         "prompt eval time     =     900.00 ms /    30 tokens (   30.00 ms per token,    33.33 tokens per second)\n" +
         prefix + "generation eval time =   " + ms + " ms /   100 runs   (  any ms per token)\n";
}

}  // namespace

TEST_CASE("ik_llama.cpp: times of a request below the words that name its arm") {
  const std::string prefix = "INFO [           print_timings] ";
  const auto runs = posted_runs(
      "no draft:\n" + ik_request(prefix, "20000.00") + "\ndraft:\n" + ik_request(prefix, "12500.00"), "local-prompts");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(200.0));
  CHECK(runs[0].times.ttft_ms == 900.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].times.tpot_ms == near(125.0));
  const auto code = posted_runs(
      "Without draft model:\n`generation eval time =  20000.00 ms /   100 runs   (  200.00 ms per token)`\n\n"
      "With draft model:\n`generation eval time =  25000.00 ms /   100 runs   (  250.00 ms per token)`\n",
      "local-prompts");
  REQUIRE(code.size() == 2);
  CHECK(code[0].decoding == Decoding::plain);
  CHECK(code[1].times.tpot_ms == near(250.0));
}

TEST_CASE("ik_llama.cpp: the times of its server are those of the request whose drafts it counts") {
  const std::string prefix = "INFO [           print_timings] ";
  const std::string slot = " | tid=\"1\" timestamp=2 id_slot=0 id_task=0 t_token=3\n";
  const auto request = [&](const std::string& ms) {
    std::string text = ik_request(prefix, ms);
    for (std::size_t at = text.find(")\n"); at != std::string::npos; at = text.find(")\n", at + slot.size()))
      text.replace(at + 1, 1, slot);
    return text;
  };
  const std::string drafts =
      "draft acceptance rate = 0.65000 (   39 accepted /    60 generated)\n"
      "statistics mtp: #calls(b,g,a) = 1 60 60, #gen drafts = 60, #acc drafts = 39, #gen tokens = 60, #acc tokens = "
      "39, "
      "dur(b,g,a) = 0.006, 300.000, 0.190 ms\n";
  const std::string command = "# ./llama-server -m a.gguf";
  const auto runs = posted_runs(command + "\n" + request("20000.00") + command +
                                    " -mtp --draft-max 1 --draft-p-min 0.0\n" + request("12500.00") + drafts,
                                "llama-server");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(20000.0 / 99.0));
  CHECK(runs[1].gamma == 1);
  CHECK(runs[1].acceptance->steps == 60);
  CHECK(runs[1].times.tpot_ms == near(12500.0 / 99.0));
  CHECK(runs[1].requests == 1.0);
}

TEST_CASE("before and after: a diff that adds a drafter tells which drafts, other changes do not") {
  const auto request = [](const std::string& speed) { return "prompt_tps: 400.0\ngeneration_tps: " + speed + "\n"; };
  const std::string log = "\n- Before:\n\n" + request("20.0") + "INFO: \"POST /v1/chat/completions\" 200 OK\n" +
                          request("20.5") + "\n- After:\n\n" + request("32.0");
  const auto added = posted_runs("```diff\n {\n+  \"draft_model\": \"small\",\n }\n```\n" + log, "mlx-lm");
  REQUIRE(added.size() == 3);
  CHECK(added[0].times.tpot_ms == near(50.0));
  CHECK(added[0].concurrency == 1.0);
  CHECK(added[1].decoding == Decoding::plain);
  CHECK(added[2].decoding == Decoding::speculative);
  for (const std::string other :
       {"", "+  \"seed\": 1,\n", "-  \"draft_model\": \"a\",\n+  \"draft_model\": \"b\",\n"}) {
    for (const auto& run : posted_runs("```diff\n" + other + "```\n" + log, "mlx-lm"))
      CHECK(run.decoding == Decoding::unknown);
  }
}

TEST_CASE("a list of metrics: the throughput of all requests at the stated concurrency") {
  const auto runs = posted_runs(
      "Sending 64 prompts with concurrency=8...\nwall_time_s: 20.0\ntotal_output_tokens: 9000\n"
      "output_tokens_per_second: 450.0\nmean_latency_s: 2.1\n",
      "key-values");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].concurrency == 8.0);
  CHECK(runs[0].times.output_tokens_per_s == 450.0);
  CHECK_FALSE(runs[0].times.tpot_ms);
  const auto sweep = posted_runs(
      "Max concurrency: 1\nOutput throughput (tok/s): 61.5\n"
      "Max concurrency: 4\nOutput tokens/s = 190.0\n",
      "key-values");
  REQUIRE(sweep.size() == 2);
  CHECK(sweep[1].concurrency == 4.0);
  CHECK(sweep[1].times.output_tokens_per_s == 190.0);
  CHECK(problem("Output tokens:  310577\nmax concurrency: 4\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("seconds of whole runs by arm: their ratios, and the printed acceptance length") {
  const std::string plain = "BASELINE tiny-8b\ntotal time in seconds: 900.0\n";
  const auto arm = [](const std::string& drafter, const std::string& seconds, const std::string& length) {
    return "\nBase: tiny-8b\nDrft: " + drafter + "\nMode: chain - length 4\ntotal time in seconds: " + seconds +
           "\naverage accept length: " + length + "\n";
  };
  const auto contents = read_log(plain + arm("org/a", "600.0", "2.1") + arm("org/b", "450.0", "2.6"));
  CHECK(contents.format == "key-values");
  CHECK(warns(contents, "W12"));
  const auto& runs = contents.observations;
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(*runs[0].times.tpot_ms / *runs[2].times.tpot_ms == near(2.0));
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].drafter == "org/a, chain - length 4");
  CHECK(runs[1].gamma == 4);
  CHECK(runs[1].acceptance_length == 2.1);
  CHECK(runs[2].drafter == "org/b, chain - length 4");
  // One total has no ratio, and beside a speed it has no use.
  const auto one = posted_runs(arm("org/a", "600.0", "2.1"), "key-values");
  REQUIRE(one.size() == 1);
  CHECK_FALSE(one[0].times.tpot_ms);
  const auto none = posted_runs("Mode: none\nTotal time: 90.5 s\nMode: medusa\nTotal time: 50.0 s\n", "key-values");
  REQUIRE(none.size() == 2);
  CHECK(none[0].decoding == Decoding::plain);
  CHECK(none[1].drafter == "medusa");
}

TEST_CASE("records of runs: tokens over seconds of the whole run make a speed that of all requests") {
  const auto record = [](const std::string& speed, const std::string& drafts, const std::string& requests = "64") {
    return "{\"method\": \"" + std::string(drafts.empty() ? "none" : "mtp") + "\", \"requests\": " + requests +
           ", \"max_num_seqs\": 16, \"total_seconds\": 8.0, \"completion_tokens_per_second\": " + speed +
           ", \"completion_tokens\": 6400" + drafts + "}";
  };
  const std::string drafts = R"(, "spec_config": {"model": "org/draft", "num_speculative_tokens": 2})";
  const auto runs = posted_runs("[" + record("800.0", "") + ",\n" + record("800.01", drafts) + "]\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 16.0);
  CHECK(runs[0].times.output_tokens_per_s == 800.0);
  CHECK(runs[1].gamma == 2);
  CHECK_FALSE(runs[1].stratum.category);
  // Other tokens than those of the speed: which load it has is not known.
  const auto other = read_log("[" + record("800.0", "") + ",\n" + record("700.0", drafts) + "]\n");
  CHECK(warns(other, "W12"));
  // One request a record.
  const auto alone =
      posted_runs("[" + record("800.0", "", "1") + ",\n" + record("800.0", drafts, "1") + "]\n", "table");
  REQUIRE(alone.size() == 2);
  CHECK(alone[0].times.tpot_ms == near(1.25));
}

TEST_CASE("keys of a client beside a script's own counts of drafts are a record of the script") {
  const std::string record = R"({"num_prompts": 40, "concurrency": 2, "elapsed_s": 10.0, "output_throughput": 200.0,
      "mean_tpot_ms": 9.0, "num_drafts": 1000, "num_draft_tokens": 5000, "num_accepted_tokens": 1500})";
  const auto runs = posted_runs(record, "table");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 5);
  CHECK(runs[0].concurrency == 2.0);
  CHECK(runs[0].times.tpot_ms == 9.0);
}

TEST_CASE("runs below the keys of their arms have these arms, whether a format claims both, one or none") {
  const auto file = [](const std::string& plain, const std::string& drafting) {
    return R"({"engine": "vllm 0.19", "tp": 4, "concurrency": 2, "baseline": {)" + plain + R"(}, "mtp_k3": {)" +
           drafting + "}}";
  };
  const std::string times = R"("output_throughput": 90.0, "mean_tpot_ms": 20.0, "mean_ttft_ms": 80.0)";
  const std::string faster = R"("output_throughput": 170.0, "mean_tpot_ms": 10.0, "mean_ttft_ms": 90.0)";
  for (const char* const counts :
       {"", R"(, "num_drafts": 1000, "num_draft_tokens": 3000, "num_accepted_tokens": 1500)"}) {
    CAPTURE(counts);
    const auto runs = read_log(file(times, faster + counts)).observations;
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == 20.0);
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].gamma == 3);
    CHECK(runs[1].acceptance.has_value() == (counts[0] != '\0'));
  }
}

TEST_CASE("a speed a line: its label names the prompts, a summary stands for its rows") {
  const auto runs = posted_runs(
      "warmup: 3.0 tok/s\n[chat 1/2] tps=0.6 acc=None\n[chat 2/2] tps=1.6 acc=4.1\n"
      "RESULT task=chat prompts=2/2 mean_tps=1.25 mean_acc_len=3.5\n[code 1/1] prompt_tps=90.0 decode_tps=2.5\n"
      "OVERALL mean_tps=1.9\n",
      "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].stratum.category == "chat");
  CHECK(runs[0].times.tpot_ms == near(800.0));
  CHECK(runs[0].acceptance_length == 3.5);
  CHECK(runs[1].stratum.category == "code");
  CHECK(runs[1].times.tpot_ms == near(400.0));
  CHECK(runs[1].decoding == Decoding::unknown);
  const auto prompts = posted_runs(
      "python3 probe.py\n  50.0 tok/s median | runs: [50.1, 49.0, 50.0] | write a sort\n"
      "  40.0 tok/s median | runs: [40.1, 39.0, 40.0] | explain caches\n"
      "  45.0 tok/s median | runs: [45.1,\nOVERALL: mean 45.0 tok/s\n",
      "prose");
  REQUIRE(prompts.size() == 2);
  CHECK(prompts[0].stratum.category == "write a sort");
  CHECK(prompts[1].times.tpot_ms == near(25.0));
  const auto contexts = posted_runs(
      "2026-11-02 10:11:12 INFO ctx=4096 tok/s: 40.0\n"
      "2026-11-02 10:12:12 INFO ctx=8192 tok/s: 20.0\n",
      "prose");
  REQUIRE(contexts.size() == 2);
  CHECK(contexts[0].stratum.category == "ctx 4096");
  CHECK(contexts[1].times.tpot_ms == near(50.0));
  // In columns, with lengths as sentences have them.
  const auto columns = posted_runs(
      "task qa      20.0 tok/s  accept len 2.4\ntask code    40.0 tok/s  accept len 3.6\n"
      "task chat    25.0 tok/s  accept len 2.2\n",
      "prose");
  REQUIRE(columns.size() == 3);
  CHECK(columns[1].acceptance_length == 3.6);
  CHECK(columns[1].times.tpot_ms == near(25.0));
  // A cell of a table that was put below its heading, and a row of one.
  for (const std::string cell :
       {"Baseline TPS |\n\n23.2 t/s |\n", "| Decode | TPS | 65.4 t/s |\n", "it writes 20 tok/s\n"})
    CHECK(problem(cell).find("no line of a known format") != std::string::npos);
  CHECK(problem("C4: 256 tok in 5.1s = 50.2 tok/s agg\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("a block of a script below a long heading between marks, with counters of candidates") {
  const std::string plain = "  tokens: 900\n  speed: 15.0 tok/s\n";
  const std::string drafting =
      "  tokens: 900\n  speed: 24.0 tok/s\n  candidate calls: 300\n  candidates proposed: 1200\n"
      "  candidates accepted: 600\n";
  const auto are_read = [&](const std::string& head, const std::string& tail) {
    const std::string long_words = "assisted by a draft model (tokens per draft K=4, greedy, dtype bfloat16)";
    const LogContents contents = read_log(head + "no assistant" + tail + plain + head + long_words + tail + drafting);
    CAPTURE(head);
    REQUIRE(contents.observations.size() == 3);
    bool counts = false, is_fast = false, is_plain = false;
    for (const Observation& run : contents.observations) {
      counts = counts || (run.gamma == 4 && run.acceptance && run.acceptance->steps == 300 &&
                          run.acceptance->drafted_tokens == 1200);
      is_fast = is_fast || (run.gamma == 4 && run.times.tpot_ms == near(1000.0 / 24.0));
      is_plain = is_plain || (run.decoding == Decoding::plain && run.times.tpot_ms == near(1000.0 / 15.0));
    }
    CHECK(counts);
    CHECK(is_fast);
    CHECK(is_plain);
  };
  are_read("=== ", " ===\n");
  are_read("--- ", " ---\n");
  are_read("\n~~~~ ", " ~~~~\n\n");
  // A long line without marks is a sentence.
  const auto sentence = read_log("no assistant\n" + plain +
                                 "assisted by a draft model that was trained by us (K=4) on texts\n" + drafting);
  for (const Observation& run : sentence.observations) CHECK_FALSE(run.times.tpot_ms == near(1000.0 / 24.0));
}

TEST_CASE("rules above and below a line make it a heading") {
  const std::string rule = std::string(24, '=') + "\n";
  const auto runs = posted_runs(rule + "no MTP\n" + rule + "a: 5\nspeed: 20.0 tok/s\n" + rule + "MTP (K=2, greedy)\n" +
                                    rule + "a: 5\nspeed: 30.0 tok/s\n",
                                "prose");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].gamma == 2);
}

TEST_CASE("a speed a line: arms by the line above, or by words in the label") {
  const auto above = posted_runs(
      "=== baseline ===\ncode: 20.0 tok/s\nchat: 25.0 tok/s\n\n=== MTP K=3 ===\n"
      "code: 40.0 tok/s\nchat: 30.0 tok/s\n",
      "prose");
  REQUIRE(above.size() == 4);
  CHECK(above[1].decoding == Decoding::plain);
  CHECK(above[3].decoding == Decoding::speculative);
  CHECK(above[3].gamma == 3);
  CHECK(above[3].stratum.category == "chat");
  const std::string medians = "30.0 tok/s median | write a sort\n  20.0 tok/s median | explain caches\n";
  const auto parts = posted_runs("Baseline:\n" + medians + "\nMTP:\n" + medians, "prose");
  REQUIRE(parts.size() == 4);
  CHECK(parts[1].decoding == Decoding::plain);
  CHECK(parts[3].decoding == Decoding::speculative);
  const auto tagged = [](const std::string& tag, const std::string& code, const std::string& prose) {
    return "[" + tag + "] code rep0: 600 tok in 10.0s = " + code + " tok/s\n[" + tag + "] code MEDIAN: " + code +
           " tok/s\n[" + tag + "] prose rep0: 600 tok in 20.0s = " + prose + " tok/s\n";
  };
  const auto one = posted_runs(tagged("bench-k7", "60.0", "30.0"), "prose");
  REQUIRE(one.size() == 2);
  CHECK(one[0].gamma == 7);
  CHECK(one[0].stratum.category == "bench code");
  CHECK(one[1].times.tpot_ms == near(1000.0 / 30.0));
  const auto both = posted_runs(tagged("bench-mtp3", "60.0", "30.0") + tagged("bench-base", "20.0", "21.0"), "prose");
  REQUIRE(both.size() == 4);
  CHECK(both[2].decoding == Decoding::plain);
  CHECK(both[2].stratum.category == both[0].stratum.category);
  CHECK(problem("rig A with MTP: 60 tok/s\nrig B with MTP: 30 tok/s\nrig C without MTP: 20 tok/s\n") !=
        "");  // of which setups?
}

TEST_CASE("a client's keys beside columns of arms are a table of one's own") {
  const std::string times = ",max_concurrency,num_prompts,output_throughput,mean_tpot_ms,mean_ttft_ms";
  const std::string plain = ",4,40,320,12.0,50", drafting = ",4,40,460,8.0,51";
  // Of each: a heading, and the cells of a row without drafts and of one with them.
  const auto runs_of = [&](const std::string& heading, const std::string& none, const std::string& drafts) {
    return posted_runs(heading + times + "\n" + none + plain + "\n" + drafts + drafting + "\n", "table");
  };
  for (const auto& runs :
       {runs_of("k", "0", "2"), runs_of("arm", "no spec", "mtp"), runs_of("spec_method", "none", "eagle3"),
        runs_of("completed,method", "40,baseline", "40,ngram")}) {
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].times.tpot_ms == 8.0);
    CHECK(runs[1].concurrency == 4.0);
  }
  // A column of unknown words: whether the runs draft is not known.
  for (const auto& run : runs_of("file", "one.json", "two.json")) CHECK(run.decoding == Decoding::unknown);
}

TEST_CASE("speed.py of Spec-Bench: a method and its baseline by task") {
  const auto task = [](const std::string& name, const std::string& speed, const std::string& plain) {
    return "===== Task:  " + name + " =====\n#Mean accepted tokens:  3.0\nTokens per second:  " + speed +
           "\nTokens per second for the baseline:  " + plain + "\nSpeedup ratio:  2.0\n";
  };
  const auto tasks = posted_runs(task("qa", "50.0", "25.0") + task("rag", "40.0", "20.0"), "spec-bench-speed");
  REQUIRE(tasks.size() == 4);
  CHECK(tasks[0].decoding == Decoding::speculative);
  CHECK(tasks[0].acceptance_length == 3.0);
  CHECK(tasks[0].times.iteration_ms == near(60.0));
  CHECK(tasks[0].requests == 1.0);
  CHECK(tasks[1].decoding == Decoding::plain);
  CHECK_FALSE(tasks[1].acceptance_length);
  CHECK(tasks[1].times.tpot_ms == near(40.0));
  CHECK(tasks[3].stratum.category == "rag");
  const auto all = posted_runs(task("qa", "50.0", "25.0") + task("overall", "44.0", "22.0"), "spec-bench-speed");
  REQUIRE(all.size() == 4);
  CHECK(all[1].stratum.category == "qa");
  CHECK(all[2].times.tpot_ms == near(1000.0 / 44.0));
  CHECK(all[2].stratum.category == "overall");
  CHECK(all[3].stratum.category == "overall");
  CHECK_FALSE(all[2].drafter);
  // The names of both files tell what drafts.
  const auto run_of = [&](const std::string& file, const std::string& base) {
    return "$ python3 evaluation/speed.py --file-path out/" + file + ".jsonl --base-path out/" + base + ".jsonl\n" +
           task("overall", "50.0", "25.0");
  };
  const auto named = posted_runs(run_of("llama-8b-hydra-tree-bf16-t-0", "llama-8b-vanilla-bf16-temp-0") +
                                     run_of("llama-8b-sps-bf16", "llama-8b-vanilla-bf16"),
                                 "spec-bench-speed");
  REQUIRE(named.size() == 4);
  CHECK(named[0].drafter == "hydra-tree");
  CHECK_FALSE(named[1].drafter);
  CHECK(named[2].drafter == "sps");
  CHECK(named[3].decoding == Decoding::plain);
  CHECK_FALSE(named[3].stratum.category);
  // Of several runs, as --mean-report prints them.
  const auto report = posted_runs(
      "==== Task:  qa ====\n#Mean accepted tokens: 2.7\nTokens per second: Mean result: 50.0, Std result: 0.3\n"
      "Tokens per second (baseline): Mean result: 25.0, Std result: 0.1\n"
      "Speedup ratio: Mean result: 2.0, Std result: 0.02\n",
      "spec-bench-speed");
  REQUIRE(report.size() == 2);
  CHECK(report[0].times.tpot_ms == near(20.0));
  CHECK(report[0].acceptance_length == 2.7);
  CHECK(report[1].times.tpot_ms == near(40.0));
  const auto words = posted_runs("speed 90.0\nspeed0 30.0\nratio 3.0\n", "spec-bench-speed");
  REQUIRE(words.size() == 2);
  CHECK(words[1].times.tpot_ms == near(1000.0 / 30.0));
  const auto alone = posted_runs(
      "#Mean accepted tokens: 2.5\nTokens per second: 50.0\n#Mean accepted tokens: 2.0\nTokens per second: 40.0\n",
      "spec-bench-speed");
  REQUIRE(alone.size() == 2);
  CHECK(alone[1].acceptance_length == 2.0);
}

TEST_CASE("vllm bench latency: the time of a batch") {
  const auto run_of = [](const std::string& options) {
    return posted_runs("INFO 01-02 Namespace(input_len=64, " + options +
                           ", num_iters_warmup=3, num_iters=9)\nAvg latency: 2.0 seconds\n"
                           "10% percentile latency: 1.9 seconds\n99% percentile latency: 2.2 seconds\n",
                       "vllm-latency")
        .at(0);
  };
  const auto plain = run_of("output_len=100, batch_size=4, speculative_config=None");
  CHECK(plain.decoding == Decoding::plain);
  CHECK(plain.concurrency == 4.0);
  CHECK(plain.times.tpot_ms == near(20.0));
  for (const char* config :
       {"{'method': 'mtp', 'num_speculative_tokens': 2}", R"('{"method": "mtp", "num_speculative_tokens": 2}')"}) {
    const auto drafting = run_of(std::string("output_len=50, batch_size=4, speculative_config=") + config);
    CHECK(drafting.decoding == Decoding::speculative);
    CHECK(drafting.gamma == 2);
    CHECK(drafting.drafter == "mtp");
    CHECK(drafting.times.tpot_ms == near(40.0));  // of fewer tokens
  }
  CHECK(run_of("output_len=50, batch_size=4").decoding == Decoding::unknown);
  // New versions do not print their options: those of the command.
  const std::string result = "Avg latency: 3.0 seconds\n";
  const auto posted = [&](const std::string& text) { return posted_runs(text, "vllm-latency"); };
  for (const char* command : {"$ vllm bench latency --batch-size 2 --input-len 8 --output-len 60\n",
                              "python benchmark_latency.py --output-len=60 --batch-size=2\n",
                              "vllm bench latency --model m \\\n  --batch-size 2 \\\n  --output-len 60\n"}) {
    const auto run = posted(command + result).at(0);
    CHECK(run.concurrency == 2.0);
    CHECK(run.times.tpot_ms == near(50.0));
  }
  const std::string small = "vllm bench latency --batch-size 2 --output-len 60\n";
  const std::string large = "vllm bench latency --batch-size 9 --output-len 60\n";
  const auto both = posted(small + result + result + large + result);
  REQUIRE(both.size() == 3);
  CHECK(both[1].concurrency == 2.0);
  CHECK(both[2].concurrency == 9.0);
  CHECK_FALSE(posted(small + large + "Warmup\n" + result).at(0).concurrency);
  CHECK_FALSE(posted("vllm serve m\n  --batch-size 2 --output-len 60\nWarmup\n" + result).at(0).concurrency);
  // Without its options, or as JSON: a whole batch, of an unknown load.
  CHECK_FALSE(run_of("batch_size=4").concurrency);
  const auto whole =
      posted_runs("{\n \"avg_latency\": 2.0,\n \"latencies\": [1.9, 2.1],\n \"percentiles\": {\"10\": 1.9}\n}\n",
                  "vllm-latency-json");
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].times.tpot_ms == 2000.0);
  CHECK_FALSE(whole[0].concurrency);
  CHECK(whole[0].decoding == Decoding::unknown);
}

TEST_CASE("the summary of k6: metrics of a script") {
  const auto summary = [](const std::string& metrics, const std::string& users) {
    return "     checks...............: 100.00% 40 out of 40\n     http_req_duration....: avg=2.5s min=1s med=2.4s "
           "max=4s p(90)=3.5s p(95)=3.8s\n     iterations...........: 40    0.66/s\n" +
           metrics + "     vus..................: " + users + "\n";
  };
  const std::string times =
      "     llm_tokens_per_second..: avg=50 min=20 med=48 max=99 p(90)=80 p(95)=90\n"
      "     ttft.................: avg=0.2s min=0.1s med=0.2s max=0.4s p(90)=0.3s p(95)=0.3s\n"
      "     output_tokens........: 9000  150.5/s\n";
  const auto runs = posted_runs(summary(times, "3 min=3 max=3"), "k6");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].concurrency == 3.0);
  CHECK(runs[0].times.tpot_ms == 20.0);
  CHECK(runs[0].times.ttft_ms == near(200.0));
  CHECK(runs[0].times.output_tokens_per_s == 150.5);
  CHECK_FALSE(posted_runs(summary(times, "1 min=1 max=9"), "k6").at(0).concurrency);
  const auto tpot =
      posted_runs(summary("     gen_tpot.............: avg=12.5ms min=9ms med=12ms\n", "2 min=2 max=2"), "k6");
  CHECK(tpot.at(0).times.tpot_ms == 12.5);
  // Seconds or milliseconds: the number does not say.
  CHECK_FALSE(posted_runs(summary(times + "     tpot.................: avg=12 min=9 med=12\n", "2 min=2 max=2"), "k6")
                  .at(0)
                  .times.tpot_ms == 12.0);
  const auto both = posted_runs("Without speculation:\n\n" + summary(times, "3 min=3 max=3") + "\nWith MTP:\n\n" +
                                    summary(times, "3 min=3 max=3"),
                                "k6");
  REQUIRE(both.size() == 2);
  CHECK(both[1].times.output_tokens_per_s == 150.5);
}

TEST_CASE("the seconds of both arms are compared if the speedup behind them is their ratio") {
  const auto times = [](const std::string& plain, const std::string& drafting, const std::string& gain) {
    return "No speculation: " + plain + " s\nWith MTP K=2: " + drafting + " sec\nSpeed-up: " + gain + "\n\n";
  };
  const logs::LogContents alone = read_log(times("30.0", "20.0", "1.5x"));
  REQUIRE(alone.observations.size() == 2);
  CHECK(alone.observations[0].decoding == Decoding::plain);
  CHECK(alone.observations[0].times.tpot_ms == near(30'000.0));
  CHECK(alone.observations[1].decoding == Decoding::speculative);
  CHECK(alone.observations[1].times.tpot_ms == near(20'000.0));
  CHECK(alone.observations[1].gamma == 2);
  CHECK(alone.observations[1].drafter == "mtp");
  CHECK_FALSE(alone.observations[0].stratum.category);
  CHECK(warns(alone, "W12"));

  const std::string counts = "num_drafts: 100\nnum_draft_tokens: 200\nnum_accepted_tokens: 90\n";
  const auto loads = posted_runs("8 requests\n" + counts + times("30.0", "20.0", "1.50\u00d7") + "1 request\n" +
                                     counts + times("90.0", "50.0", "1.80\u00d7"),
                                 "key-values");
  REQUIRE(loads.size() == 4);
  CHECK(loads[2].decoding == Decoding::plain);
  CHECK(loads[2].stratum.category == loads[3].stratum.category);
  CHECK(loads[1].stratum.category != loads[3].stratum.category);
  CHECK(loads[3].acceptance->accepted_tokens == 90);
  CHECK(loads[3].times.tpot_ms == near(50'000.0));
  // Seconds of something else.
  CHECK(posted_runs(counts + times("30.0", "20.0", "2.5x"), "key-values").size() == 1);
  CHECK_FALSE(problem("Baseline: 30.0 s\nDraft model: 20.0 s\n").empty());
}

TEST_CASE("scripts of assisted generation: the options name the arms, and a pass of the target is a step") {
  const auto check = [](const std::string& text, const std::string& format = "prose") {
    INFO(text);
    const auto runs = posted_runs(text, format);
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(50.0));
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].gamma == 2);
    CHECK(runs[1].times.tpot_ms == near(40.0));
    CHECK(runs[1].acceptance_length == 1.9);
    CHECK(runs[2].gamma == 6);
    CHECK(runs[2].times.tpot_ms == near(31.25));
    CHECK(runs[2].acceptance_length == 2.7);
    CHECK(runs[2].stratum.category == runs[0].stratum.category);
  };
  check(
      "assistant=none num_assistant_tokens=0 tokens=300 time=15.00s 20.0 tok/s tokens/forward=1.00\n"
      "assistant=org/tiny num_assistant_tokens=2 tokens=300 time=12.00s 25.0 tok/s tokens/forward=1.9\n"
      "assistant=org/tiny num_assistant_tokens=6 tokens=300 time=9.38s 32.0 tok/s tokens/forward=2.7\n");
  check(
      "Without an assistant: 20.0 tok/s\nWith assistant (K=2): 25.0 tok/s, tokens per target forward 1.9\n"
      "With the assistant model (K=6): 32.0 tok/s, tokens per target forward 2.7\n");
  check(
      "mode=plain tokens=300 time=15.0s tok/s=20.0\n"
      "mode=assisted num_assistant_tokens=2 tokens=300 time=12.0s tok/s=25.0 tokens_per_forward=1.9\n"
      "mode=assisted num_assistant_tokens=6 tokens=300 time=9.4s tok/s=32.0 tokens_per_forward=2.7\n");
  const auto block = [](const std::string& name, const std::string& speed, const std::string& length) {
    return name + "\nnew tokens: 300\nseconds: 12.5 s\nspeed: " + speed + " tok/s\n" + length;
  };
  // One below the other, with and without a gap.
  for (const std::string gap : {"", "\n"})
    check(block("[baseline]", "20.0", gap) +
          block("[assisted, num_assistant_tokens=2]", "25.0", "tokens/forward: 1.9\n" + gap) +
          block("[assisted, num_assistant_tokens=6]", "32.0", "tokens/forward: 2.7\n"));
  const auto keyed = [](const std::string& name, const std::string& speed, const std::string& length) {
    return "=== " + name + " ===\ntokens/sec: " + speed + "\n" + length;
  };
  check(keyed("baseline", "20.0", "") + keyed("assisted K=2", "25.0", "tokens per forward pass: 1.9\n") +
        keyed("assisted K=6", "32.0", "tokens per forward pass: 2.7\n"));
}

TEST_CASE("an assistant model alone names an arm, and no tokens of it the other") {
  for (const std::string text : {"Without it: 20 tok/s\nWith the assistant: 30 tok/s\n",
                                 "num_assistant_tokens=0: 20 tok/s\nnum_assistant_tokens=4: 30 tok/s\n"}) {
    const auto runs = posted_runs(text, "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[1].decoding == Decoding::speculative);
  }
}

TEST_CASE("progress bars between the name of an arm and its speed, whose key has words for the unit") {
  const std::string bar = "100%|##########| 12/12 [00:48<00:00,  4.05s/it]\n",
                    loading = "Loading shards: 100%|##########| 3/3 [00:05<00:00,  1.70s/it]\n";
  for (const auto& key : {"Tokens per second: ", "tokens per sec = ", "tok/s: "}) {
    const auto runs =
        posted_runs(loading + "--- plain ---\n" + bar + key + "20.0\n--- with assistant, num_assistant_tokens=4 ---\n" +
                        loading + bar + key + "25.0\n",
                    "prose");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(50.0));
    CHECK(runs[1].decoding == Decoding::speculative);
    CHECK(runs[1].times.tpot_ms == near(40.0));
    CHECK(runs[1].gamma == 4);
  }
  // The name of a bar may be that of an arm.
  const auto named = posted_runs("baseline: " + bar + "tok/s: 20.0\nwith MTP: " + bar + "tok/s: 25.0\n", "prose");
  REQUIRE(named.size() == 2);
  CHECK(named[1].decoding == Decoding::speculative);
}

TEST_CASE("a length below a list of speeds is of none of them, and an assistant who answers drafts nothing") {
  for (const auto& run :
       read_log("plain: 20 tok/s\nMTP: 30 tok/s\nDFlash: 40 tok/s\ntokens/forward: 2.5\n").observations)
    CHECK_FALSE(run.acceptance_length);
  CHECK(problem("The assistant writes 20 tok/s.\n") != "");
}

TEST_CASE("the draft length of a script's command is that of its row that drafts") {
  const auto run = [](const std::string& options, const std::string& plain, const std::string& drafting) {
    return "$ python compare.py --target org/big " + options + "\nmethod          time (s)    tok/s\n" +
           "autoregressive      10.0     " + plain + "\nspeculative          8.0     " + drafting + "\n\n";
  };
  const auto runs = posted_runs(
      run("--draft org/tiny --k 2", "20.0", "25.0") + run("--draft org/tiny --k 6", "20.2", "32.0"), "table");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK_FALSE(runs[0].gamma);
  CHECK(runs[1].gamma == 2);
  CHECK(runs[3].gamma == 6);
  CHECK_FALSE(runs[3].stratum.category);
  for (const std::string options : {"--k 50", "--assistant_model org/tiny --num_assistant_tokens 2 6"})
    CHECK_FALSE(posted_runs(run(options, "20.0", "25.0"), "table")[1].gamma);
}

}  // namespace foredraft::tests
