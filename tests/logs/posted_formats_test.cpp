// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/logs/logs_testing.hpp"

/// Results of benchmarks pasted into issues and posts.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;

}  // namespace

TEST_CASE("mtp-bench.py: a request a line, in a run that drafts also those that drafted nothing") {
  const auto requests = posted_runs(sample("mtp_bench.txt"), "mtp-bench");
  REQUIRE(requests.size() == 5);
  CHECK(requests[0].decoding == Decoding::speculative);
  CHECK(requests[0].stratum.category == "write_tests");
  CHECK(requests[0].acceptance->steps == 60);
  CHECK(requests[0].acceptance->drafted_tokens == 132);
  CHECK(requests[0].times.tpot_ms == near(1000.0 / 45.0));
  CHECK(requests[0].times.iteration_ms == near(1000.0 * 150.0 / 45.0 / 60.0));
  CHECK(requests[2].decoding == Decoding::speculative);
  CHECK(requests[3].decoding == Decoding::plain);
  CHECK(requests[3].times.iteration_ms == near(40.0));
  CHECK(requests[3].requests == 1.0);
}

TEST_CASE("mtp-bench.py: the sums stand in for requests that were cut off, its file is one of llama-server's times") {
  const std::string log = sample("mtp_bench.txt");
  const std::size_t sums = log.find("Aggregate");
  const auto rest = posted_runs(log.substr(sums, log.find('}') - sums), "mtp-bench");
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].acceptance->steps == 121);
  CHECK_FALSE(rest[0].times.tpot_ms);
  CHECK(problem("x pred= 10 draft= 30 acc= 20 rate=0.667 tok/s=9.0\n").starts_with("some.log:1: acc: 20"));
  const auto file = posted_runs(
      R"({"results": [{"name": "a", "predicted_n": 101, "draft_n": 90, "draft_n_accepted": 60, "predicted_per_second": 50.5}],)"
      R"( "aggregate": {"total_predicted": 101}})",
      "llamacpp-timings");
  REQUIRE(file.size() == 1);
  CHECK(file[0].stratum.request == "a");
  CHECK(file[0].acceptance->accepted_tokens == 60);
}

TEST_CASE("whole drafts of K tokens tell whether the first token of an answer is of a step") {
  const auto request = [](int drafted) {
    return "llama-server -m m.gguf --spec-type draft-mtp --spec-draft-n-max 3\n  recipes  pred= 101 draft= " +
           std::to_string(drafted) + " acc= 60 rate=0.500 tok/s=40.0\n";
  };
  const auto of_prompt = posted_runs(request(120), "mtp-bench").at(0);
  CHECK(of_prompt.acceptance->steps == 40);
  CHECK(of_prompt.times.iteration_ms == near(1000.0 * 101.0 / 40.0 / 40.0));
  const auto of_step = posted_runs(request(123), "mtp-bench").at(0);
  CHECK(of_step.acceptance->steps == 41);
  CHECK(of_step.times.iteration_ms == near(1000.0 * 101.0 / 40.0 / 41.0));
  CHECK(posted_runs(request(119), "mtp-bench").at(0).acceptance->steps == 41);  // the last draft is cut short
  const auto printed = posted_runs(
      "slot print_timing: id 0 | task 1 |\n       eval time =   12520.00 ms /  2504 tokens (    5.00 ms per token,   "
      "200.00 tokens per second)\ndraft acceptance = 0.50100 ( 1503 accepted /  3000 generated), mean acceptance "
      "length "
      "=  2.50\n",
      "llama-server");
  CHECK(printed.at(0).acceptance->steps == 1000);  // 1002 by the rounded length
}

TEST_CASE("TensorRT-LLM's client counts the tokens of an iteration, one is without speculation") {
  const auto runs = posted_runs(sample("trtllm_bench_serving.txt"), "bench-serving");
  CHECK(read_log(sample("trtllm_bench_serving.txt")).engine == "tensorrt-llm");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance_length == 3.2);
  CHECK(runs[0].times.tpot_ms == 8.0);
  CHECK(runs[0].times.iteration_ms == near(25.6));
  CHECK(runs[0].concurrency == 16.0);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].times.iteration_ms == near(20.5));
  CHECK_FALSE(runs[1].acceptance_length);
}

TEST_CASE("the console of AIPerf: names over several rows, with other units than those of GenAI-Perf") {
  const auto runs = posted_runs(sample("aiperf.txt"), "genai-perf");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].times.tpot_ms == 20.0);
  CHECK(runs[0].times.ttft_ms == 75.0);
  CHECK(runs[0].times.output_tokens_per_s == 190.0);
  CHECK(runs[0].times.duration_s == near(30.0));
  CHECK(runs[0].requests == near(3.8));
  CHECK(runs[0].stratum.output_tokens == 101.0);
}

TEST_CASE("EvalScope: tokens of an iteration, from seconds, and nothing new from its approximate acceptance rate") {
  const auto runs = posted_runs(sample("evalscope.json"), "evalscope");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance_length == 3.1);
  CHECK_FALSE(runs[0].gamma);
  CHECK(runs[0].concurrency == 4.0);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].times.iteration_ms == near(62.0));
  CHECK(runs[0].times.ttft_ms == near(120.0));
  CHECK_FALSE(runs[0].times.request_rate_per_s);
  CHECK(runs[0].stratum.context_tokens == 750.0);
  const auto newer = posted_runs(
      R"x({"Concurrency": "INF", "Avg TPOT (ms)": 25.0, "Output Throughput (tok/s)": 32.0, "Avg Decoded Tok/Iter": 0.99})x",
      "evalscope");
  REQUIRE(newer.size() == 1);
  CHECK(newer[0].decoding == Decoding::plain);
  CHECK(newer[0].times.iteration_ms == 25.0);
  CHECK_FALSE(newer[0].concurrency);
  const auto drafted = posted_runs(
      R"({"Average decoded tokens per iter": 2.2, "Average spec decode acceptance rate": 0.4})", "evalscope");
  CHECK(drafted.at(0).gamma == 3);
}

TEST_CASE("InferenceX: a row a run, in seconds, with its method but without its acceptance") {
  const auto runs = posted_runs(sample("inferencex.json"), "inferencex");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].drafter == "eagle3");
  CHECK_FALSE(runs[0].acceptance_length);
  CHECK(runs[0].times.tpot_ms == near(19.0));
  CHECK(runs[0].times.output_tokens_per_s == 800.0);
  CHECK(runs[0].concurrency == 16.0);
  CHECK(runs[1].decoding == Decoding::plain);
  CHECK(runs[1].times.iteration_ms == near(31.0));
}

TEST_CASE("LM Studio: drafts in the usage or in the stats, answers of v0 without them are plain") {
  const auto answers = posted_runs(sample("lmstudio.jsonl"), "lmstudio");
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].span == logs::Span::request);
  CHECK(answers[0].acceptance->steps == 100);
  CHECK(answers[0].acceptance->accepted_tokens == 150);
  CHECK(answers[0].gamma == 3);
  CHECK(answers[0].times.tpot_ms == near(20.0));
  CHECK(answers[0].times.iteration_ms == near(50.0));
  CHECK(answers[0].times.ttft_ms == near(200.0));
  CHECK(answers[1].decoding == Decoding::plain);
  CHECK(answers[1].times.iteration_ms == near(40.0));
  CHECK(answers[2].stratum.output_tokens == 200.0);
  CHECK(answers[2].decoding == Decoding::unknown);  // v1 of the API counts no drafts
  CHECK(problem(
            R"({"usage": {"completion_tokens": 10, "total_draft_tokens_count": 30, "accepted_draft_tokens_count": 11},)"
            R"( "stats": {}})")
            .find("accepted_draft_tokens_count: 11") != std::string::npos);
}

TEST_CASE("records of scripts may be a list") {
  const auto runs = posted_runs(
      R"([{"concurrency": 2, "num_speculative_tokens": 4, "measured": {"accepted_length_tau": 3.0, "spec_num_drafts": 500,)"
      R"( "throughput_tok_s": 90.0}}, {"concurrency": 2, "num_speculative_tokens": 0, "measured": {"throughput_tok_s": 50.0}}])",
      "benchmark-records");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].acceptance->accepted_tokens == 1000);
  CHECK(runs[1].decoding == Decoding::plain);
}

TEST_CASE("llama-sweep-bench: decode steps of one sequence by context, whole or cut at the top") {
  const std::string table = sample("llama_sweep_bench.md");
  for (const std::string& text : {table, table.substr(table.find("|  1024"))}) {
    const auto runs = posted_runs(text, "llama-tables");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.iteration_ms == near(25.0));
    CHECK(runs[1].times.iteration_ms == near(26.0));
    CHECK(runs[1].stratum.context_tokens == 1152.0);
    CHECK(runs[1].requests == 1.0);
  }
  CHECK(problem("| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("metrics of TensorRT-LLM: steps from its settings, the last acceptance length tells none") {
  const std::string text = sample("prometheus_trtllm.prom");
  const auto runs = posted_runs(text, "prometheus");
  CHECK(read_log(text).engine == "tensorrt-llm");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->steps == 4000);
  CHECK_FALSE(runs[0].acceptance->steps_estimated);
  CHECK(runs[0].gamma == 2);
  CHECK(runs[0].requests == 4.0);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].times.iteration_ms == near(50.0));
  CHECK(runs[0].times.ttft_ms == near(200.0));
  const auto counted = posted_runs(text.substr(text.find("trtllm_spec_decode_num_draft")), "prometheus");
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].acceptance->steps == 0);
  CHECK(counted[0].acceptance_length == 2.75);
  CHECK(counted[0].acceptance->steps_estimated);
}

TEST_CASE("tables of others: headings, bars, signs of percent and deviations") {
  const auto runs = posted_runs(sample("table.md"), "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == 24.0);
  CHECK(runs[0].times.output_tokens_per_s == 160.2);
  CHECK(runs[0].concurrency == 4.0);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].drafter == "eagle3");
  CHECK(runs[1].gamma == 2);
  CHECK(runs[1].times.tpot_ms == 14.5);
  CHECK(runs[1].acceptance_length == 2.2);
  CHECK(warns(read_log(sample("table.md")), "W22"));
}

TEST_CASE("tables of llama-benchy and spec-bench are read by their headings") {
  const auto benchy = posted_runs(sample("table_benchy.md"), "table");
  REQUIRE(benchy.size() == 1);
  CHECK(benchy[0].decoding == Decoding::unknown);
  CHECK(benchy[0].times.tpot_ms == near(25.0));
  CHECK(benchy[0].times.output_tokens_per_s == 160.0);
  CHECK(benchy[0].concurrency == 4.0);
  CHECK(benchy[0].stratum.context_tokens == 1024.0 + 2048.0 + 128.0);
  const auto ik = posted_runs(sample("ik_spec_bench.md"), "table");
  REQUIRE(ik.size() == 2);
  CHECK(ik[0].decoding == Decoding::plain);
  CHECK(ik[0].times.iteration_ms == near(25.0));
  CHECK(ik[1].drafter == "mtp");
  CHECK(ik[1].acceptance->steps == 100);
  CHECK(ik[1].acceptance->accepted_at == Counts{60, 35, 15});
  CHECK(ik[1].acceptance->drafted_tokens == 300);
  CHECK(ik[1].times.iteration_ms == near(30.0));
}

TEST_CASE("an ambiguous heading is resolved by the values or asked about") {
  const auto seconds = posted_runs("K,TPOT\n0,0.04\n2,0.021\n", "table");
  REQUIRE(seconds.size() == 2);
  CHECK(seconds[1].times.tpot_ms == near(21.0));
  CHECK(problem("K,TPOT\n0,1.5\n2,0.9\n").find("TPOT") != std::string::npos);
  CHECK(problem("K,ITL\n0,15\n2,9\n").find("ITL") != std::string::npos);
  const auto each = posted_runs("c\tK\ttps\n1\t2\t90\n8\t2\t60\n", "table");
  REQUIRE(each.size() == 2);
  CHECK(each[1].times.tpot_ms == near(1000.0 / 60.0));
  const auto below_one = posted_runs("K | mean accepted | t/s\n0 | - | 30\n3 | 0.8 | 40\n", "table");
  CHECK(below_one.at(1).acceptance_length == near(1.8));
  CHECK(problem("K | mean accepted | t/s\n0 | - | 30\n3 | 1.8 | 40\n").find("mean accepted") != std::string::npos);
  const auto named = posted_runs("K,tok/s,acc\nbaseline,50,\nn=2,80,0.7\n", "table");
  CHECK(named.at(0).decoding == Decoding::plain);
  CHECK(named.at(1).gamma == 2);
  CHECK(named.at(1).acceptance_length == near(2.4));
  // An accuracy, which the plain run has too.
  const auto accuracy = posted_runs("K;tok/s;acc\nplain;30;0.91\n3;45;0.92\n", "table");
  CHECK_FALSE(accuracy.at(1).acceptance_length);
  CHECK(accuracy.at(1).decoding == Decoding::speculative);
}

TEST_CASE("a table that cannot be read is an error only if nothing else is read") {
  const std::string table = "| c | K | tok/s |\n|---|---|---|\n| 8 | 0 | 400 |\n| 4 | 3 | 700 |\n";
  CHECK(problem(table).find("tok/s") != std::string::npos);
  const LogContents contents = read_log(table + "\n" + sample("own.csv"));
  CHECK(contents.observations.size() == 2);
  CHECK(warns(contents, "W18"));
  CHECK(problem("name, speed of thought, colour\nred, 3, 4\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("lines that a collector wrapped in JSON are read as they were written") {
  // With the escapes of a JSON string, in an object of a collector.
  const auto wrapped = [](const std::string& text, const std::string& before, const std::string& behind) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line;
      for (const char c : text.substr(at, end - at)) {
        if (c == '\x1b') {
          line += "\\u001b";
          continue;
        }
        if (c == '"' || c == '\\') line += '\\';
        line += c == '\t' ? ' ' : c;
      }
      lines += before + line + behind + "\n";
      at = end + 1;
    }
    return lines;
  };
  for (const std::string name :
       {"mtp_bench.txt", "trtllm_bench_serving.txt", "aiperf.txt", "evalscope.json", "table.md", "lmstudio.jsonl",
        "vllm_colors.log", "prometheus_trtllm.prom", "vllm_plain.log"}) {
    CAPTURE(name);
    const LogContents plain = read_log(sample(name));
    for (const auto& [before, behind] :
         {std::pair(R"({"log":")", R"(\n","stream":"stderr","time":"2026-10-01T12:00:00.1Z"})"),
          std::pair(R"({"level": "INFO", "kubernetes": {"pod": "a}b", "n": [1, {"log": 2}]}, "message": ")", R"("})"),
          std::pair(R"({"insertId": "1\"2", "textPayload": ")", R"(", "labels": {"k": "v"}})"),
          std::pair(R"({ "__REALTIME" : "12", "MESSAGE" : ")", R"(" })")}) {
      CAPTURE(before);
      const LogContents read = read_log(wrapped(sample(name), before, behind));
      CHECK(read.format == plain.format);
      REQUIRE(read.observations.size() == plain.observations.size());
      CHECK(read.observations[0].times.tpot_ms == plain.observations[0].times.tpot_ms);
      CHECK(read.observations[0].line == plain.observations[0].line);
    }
  }
}

TEST_CASE("letters that a wrapped line escapes are what they stand for") {
  const auto runs = posted_runs(
      "{\"log\":\"task;K;tok/s\\r\\n\"}\n{\"log\":\"caf\\u00e9;0;50\"}\n{\"log\":\"a\\/b;2;80\\n\"}\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].stratum.category == "caf\xC3\xA9");
  CHECK(runs[1].stratum.category == "a/b");
  CHECK(runs[1].line == 3);
}

TEST_CASE("a first column of names is no prefix, one service is") {
  const auto rows = posted_runs("name | K | tok/s\nplain | 0 | 50\nmtp | 3 | 80\n", "table");
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].drafter == "mtp");
  const auto service = posted_runs("bench  | K,tok/s\nbench  | 0,50\nbench  | 3,80\n", "table");
  REQUIRE(service.size() == 2);
  CHECK(service[1].gamma == 3);
}

TEST_CASE("prefixes of containers, of journals and of quotes are no part of a line, colored or cut") {
  const auto each_line = [](const std::string& text, const std::string& prefix) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
      lines += prefix + text.substr(at, end + 1 - at);
      at = end + 1;
    }
    return lines;
  };
  for (const std::string name :
       {"mtp_bench.txt", "trtllm_bench_serving.txt", "aiperf.txt", "evalscope.json", "table.md", "lmstudio.jsonl",
        "llama_sweep_bench.md", "prometheus_trtllm.prom", "vllm_plain.log"}) {
    CAPTURE(name);
    const LogContents plain = read_log(sample(name));
    for (const std::string prefix :
         {"vllm-1  | ", "vllm    | ", "\x1b[36mbench_2 |\x1b[0m ", "2026-10-01T12:00:00.123456789Z ", "> ",
          "2026-10-01T12:00:00.1+02:00 stdout F ", "Oct 01 12:00:00 host llama[123]: ", "[pod/llm-0/server] ",
          "vllm-1  | 2026-10-01T12:00:00Z "}) {
      CAPTURE(prefix);
      const std::string text = each_line(sample(name), prefix);
      const LogContents prefixed = read_log(text);
      CHECK(prefixed.format == plain.format);
      REQUIRE(prefixed.observations.size() == plain.observations.size());
      CHECK(prefixed.observations[0].times.tpot_ms == plain.observations[0].times.tpot_ms);
      CHECK(prefixed.observations[0].stratum.category == plain.observations[0].stratum.category);
      if (name != "evalscope.json") CHECK_NOTHROW(read_log(text.substr(0, text.size() - 20)));
    }
  }
}

}  // namespace foredraft::tests
