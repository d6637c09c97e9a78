// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "logs/observation.hpp"
#include "tests/logs/logs_testing.hpp"

/// What load generators and local servers print in their versions of autumn 2026, in samples of our own.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

TEST_CASE("llama-sweep-bench adds its memory to each row") {
  const std::string table =
      "|    PP |     TG |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |    RSS HWM | VRAM delta |\n"
      "|-------|--------|--------|----------|----------|----------|----------|------------|------------|\n"
      "|  1024 |    256 |      0 |    0.512 |  2000.00 |    6.400 |    40.00 |     2048.5 |    21000.2 |\n"
      "|  1024 |    256 |   1024 |    0.525 |  1950.48 |    6.656 |    38.46 |     2048.5 |        n/a |\n";
  const auto runs = posted_runs(table, "llama-tables");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.iteration_ms == near(25.0));
  CHECK(runs[1].times.iteration_ms == near(26.0));
  CHECK(runs[1].stratum.context_tokens == 1152.0);
}

TEST_CASE("llama-benchy's files: throughput of all requests and of each, tests of prompts left out") {
  const std::string report = sample("llama_benchy.json");
  const auto runs = posted_runs(report, "llama-benchy");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == near(1000.0 / 40.0));
  CHECK(runs[0].times.ttft_ms == 905.0);
  CHECK(runs[0].stratum.context_tokens == 2112.0);
  CHECK(runs[1].concurrency == 4.0);
  CHECK(runs[1].times.output_tokens_per_s == 140.0);
  CHECK(runs[1].times.tpot_ms == near(1000.0 / 36.0));
  CHECK(runs[1].stratum.context_tokens == 4096.0 + 2048.0 + 64.0);
  CHECK(read_log(report).settings.target == "lab/m");

  const auto rows = posted_runs(sample("llama_benchy.csv"), "llama-benchy-csv");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].times.tpot_ms == near(1000.0 / 40.0));
  CHECK(rows[1].decoding == Decoding::unknown);
  CHECK(rows[1].concurrency == 4.0);
  CHECK(rows[1].times.output_tokens_per_s == 140.0);
  CHECK(rows[1].times.tpot_ms == near(1000.0 / 36.0));
  CHECK(rows[1].stratum.output_tokens == 128.0);
  CHECK_FALSE(rows[1].stratum.context_tokens);  // a row does not have its prompt
  CHECK(rows[1].stratum.category == "depth 4096");
}

TEST_CASE("GuideLLM's CSV: three rows of headings, a row a benchmark") {
  const auto runs = posted_runs(sample("guidellm.csv"), "guidellm-csv");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == 19.5);
  CHECK(runs[0].completed_requests == 30);
  CHECK(runs[1].concurrency == 8.0);
  CHECK(runs[1].requests == 7.8);
  CHECK(runs[1].times.ttft_ms == 64.0);
  CHECK(runs[1].times.output_tokens_per_s == 305.5);
  CHECK(runs[1].times.served_requests_per_s == 2.5);
  CHECK(runs[1].stratum.context_tokens == 262.0);
  CHECK_FALSE(runs[0].acceptance_length);
  const auto chunked = [](const std::string& chunks) {
    std::string text;
    std::vector<std::string> more{",Token Streaming,Streaming Iterations",
                                  ",Successful Output Tokens/Iter,Successful Count", ",Mean,Mean", ",1.9," + chunks,
                                  ",1.0," + chunks};
    const std::string all = sample("guidellm.csv");
    std::size_t at = 0;
    for (const std::string& cells : more) {
      const std::size_t end = all.find('\n', at);
      text += all.substr(at, end - at) + cells + "\n";
      at = end + 1;
    }
    return posted_runs(text, "guidellm-csv");
  };
  const double tokens = runs[0].stratum.output_tokens.value();
  const auto drafted = chunked(std::to_string(tokens / 1.9));
  CHECK(drafted.at(0).acceptance_length == 1.9);
  CHECK_FALSE(drafted.at(1).acceptance_length);
  CHECK_FALSE(chunked(std::to_string(tokens)).at(0).acceptance_length);  // more tokens than an answer has
}

TEST_CASE("InferenceX: replays of agents, and a method that says there is none") {
  const std::string replay =
      R"({"conc": 8, "model": "lab/m", "spec_decoding": "mtp", "tp": 8, "request_metrics": {
      "latency": {"ttft": {"mean": 1.5}, "tpot": {"mean": 0.012}},
      "tokens": {"input": {"mean": 4000.0}, "output_actual": {"mean": 500.0}},
      "throughput": {"output": {"tokens_per_second": 600.0}}}})";
  const auto runs = posted_runs(replay, "inferencex");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].concurrency == 8.0);
  CHECK(runs[0].times.tpot_ms == near(12.0));
  CHECK(runs[0].times.ttft_ms == near(1500.0));
  CHECK(runs[0].times.output_tokens_per_s == 600.0);
  CHECK(runs[0].stratum.context_tokens == 4250.0);
  CHECK(posted_runs(replaced(replay, "mtp", "false"), "inferencex").at(0).decoding == Decoding::plain);
}

TEST_CASE("AIPerf: the concurrency that a file states goes before the one computed from its throughput, if near") {
  const auto requests = [](const std::string& concurrency) {
    return posted_runs(R"({"output_token_throughput": {"unit": "tokens/sec", "avg": 900.0},
        "inter_token_latency": {"unit": "ms", "avg": 10.0},
        "input_config": {"loadgen": {"concurrency": )" +
                           concurrency + "}}}",
                       "aiperf-run")
        .at(0)
        .requests;
  };
  CHECK(requests("10") == 10.0);
  CHECK(requests("40") == near(9.0));
}

TEST_CASE("InferenceX: a key that is on or off says what drafts, and rows without it are those that do not") {
  const auto row = [](const std::string& key, const std::string& tpot) {
    return R"({"tp": 4, "conc": 16, "model": "lab/m", "output_tput_per_gpu": 200.0, )" + key + R"("mean_tpot": )" +
           tpot + "}";
  };
  const auto arms = [&](const std::string& one, const std::string& other) {
    return posted_runs("[" + row(one, "0.02") + ", " + row(other, "0.01") + "]", "inferencex");
  };
  for (const char* off : {R"("mtp": "off", )", R"("speculative": false, )", R"("spec": "none", )", ""}) {
    const auto runs = arms(off, R"("mtp": "on", )");
    CHECK(runs.at(0).decoding == Decoding::plain);
    CHECK(runs.at(0).times.iteration_ms == near(20.0));
    CHECK(runs.at(1).decoding == Decoding::speculative);
    CHECK(runs.at(1).drafter == "mtp");
  }
  CHECK(arms("", R"("speculative": true, )").at(1).decoding == Decoding::speculative);
  CHECK_FALSE(arms("", R"("speculative": true, )").at(1).drafter);
  CHECK(arms("", R"("mtp": "off", )").at(0).decoding == Decoding::unknown);
  CHECK(arms("", "").at(0).decoding == Decoding::unknown);
  const std::string three = "[" + row(R"("mtp": "off", )", "0.02") + ", " + row(R"("mtp": "on", )", "0.01") + ", ";
  CHECK(posted_runs(three + row("", "0.03") + "]", "inferencex").at(2).decoding == Decoding::unknown);
}

TEST_CASE("inference-perf: seconds, the rate of a stage or its limit of concurrency") {
  const std::string stage =
      R"({"load_summary": {"count": 90, "requested_rate": 4.0, "achieved_rate": 3.9},
      "successes": {"count": 88, "latency": {"request_latency": {"mean": 5.0},
      "normalized_time_per_output_token": {"mean": 0.026}, "time_per_output_token": {"mean": 0.024, "median": 0.02},
      "time_to_first_token": {"mean": 0.2}, "inter_token_latency": {"mean": 0.024}},
      "throughput": {"output_tokens_per_sec": 760.0, "total_tokens_per_sec": 1800.0, "requests_per_sec": 3.8},
      "prompt_len": {"mean": 300.0}, "output_len": {"mean": 200.0}},
      "failures": {"count": 2, "request_latency": null}})";
  const LogContents contents = read_log(stage);
  CHECK(contents.format == "inference-perf");
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.decoding == Decoding::unknown);
  CHECK(run.times.tpot_ms == near(24.0));
  CHECK(run.times.ttft_ms == near(200.0));
  CHECK(run.times.output_tokens_per_s == 760.0);
  CHECK(run.times.request_rate_per_s == 4.0);
  CHECK(run.times.served_requests_per_s == 3.8);
  CHECK(run.failed_requests == 2);
  CHECK(run.stratum.context_tokens == 400.0);
  CHECK_FALSE(run.concurrency);
  CHECK_FALSE(warns(contents, "W20"));
  const auto limited =
      posted_runs(replaced(stage, "\"requested_rate\"", "\"concurrency\": 8, \"requested_rate\""), "inference-perf");
  CHECK(limited.at(0).concurrency == 8.0);
  CHECK_FALSE(limited.at(0).times.request_rate_per_s);
  const LogContents median = read_log(replaced(stage, "\"mean\": 0.024, \"median\"", "\"median\""));
  CHECK(median.observations.at(0).times.tpot_ms == near(20.0));
  CHECK(warns(median, "W20"));
  // Without streaming there is no time per token: the normalized one holds the prompt.
  const std::string whole = replaced(stage, R"({"mean": 0.024, "median": 0.02})", "null");
  CHECK_FALSE(posted_runs(whole, "inference-perf").at(0).times.tpot_ms);
}

TEST_CASE("LightLLM: the steps of a request, and the batch size if it never changes") {
  const auto request = [](int id, int tokens, const std::string& rest) {
    return fmt::format(
        "INFO 01-02 10:00:00 [manager.py:9] X-Request-Id: start_time:2026-01-02 10:00:00 lightllm_req_id:{} "
        "first_token_cost:100.0ms total_cost_time:2100.0ms,out_token_counter:{} mean_per_token_cost_time: 10.0ms "
        "prompt_token_num:60 prompt_cache_len:0 {}\n",
        id, tokens, rest);
  };
  const auto batch = [](int size) {
    return fmt::format("DEBUG 01-02 [manager.py:2] dp_i 0 current batch size: {} token used ratio: 0.1\n", size);
  };
  const std::string drafted = request(8, 201, "mtp_avg_token_per_step:2.01");
  const auto one =
      posted_runs(batch(2) + drafted + batch(2) + request(16, 40, "mtp_avg_token_per_step:1.0"), "lightllm");
  REQUIRE(one.size() == 2);
  CHECK(one[0].span == logs::Span::request);
  CHECK(one[0].acceptance->steps == 100);
  CHECK(one[0].acceptance->accepted_tokens == 101);
  CHECK(one[0].acceptance->steps_estimated);
  CHECK(one[0].times.tpot_ms == near(10.05));
  CHECK(one[0].requests == 2.0);
  CHECK(one[1].decoding == Decoding::plain);
  CHECK_FALSE(posted_runs(batch(2) + drafted + batch(3), "lightllm").at(0).requests);
  const auto counted = posted_runs(request(8, 201,
                                           "mtp_accepted_token_num:90 mtp_total_verify_steps:110 "
                                           "mtp_total_verify_tokens:330 mtp_avg_token_per_step:1.8273"),
                                   "lightllm");
  CHECK(counted.at(0).acceptance->steps == 110);
  CHECK_FALSE(counted.at(0).acceptance->steps_estimated);
  // Health checks, answers without a decoded token, and short ones, of which a drafter may have guessed none.
  CHECK(posted_runs(request(-1, 50, "") + request(8, 1, "") + drafted, "lightllm").size() == 1);
  CHECK(posted_runs(request(8, 9, "mtp_avg_token_per_step:1.0"), "lightllm").at(0).decoding == Decoding::unknown);
  CHECK(posted_runs(request(8, 90, ""), "lightllm").at(0).decoding == Decoding::unknown);  // older versions
}

TEST_CASE("AIPerf's run tells its acceptance also where its histogram is left out") {
  const std::string length =
      R"({"request_throughput": {"unit": "requests/sec", "avg": 2.0}, "request_count": {"unit": "requests", "avg": 40},
      "spec_decode_overall_draft_acceptance_rate": {"unit": "%", "avg": 56.25},
      "spec_decode_token_weighted_acceptance_length": {"unit": "ratio", "avg": 3.25}})";
  const auto runs = posted_runs(length, "aiperf-run");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance_length == 3.25);
  CHECK(runs[0].gamma == 4);
  const std::string with_totals = replaced(length, R"("spec_decode_overall)",
                                           R"("total_spec_decode_steps": {"unit": "count", "avg": 400},
      "total_draft_tokens": {"unit": "tokens", "avg": 1600}, "total_accepted_draft_tokens": {"unit": "tokens", "avg": 900},
      "spec_decode_overall)");
  const auto counted = posted_runs(with_totals, "aiperf-run");
  REQUIRE(counted.at(0).acceptance);
  CHECK(counted[0].acceptance->steps == 400);
  CHECK(counted[0].acceptance->accepted_tokens == 900);
  CHECK(counted[0].gamma == 4);
  const std::string drafts = R"("total_draft_tokens": {"avg": 60.0}, "pooled_spec)";
  const auto pooled = posted_runs(replaced(sample("aiperf_run.json"), R"("pooled_spec)", drafts), "aiperf-run");
  CHECK(pooled.at(0).gamma == 3);
  CHECK_FALSE(posted_runs(sample("aiperf_run.json"), "aiperf-run").at(0).gamma);
}

TEST_CASE("LM Studio's SDK and its log spell the keys of an answer otherwise") {
  const std::string event = R"({"timestamp": 1790000000000, "data": {"type": "llm.prediction.output",
      "modelIdentifier": "lab-model", "output": "4.", "stats": {"stopReason": "eosFound", "tokensPerSecond": 50.0,
      "timeToFirstTokenSec": 0.25, "promptTokensCount": 40, "predictedTokensCount": 250,
      "totalDraftTokensCount": 300, "acceptedDraftTokensCount": 150}}})";
  const auto answers = posted_runs(event, "lmstudio");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].decoding == Decoding::speculative);
  CHECK(answers[0].acceptance->steps == 100);
  CHECK(answers[0].acceptance->drafted_tokens == 300);
  CHECK(answers[0].times.tpot_ms == near(20.0));
  CHECK(answers[0].times.ttft_ms == near(250.0));
  CHECK(read_log(event).settings.target == "lab-model");

  const std::string text =
      "type: llm.prediction.output\nmodelIdentifier: lab-model\noutput:\n4.\nstopReason: eosFound\n"
      "tokensPerSecond: 50.0\ntimeToFirstTokenSec: 0.25\npromptTokensCount: 40\npredictedTokensCount: 250\n"
      "totalDraftTokensCount: 300\nacceptedDraftTokensCount: 150\n";
  const auto printed = posted_runs(text + text, "local-prompts");
  REQUIRE(printed.size() == 2);
  CHECK(printed[0].decoding == Decoding::speculative);
  CHECK(printed[0].acceptance->steps == 100);
  CHECK(printed[0].times.tpot_ms == near(20.0));
  CHECK(printed[0].times.ttft_ms == near(250.0));
  CHECK(printed[0].stratum.context_tokens == 165.0);
}

TEST_CASE("statistics of LM Studio's SDK alone, on the line of a label or of a logger") {
  const std::string snake =
      R"({'stop_reason': 'eosFound', 'tokens_per_second': 50.0, 'time_to_first_token_sec': 0.25, )"
      R"('predicted_tokens_count': 250, 'total_draft_tokens_count': 300, 'accepted_draft_tokens_count': 150})";
  const std::string camel =
      R"({"stopReason": "eosFound", "tokensPerSecond": 50.0, "timeToFirstTokenSec": 0.25, "predictedTokensCount": 250, )"
      R"("usedDraftModelKey": "lab-tiny", "totalDraftTokensCount": 300, "acceptedDraftTokensCount": 150})";
  for (const std::string& stats : {snake, camel}) {
    for (const std::string words : {"", "stats: ", "2026-02-03 04:05:06 | INFO | Prediction stats: "}) {
      CAPTURE(words, stats);
      const auto answers = posted_runs("4.\n" + words + stats + "\n\n7.\n" + words + stats + "\n", "lmstudio");
      REQUIRE(answers.size() == 2);
      CHECK(answers[1].decoding == Decoding::speculative);
      CHECK(answers[1].acceptance->steps == 100);
      CHECK(answers[1].acceptance->drafted_tokens == 300);
      CHECK(answers[1].times.tpot_ms == near(20.0));
      CHECK(answers[1].times.ttft_ms == near(250.0));
    }
  }
  CHECK(read_log("stats: " + camel).settings.draft == "lab-tiny");
  // A script that measures a speed is not LM Studio.
  CHECK(read_log("stats: {\"tokens_per_second\": 40.0, \"concurrency\": 1}\n").format != "lmstudio");
}

TEST_CASE("mlx-vlm counts rounds and drafts accepted beyond the end of an answer") {
  const std::string answer = R"({"model": "lab/m", "timings": {"prompt_n": 40, "prompt_ms": 200.0, "predicted_n": 111,
      "predicted_ms": 2220.0, "draft_kind": "mtp", "draft_rounds": 30, "draft_n": 90, "draft_n_accepted": 83}})";
  const auto answers = posted_runs(answer, "llamacpp-timings");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].acceptance->steps == 30);
  CHECK_FALSE(answers[0].acceptance->steps_estimated);
  CHECK(answers[0].gamma == 3);
  CHECK(answers[0].times.iteration_ms == near(74.0));
  const std::string brief = replaced(replaced(answer, "\"predicted_n\": 111", "\"predicted_n\": 2"),
                                     "\"draft_rounds\": 30, \"draft_n\": 90, \"draft_n_accepted\": 83",
                                     "\"draft_rounds\": 1, \"draft_n\": 7, \"draft_n_accepted\": 6");
  CHECK(posted_runs(brief, "llamacpp-timings").at(0).gamma == 7);
  CHECK(problem(replaced(brief, "\"draft_rounds\": 1, ", "")).find("draft_n_accepted") != std::string::npos);
}

TEST_CASE("answers of servers on MLX are not llama.cpp's, though they have its times") {
  const std::string plain =
      R"({"model": "lab/m", "timings": {"prompt_n": 40, "predicted_n": 101, "predicted_ms": 4000.0}})";
  const std::string drafts = replaced(
      plain, "4000.0", R"(2000.0, "draft_kind": "mtp", "draft_rounds": 40, "draft_n": 80, "draft_n_accepted": 61)");
  CHECK(read_log(plain).engine == "llama.cpp");
  CHECK(read_log(plain + "\n" + drafts + "\n").engine == "mlx");
  CHECK(read_log(replaced(drafts, "\"draft_rounds\": 40, ", "")).engine == "mlx");
  CHECK(read_log(replaced(plain, "lab/m", "some-MLX-4bit")).engine == "mlx");
  CHECK(read_log(replaced(plain, "lab/m", "mlxtral")).engine == "llama.cpp");
  const std::string llama = replaced(plain, "4000.0", R"(2000.0, "draft_n": 80, "draft_n_accepted": 61)");
  CHECK(read_log(llama).engine == "llama.cpp");
  CHECK_THROWS(read_log(llama + "\n" + drafts + "\n"));  // two engines
}

TEST_CASE("LMDeploy's engine line and its counters of drafts") {
  const auto line = [](const std::string& seconds, const std::string& end) {
    return "[2026-10-02 10:00:" + seconds + " Engine 000] Avg thr (in/out): 64.0 / 280.0 tokens/s, Server " +
           "(succeeded/failed/routed/waiting): 8 / 0 / 4 / 0, Engine (running/waiting): 4 / 0, KV cache: 12.3%, " +
           end + "\n";
  };
  const std::string drafts =
      "SpecDecoding metrics: Draft acceptance rate: 60.00%, Mean acceptance length: 2.80, Accepted: 1800 tokens, "
      "Drafted: 3000 tokens, Per-position acceptance rate: 0.800, 0.600, 0.400";
  const auto windows = posted_runs(line("00", drafts) + line("10", drafts), "vllm");
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].gamma == 3);
  CHECK(windows[0].requests == 4.0);
  CHECK(windows[0].times.output_tokens_per_s == 280.0);
  CHECK(windows[0].times.prompt_tokens_per_s == 64.0);
  CHECK(windows[0].times.iteration_ms == near(40.0));
  const auto plain = posted_runs(line("00", "") + line("10", ""), "vllm");
  REQUIRE(plain.size() == 2);
  CHECK(plain[0].decoding == Decoding::plain);
  CHECK(plain[0].times.iteration_ms == near(4000.0 / 280.0));

  // The engine is known by its own words, in all versions; vLLM has none of them.
  const std::string load = "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 90.0 tokens/s, ";
  const std::string end = "Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n";
  CHECK(read_log(line("00", drafts)).engine == "lmdeploy");
  CHECK(read_log("[2026-01-05 10:00:00 DP1] " + load + "Unfinished: 3 reqs, " + end).engine == "lmdeploy");
  CHECK(read_log("DP: 0, " + load + end).engine == "lmdeploy");
  CHECK(read_log("2026-01-05 10:00:00,123 - lmdeploy - INFO - loggers.py:70 - " + load + end).engine == "lmdeploy");
  CHECK(read_log("10:00:00 " + load + "Finished: 3 reqs, Unfinished: 2 reqs, " + end).engine == "lmdeploy");
  const std::string drafted = "Prefix cache hit rate: 0.0%, SpecDecoding metrics: " + std::string(drafts);
  CHECK(read_log("s, " + drafted + "\n10:00:00 DP: 0, " + load + end).engine == "lmdeploy");  // cut at its start
  const std::string vllm = "(EngineCore_DP0 pid=9) INFO 01-05 10:00:00 [loggers.py:259] Engine 000: " + load + end;
  CHECK(read_log(vllm).engine == "vllm");

  const LogContents counters = read_log(
      "lmdeploy:spec_decode_num_drafts_total{engine=\"0\"} 1000.0\n"
      "lmdeploy:spec_decode_num_draft_tokens_total{engine=\"0\"} 3000.0\n"
      "lmdeploy:spec_decode_num_accepted_tokens_total{engine=\"0\"} 1800.0\n");
  CHECK(counters.engine == "lmdeploy");
  CHECK(counters.observations.at(0).acceptance->steps == 1000);
  CHECK(counters.observations[0].gamma == 3);
}

TEST_CASE("TGI's settings tell the draft length, and the end of each request its time per token") {
  const auto request = [](const std::string& time, const std::string& name = "generate") {
    return "2025-03-01T10:00:09.000000Z  INFO " + name +
           "{parameters=GenerateParameters { max_new_tokens: Some(64), seed: None } total_time=\"2.1s\" "
           "validation_time=\"410.5\xC2\xB5s\" queue_time=\"80ns\" inference_time=\"2s\" time_per_token=\"" +
           time + "\" seed=\"None\"}: text_generation_router::server: router/src/server.rs:402: Success\n";
  };
  const auto server = [](const std::string& model, const std::string& drafts) {
    return "2025-03-01T09:59:00.000000Z  INFO text_generation_launcher: Args { model_id: \"" + model +
           "\", num_shard: Some(2), quantize: None, speculate: " + drafts +
           ", dtype: None, max_concurrent_requests: 128 }\n";
  };
  const LogContents log =
      read_log(server("org/some-8b", "Some(5)") + request("25ms") + request("500\xC2\xB5s", "chat_completions"));
  CHECK(log.format == "tgi");
  CHECK(log.engine == "tgi");
  CHECK(log.settings.target == "org/some-8b");
  CHECK(warns(log, "W12"));  // the time of the prompt is part of it
  REQUIRE(log.observations.size() == 2);
  const Observation& first = log.observations[0];
  CHECK(first.span == logs::Span::request);
  CHECK(first.decoding == Decoding::speculative);
  CHECK(first.gamma == 5);
  CHECK(first.times.tpot_ms == near(25.0));
  CHECK(first.stratum.output_tokens == 80.0);
  CHECK_FALSE(first.requests);  // the limit of requests is no load
  CHECK_FALSE(first.acceptance_length);
  CHECK(log.observations[1].times.tpot_ms == near(0.5));

  const auto decoding = [&](const std::string& settings) {
    return posted_runs(settings + request("25ms"), "tgi").at(0).decoding;
  };
  CHECK(decoding(server("org/some-8b", "None")) == Decoding::plain);
  CHECK(decoding(server("org/some-8b", "Some(0)")) == Decoding::plain);
  CHECK(decoding(server("org/some-8b-medusa", "None")) == Decoding::unknown);  // its heads draft
  CHECK(decoding("") == Decoding::unknown);
  // Later versions print a setting a line, or all of it as JSON.
  const std::string lines =
      "x  INFO text_generation_launcher: Args {\n    model_id: \"m\",\n    num_shard: Some(\n        2,\n    ),\n"
      "    speculate: Some(\n        3,\n    ),\n    max_concurrent_requests: 128,\n    port: 80,\n}\n";
  CHECK(posted_runs(lines + request("25ms"), "tgi").at(0).gamma == 3);
  const auto json = posted_runs(
      R"({"level":"INFO","fields":{"message":"Args {\n    model_id: \"m\",\n    speculate: Some(\n        3,\n    ),\n}"},)"
      R"("target":"text_generation_launcher"})"
      "\n"
      R"({"message":"Success","target":"text_generation_router::server","span":{"inference_time":"1s",)"
      R"("time_per_token":"20.5ms","name":"generate"}})"
      "\n",
      "tgi");
  CHECK(json.at(0).gamma == 3);
  CHECK(json[0].times.tpot_ms == near(20.5));
  const std::string off = "Args {\n    model_id: \"m\",\n    speculate: None,\n    max_top_n_tokens: 5,\n}\n";
  CHECK(decoding("x  INFO text_generation_launcher: " + off) == Decoding::plain);
  // Cut right there, it drafts.
  const auto cut = posted_runs(lines.substr(0, lines.find("        3,")) + request("25ms"), "tgi");
  CHECK(cut.at(0).decoding == Decoding::speculative);
  CHECK_FALSE(cut[0].gamma);
  // A setting of this name is one of TGI's only below the name of its server.
  CHECK(read_log("speculate: Some(4)\n" + request("25ms")).observations.at(0).decoding == Decoding::unknown);
}

TEST_CASE("windows of a diffusion model are no decode steps") {
  const std::string engine =
      "INFO 10-02 10:00:00 [loggers.py:259] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
      "throughput: 320.0 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n";
  const std::string metrics =
      "INFO 10-02 10:00:00 [metrics.py:101] DiffusionDecoding metrics: Committed token throughput: 320.00 tokens/s, "
      "Mean denoising steps per canvas: 10.00, Mean tokens committed per denoising step: 3.20, Committed: 3200 "
      "tokens, Denoising steps: 1000, Canvas positions evaluated: 32000\n";
  CHECK(posted_runs(engine + metrics, "vllm").at(0).decoding == Decoding::unknown);
  CHECK(posted_runs(engine, "vllm").at(0).decoding == Decoding::plain);
}

TEST_CASE("the shares of AIPerf's console are positions if all of them are printed") {
  const std::string console = sample("aiperf_drafts.txt");
  const auto folded = posted_runs(replaced(console, "3: 25%", ">=3: 25%"), "genai-perf");
  REQUIRE(folded.size() == 1);
  CHECK_FALSE(folded[0].acceptance);
  CHECK(folded[0].acceptance_length == 2.5);
  const auto uncounted = posted_runs(replaced(console, "Spec Decode Steps", "Spec Decode Pauses"), "genai-perf");
  CHECK(uncounted.at(0).acceptance_length == 2.5);
}

TEST_CASE("the histogram of DFlash's benchmark tells its draft length") {
  const std::string console =
      "Decoding speedup: 2.40\nAverage Acceptance length: 2.80\n"
      "Acceptance length histogram: ['0.0%', '20.0%', '20.0%', '20.0%', '40.0%']\n";
  const auto runs = posted_runs(console, "key-values");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance_length == 2.8);
  CHECK(runs[0].gamma == 3);
}

}  // namespace
}  // namespace foredraft::tests
