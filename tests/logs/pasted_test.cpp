// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "logs/line_fields.hpp"
#include "logs/observations_file.hpp"
#include "tests/logs/logs_testing.hpp"
#include "tests/logs/mutated_logs.hpp"

/// Pasted logs.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;
using logs::Span;

/// Of vLLM: five windows, ten seconds apart.
std::vector<std::string> server_lines() {
  std::vector<std::string> lines;
  for (int second = 1; second < 50; second += 10) {
    const std::string front = fmt::format("(APIServer pid=77) INFO 06-11 09:12:{:02} ", second);
    lines.push_back(
        front +
        "[loggers.py:248] Engine 000: Avg prompt throughput: 3.1 tokens/s, Avg generation throughput: 104.0 "
        "tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.2%, Prefix cache hit rate: 0.0%");
    lines.push_back(front +
                    "[metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.60, Accepted throughput: 64.00 "
                    "tokens/s, Drafted throughput: 120.00 tokens/s, Accepted: 640 tokens, Drafted: 1200 tokens, "
                    "Per-position acceptance rate: 0.780, 0.520, 0.300, Avg Draft acceptance rate: 53.3%");
  }
  return lines;
}

using Wrap = std::function<std::string(const std::string& line)>;

/// Each line in a string of JSON.
std::string quoted(const std::string& line) { return fmt::format("\"{}\"", line); }

std::string wrapped(const Wrap& wrap) {
  std::string text;
  for (const std::string& line : server_lines()) text += wrap(line) + "\n";
  return text;
}

std::string cut_at(const std::string& line, std::size_t width) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); at += width) text += (at == 0 ? "" : "\n") + line.substr(at, width);
  return text;
}

/// A run of the client of vLLM.
constexpr std::string_view serving_console = R"(============ Serving Benchmark Result ============
Successful requests:                     80
Failed requests:                         0
Maximum request concurrency:             8
Benchmark duration (s):                  40.20
Total input tokens:                      40960
Total generated tokens:                  20480
Output token throughput (tok/s):         509.45
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          15.20
---------------Inter-token Latency----------------
Mean ITL (ms):                           38.00
---------------Speculative Decoding---------------
Acceptance length:                       2.50
Drafts:                                  8000
Draft tokens:                            24000
Accepted tokens:                         12000
==================================================
)";

std::string console(const std::string& before) {
  std::string text;
  std::string_view rest = serving_console;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n') + 1;
    text += before + std::string(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return text;
}

std::string utf16(std::string_view text, bool little_endian) {
  std::string bytes = little_endian ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : text) {
    bytes += little_endian ? std::string{c, '\0'} : std::string{'\0', c};
  }
  return bytes;
}

/// All that is read of a log; the message if nothing is.
std::string said_of(std::string_view text) {
  try {
    const LogContents contents = read_log(text);
    return logs::observations_text({{{.file = "some.log", .sha256 = "", .contents = contents}}});
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a server's log is read in whatever is around its lines") {
  const auto plain = [](const std::string& line) { return line; };
  const std::string time = "2026-06-11T09:12:01.123456789Z ";
  std::string list;
  for (const std::string& line : server_lines()) list += (list.empty() ? "" : ", ") + quoted(line);
  std::string streams;
  for (const std::string& line : server_lines())
    streams += (streams.empty() ? "" : ",") + fmt::format("[\"1781169121000000000\",{}]", quoted(line));
  const std::vector<std::pair<std::string, std::string>> texts{
      {"as it is", wrapped(plain)},
      {"a service of compose", wrapped([](const auto& line) { return "vllm-1  | " + line; })},
      {"a pod", wrapped([&](const auto& line) { return "[pod/vllm-7d9f/vllm] " + time + line; })},
      {"a job", wrapped([&](const auto& line) { return "bench\tRun it\t" + time + line; })},
      {"a task of srun", wrapped([](const auto& line) { return "0: " + line; })},
      {"records of a container runtime", wrapped([&](const auto& line) { return time + "stdout F " + line; })},
      {"records that go on", wrapped([&](const auto& line) {
         return time + "stdout P " + line.substr(0, 150) + "\n" + time + "stdout F " + line.substr(150);
       })},
      {"docker's file", wrapped([](const auto& line) { return R"({"log":")" + line + R"(\n","stream":"stderr"})"; })},
      {"docker's file, lines that go on", wrapped([](const auto& line) {
         const std::string first = line.substr(0, 39) + std::string(5000, ' ');
         return R"({"log":")" + first + R"("})" + "\n" + R"({"log":")" + line.substr(39) + R"(\n"})";
       })},
      {"quoted code", wrapped([](const auto& line) { return "\t> `" + line + "`"; })},
      {"copied from a terminal", wrapped([](const auto& line) { return cut_at(line, 110); })},
      {"Windows", utf16(wrapped(plain), true)},
      {"another byte order", utf16(wrapped(plain), false)},
      {"a list", "[" + list + "]"},
      {"a notebook", R"({"cells": [{"outputs": [{"name": "stdout", "text": [)" + list + "]}]}]}"},
      {"an answer of Loki", R"({"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"vllm"},)"
                            R"("values":[)" +
                                streams + "]}]}}"},
  };
  for (const auto& [what, text] : texts) {
    CAPTURE(what);
    const std::vector<Observation> windows = posted_runs(text, "vllm");
    REQUIRE(windows.size() == 5);
    for (const Observation& window : windows) {
      REQUIRE(window.acceptance);
      CHECK(window.acceptance->steps == 400);
      CHECK(window.acceptance->accepted_at == Counts{312, 208, 120});
      CHECK(window.requests == 4.0);
      CHECK(window.times.iteration_ms == near(100.0));
    }
  }
}

TEST_CASE("each sample says the same in whatever is around its lines") {
  const auto before = [](const std::string& prefix) {
    return [prefix](const std::string& line, int) { return prefix + line; };
  };
  const std::string time = "2026-06-11T09:12:01.123456789Z ";
  const std::vector<std::pair<std::string, std::function<std::string(const std::string&, int)>>> surroundings{
      {"a service of compose", before("vllm-1  | ")},
      {"a pod", before("[pod/vllm-7d9f/vllm] " + time)},
      {"mpirun", before("[1,0]<stdout>:")},
      {"Ray", before("(EngineCore pid=4242) ")},
      {"a margin", before("    ")},
      {"line numbers", [](const std::string& line, int number) { return fmt::format("{:6d}\t{}", number, line); }},
      {"Windows", [](const std::string& line, int) { return line + "\r"; }},
      {"colors", [](const std::string& line, int) { return "\x1b[32m" + line + "\x1b[0m"; }},
      {"a web page", [](std::string line, int) {
         RE2::GlobalReplace(&line, "  ", "\xC2\xA0 ");
         return line;
       }}};
  constexpr int fewest_lines = 3;  // that line numbers are told from a column by
  for (const std::string& text : all_samples()) {
    CAPTURE(text.substr(0, 200));
    const std::string plain = said_of(text);
    for (const auto& [what, around] : surroundings) {
      CAPTURE(what);
      std::istringstream lines(text);
      std::string wrapped, line;
      int number = 0;
      while (std::getline(lines, line)) wrapped += around(line, ++number) + "\n";
      if (what != "line numbers" || number >= fewest_lines) CHECK(said_of(wrapped) == plain);
    }
  }
}

TEST_CASE("a blank of another kind in a text that arrives in pieces") {
  // no-break, thin, zero width, narrow as a separator of thousands, figure
  const std::string odd =
      "a\xC2\xA0"
      "b\xE2\x80\x89"
      "c\xE2\x80\x8B"
      "d 1\xE2\x80\xAF"
      "234\xE2\x80\x87"
      "e\r\n\r"
      "f\xE2\x96\x88\xE2\x80\xAF";
  for (std::size_t size = 1; size <= odd.size(); ++size) {
    logs::EscapeFilter filter;
    std::string text;
    for (std::size_t at = 0; at < odd.size(); at += size) filter.append(odd.substr(at, size), text);
    CHECK(text == "a b cd 1234 e\n\rf\xE2\x96\x88");
  }
}

TEST_CASE("a table of which each other line is empty") {
  for (const std::string name : {"table.md", "own.csv", "vllm_sweep.csv", "speculators_perf.csv"}) {
    CAPTURE(name);
    std::string spaced = sample(name);
    RE2::GlobalReplace(&spaced, "\n", "\n\n");
    const std::size_t runs = read_log(sample(name)).observations.size();
    REQUIRE(runs > 0);
    CHECK(read_log(spaced).observations.size() == runs);
  }
  // Two empty lines end it, as one does a table without them.
  const std::string first = "| 1 | 41 |\n", second = "| 2 | 50 |\n";
  CHECK(posted_runs("| K | tok/s |\n\n|---|---|\n\n" + first + "\n\n" + second, "table").size() == 1);
  CHECK(posted_runs("| K | tok/s |\n|---|---|\n" + first + "\n" + second, "table").size() == 1);
}

TEST_CASE("a document that was cut within its rates has the draft length of its histogram") {
  const std::string whole = sample("acceptance_rate.json");
  const std::size_t rates = whole.find("Conditional_Acceptance_Rate");
  const auto runs = posted_runs(whole.substr(0, whole.find("\"3\"", rates)), "specdec-bench");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].acceptance->accepted_at == posted_runs(whole, "specdec-bench")[0].acceptance->accepted_at);
}

TEST_CASE("JSON that breaks is rejected with the line where it does") {
  CHECK(said_of("{\n \"predicted_n\": 250,\n \"predicted_ms\" 5000.0,\n \"draft_n\": 200\n}\n")
            .find("breaks at line 3") != std::string::npos);
}

TEST_CASE("the records of a file are read in a list too") {
  for (const std::string name : {"aiperf_records.jsonl", "eagle_answers.jsonl", "llama_batched_bench.jsonl",
                                 "ollama_answers.jsonl", "vllm_requests.jsonl"}) {
    CAPTURE(name);
    std::string list = sample(name);
    while (list.ends_with('\n')) list.pop_back();
    RE2::GlobalReplace(&list, "\n", ",\n ");
    const LogContents contents = read_log(sample(name)), of_list = read_log("[" + list + "]\n");
    CHECK(of_list.format == contents.format);
    CHECK(of_list.observations.size() == contents.observations.size());
  }
}

TEST_CASE("the JSON of one run on one line is read without its end, a torn last record is not") {
  const std::string record = R"({"predicted_n": 250, "predicted_ms": 5000.0, "draft_n": 200, "draft_n_accepted": 150})";
  const std::string cut =
      R"({"predicted_n": 250, "predicted_ms": 5000.0, "draft_n": 200, "draft_n_accepted": 150, "cac)";
  CHECK(posted_runs(cut, "llamacpp-timings").size() == 1);
  CHECK(posted_runs(record + "\n" + cut, "llamacpp-timings").size() == 1);
}

TEST_CASE("a line that was split keeps its number, and so do those after it") {
  const std::string time = "2026-06-11T09:12:01.1Z stdout ";
  const auto windows = posted_runs(wrapped([&](const auto& line) {
                                     return time + "P " + line.substr(0, 150) + "\n" + time + "F " + line.substr(150);
                                   }),
                                   "vllm");
  REQUIRE(windows.size() == 5);
  CHECK(windows[0].line == 3);
  CHECK(windows[4].line == 19);
}

TEST_CASE("a part that begins within a line has the windows whose end it holds") {
  const std::string rest =
      "ens/s, Accepted: 640 tokens, Drafted: 1200 tokens, Per-position acceptance rate: 0.780, 0.520, 0.300, Avg Draft "
      "acceptance rate: 53.3%";
  const auto windows = posted_runs(rest + "\n" + wrapped([](const auto& line) { return line; }), "vllm");
  REQUIRE(windows.size() == 6);
  CHECK(windows[0].acceptance->accepted_at == Counts{312, 208, 120});
  // At the width of a terminal, too.
  const auto narrow = [](const std::string& line) { return cut_at(line, 100); };
  const auto cut = posted_runs(narrow(rest) + "\n" + wrapped(narrow), "vllm");
  REQUIRE(cut.size() == 6);
  CHECK(cut[5].requests == 4.0);
  // Rates alone, of two draft lengths: their mean tells that none is missing.
  const auto lengths = posted_runs(
      "At 3:\nPer-position acceptance rate: 0.800, 0.500, 0.200\nAvg Draft acceptance rate: 50.0%\n"
      "At 2:\nPer-position acceptance rate: 0.700, 0.300\nAvg Draft acceptance rate: 50.0%\n",
      "vllm");
  REQUIRE(lengths.size() == 2);
  CHECK(lengths[0].gamma == 3);
  CHECK(lengths[0].acceptance_length == near(2.5));
  CHECK(lengths[1].gamma == 2);
  CHECK(problem("Per-position acceptance rate: 0.800, 0.500\nAvg Draft acceptance rate: 50.0%\n").find("no line") !=
        std::string::npos);
}

TEST_CASE("lines of one width are not put together where each begins as the others") {
  std::string text;
  for (const std::string& line : server_lines()) text += line + std::string(400 - line.size(), ' ') + "\n";
  CHECK(posted_runs(text, "vllm").size() == 5);
}

TEST_CASE("a console is read with what a logger or a job puts before each line") {
  for (const std::string before :
       {"", "\t> ", "    ", "0: ", "INFO 06-11 09:12:01 [bench.py:10] ", "[2026-06-11 09:12:01,123] [INFO] ",
        "[01/02/2026-10:00:00] [TRT-LLM] [I] ", "bench\tRun it\t2026-06-11T09:12:01.1234567Z "}) {
    CAPTURE(before);
    const auto runs = posted_runs(console(before), "bench-serving");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].concurrency == 8.0);
    REQUIRE(runs[0].acceptance);
    CHECK(runs[0].acceptance->steps == 8000);
    CHECK(runs[0].times.iteration_ms == 38.0);
  }
}

TEST_CASE("runs are found in a document of a user's own") {
  const std::string run =
      R"("max_concurrency": 8, "request_rate": "inf", "output_throughput": 500.0, "mean_tpot_ms": 15.0)";
  const std::string drafts = R"(, "spec_decode_num_drafts": 8000, "spec_decode_draft_tokens": 24000,)"
                             R"( "spec_decode_accepted_tokens": 12000)";
  for (const std::string& text :
       {"[{" + run + "}, {" + run + drafts + "}]", R"({"plain": {)" + run + R"(}, "k3": {)" + run + drafts + "}}",
        R"({"runs": [{"result": {)" + run + R"(}}, {"result": {)" + run + drafts + "}}]}"}) {
    CAPTURE(text);
    const auto runs = posted_runs(text, "vllm-bench");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    REQUIRE(runs[1].acceptance);
    CHECK(runs[1].acceptance->steps == 8000);
  }
  const auto told = posted_runs("{" + run + R"(, "num_spec_tokens": "3"})" + "\n{" + run + R"(, "num_spec_tokens": 0})",
                                "vllm-bench");
  REQUIRE(told.size() == 2);
  CHECK(told[0].gamma == 3);
  CHECK(told[0].decoding == Decoding::speculative);
  CHECK(told[1].decoding == Decoding::plain);
}

TEST_CASE("JSON records with the headings of a table are rows of one") {
  const auto runs = posted_runs(R"({"results": [
      {"method": "baseline", "batch_size": 1, "tokens_per_second": 40.0},
      {"method": "eagle3", "num_speculative_tokens": 3, "batch_size": 1,
       "metrics": {"tokens_per_second": 80.0, "mean_acceptance_length": 2.5}}]})",
                                "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(25.0));
  CHECK(runs[0].line == 2);
  CHECK(runs[1].gamma == 3);
  CHECK(runs[1].drafter == "eagle3");
  CHECK(runs[1].acceptance_length == 2.5);
  CHECK(runs[1].times.iteration_ms == near(31.25));
  // In a log of a server they add nothing.
  CHECK(posted_runs(wrapped([](const auto& line) { return line + "\n{\"method\": \"x\", \"tps\": 3, \"k\": 4}"; }),
                    "vllm")
            .size() == 5);
}

TEST_CASE("a document whose first line was cut within is read from its second") {
  const auto runs = posted_runs(R"(er_second": 500.0,
    "predicted_n": 250,
    "predicted_ms": 5000.0,
    "draft_n": 200,
    "draft_n_accepted": 150
  }
})",
                                "llamacpp-timings");
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].acceptance);
  CHECK(runs[0].acceptance->accepted_tokens == 150);
}

TEST_CASE("an answer in a stream of events") {
  const auto runs = posted_runs(
      "data: {\"choices\":[],\"timings\":{\"predicted_n\":250,\"predicted_ms\":5000.0,"
      "\"draft_n\":200,\"draft_n_accepted\":150}}\n\ndata: [DONE]\n",
      "llamacpp-timings");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance->accepted_tokens == 150);
}

TEST_CASE("EvalScope's table: seconds, tokens of an iteration") {
  const auto runs = posted_runs(sample("evalscope_console.txt"), "evalscope-console");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].concurrency == 8.0);
  CHECK(runs[0].acceptance_length == 2.5);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].times.iteration_ms == near(50.0));
  CHECK(runs[0].completed_requests == 32);
  const auto loads = posted_runs(
      "| Conc. | RPS | Avg Lat.(s) | P99 Lat.(s) | Gen. toks/s | Avg TTFT(s) | P99 TTFT(s) | "
      "Avg TPOT(s) | P99 TPOT(s) | Success Rate |\n"
      "| 4 | 0.9 | 4.3 | 5.0 | 280.1 | 0.11 | 0.15 | 0.014 | 0.016 | 100.0% |\n",
      "table");
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].times.tpot_ms == near(14.0));
  CHECK(loads[0].concurrency == 4.0);
}

TEST_CASE("TensorRT-LLM's iteration log: copies of other ranks, prompts and the first iterations are left out") {
  const auto windows = posted_runs(sample("trtllm_iteration_log.log"), "trtllm-iteration-log");
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].decoding == Decoding::speculative);
  CHECK(windows[0].gamma == 3);
  CHECK(windows[0].requests == 8.0);
  CHECK(windows[0].times.iteration_ms == 21.5);
  CHECK(windows[1].decoding == Decoding::plain);
  CHECK(windows[1].times.iteration_ms == 12.5);
}

TEST_CASE("llama-cli and LM Studio: the speed of an answer") {
  const auto answers = posted_runs(sample("local_prompts.txt"), "local-prompts");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].times.tpot_ms == near(20.0));
  CHECK(answers[0].times.ttft_ms == 100.0);
  CHECK(answers[0].stratum.output_tokens == 250.0);
  CHECK(answers[0].span == Span::request);
  const std::string speed = "[ Prompt: 120.5 t/s | Generation: 40.0 t/s ]\n";
  const auto speeds = posted_runs(speed + speed, "local-prompts");
  REQUIRE(speeds.size() == 2);
  CHECK(speeds[0].times.tpot_ms == near(25.0));
  const auto chat = posted_runs(
      "Prediction Stats:\n  Tokens/Second: 62.50\n  Time to First Token: 0.110s\n"
      "  Prompt Tokens: 24\n  Predicted Tokens: 300\n",
      "local-prompts");
  REQUIRE(chat.size() == 1);
  CHECK(chat[0].times.tpot_ms == near(16.0));
  CHECK(chat[0].times.ttft_ms == near(110.0));
  // Among the lines of another program they belong to it.
  CHECK(posted_runs(sample("llama_speculative.txt"), "llama-speculative").size() == 1);
}

TEST_CASE("small benchmarks of SGLang and vLLM") {
  const auto runs = posted_runs(sample("small_bench.txt"), "small-bench");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance_length == 2.6);
  CHECK(runs[0].concurrency == 8.0);
  CHECK(runs[0].times.output_tokens_per_s == 1010.5);
  CHECK(runs[0].times.ttft_ms == near(260.0));
  const auto sent = posted_runs("acc_length=3.12\nspeed=250.00 token/s\n", "small-bench");
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].acceptance_length == 3.12);
  CHECK(sent[0].times.tpot_ms == near(4.0));
  CHECK(sent[0].requests == 1.0);
  const auto throughput =
      posted_runs("Throughput: 6.25 requests/s, 3180.44 total tokens/s, 1590.25 output tokens/s\n", "small-bench");
  REQUIRE(throughput.size() == 1);
  CHECK(throughput[0].decoding == Decoding::unknown);
  CHECK(throughput[0].times.output_tokens_per_s == 1590.25);
  const auto one = posted_runs(
      "+-------------+--------+------------+-----------------+\n"
      "| Latency (s) | Tokens | Acc Length | Speed (token/s) |\n"
      "+-------------+--------+------------+-----------------+\n"
      "|    1.925    |  512   |   2.500    |     250.00      |\n",
      "table");
  REQUIRE(one.size() == 1);
  CHECK(one[0].acceptance_length == 2.5);
  CHECK(one[0].times.iteration_ms == near(10.0));
}

TEST_CASE("AIPerf's CSV is its table") {
  const auto runs = posted_runs(sample("aiperf.csv"), "genai-perf");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].times.tpot_ms == 9.5);
  CHECK(runs[0].times.ttft_ms == 177.5);
  CHECK(runs[0].times.output_tokens_per_s == 1500.0);
  CHECK(runs[0].times.duration_s == near(60.0));
  CHECK(runs[0].stratum.context_tokens == 1024.0 + 128.0);
}

TEST_CASE("rows that measure something by the unit of their cells") {
  const auto runs = posted_runs(
      "| | Without MTP | With MTP |\n|---|---|---|\n| Prompt processing | 520 t/s | 505 t/s |\n"
      "| Generation | **20 t/s** | ~40 t/s |\n| Draft acceptance | - | 78.2% |\n",
      "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[0].times.tpot_ms == near(50.0));
  CHECK(runs[1].times.tpot_ms == near(25.0));
}

}  // namespace foredraft::tests
