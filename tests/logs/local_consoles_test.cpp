// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"

/// Consoles and metrics of programs that do not count drafts.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Span;

}  // namespace

TEST_CASE("Ollama and KTransformers: an answer by its lines, the prompt's rate is not its speed") {
  const auto answers = posted_runs(sample("ollama.txt"), "ollama");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].decoding == Decoding::unknown);
  CHECK(answers[0].span == Span::request);
  CHECK(answers[0].times.tpot_ms == near(25.0));
  CHECK(answers[0].stratum.output_tokens == 250.0);
  CHECK(answers[0].stratum.context_tokens == 26.0 + 125.0);
  CHECK(answers[1].times.tpot_ms == Approx(50.0));
  // The lines that people keep of ten answers.
  const std::string speeds = "prompt eval rate:     1354.84 tokens/s\neval rate:            88.77 tokens/s\n";
  const auto kept = posted_runs("- eval rate: 7.93 tokens/s\n" + speeds + speeds, "ollama");
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].times.tpot_ms == near(1000.0 / 7.93));
  CHECK(kept[2].times.tpot_ms == near(1000.0 / 88.77));
  const auto server = posted_runs(sample("ktransformers.log"), "ktransformers");
  REQUIRE(server.size() == 2);
  CHECK(server[0].times.tpot_ms == near(80.0));
  CHECK(server[0].times.ttft_ms == near(1500.0));
  CHECK(server[0].stratum.output_tokens == 200.0);
}

TEST_CASE("answers of Ollama's API: the last object of each has its times") {
  const auto answers = posted_runs(sample("ollama_answers.jsonl"), "ollama-answers");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].times.tpot_ms == near(25.0));
  CHECK(answers[0].times.duration_s == near(6.25));
  CHECK(read_log(sample("ollama_answers.jsonl")).settings.target == "llama3.2");
}

TEST_CASE("mlx_lm: the speed of a benchmark is that of its batch, averages stand in for trials") {
  const auto runs = posted_runs(sample("mlx_lm.txt"), "mlx-lm");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].times.tpot_ms == near(20.0));
  CHECK(runs[0].requests == 1.0);
  CHECK(runs[0].stratum.output_tokens == 200.0);
  CHECK(runs[1].times.tpot_ms == near(25.0));
  CHECK(runs[1].times.output_tokens_per_s == 160.0);
  CHECK(runs[1].concurrency == 4.0);
  CHECK(runs[2].times.tpot_ms == near(50.0));
  // Of another model, without its settings and trials.
  CHECK(runs[3].times.tpot_ms == near(50.0));
  CHECK_FALSE(runs[3].concurrency);
}

TEST_CASE("GuideLLM's console: rows of several tables are one benchmark, headings take up to three rows") {
  const auto runs = posted_runs(sample("guidellm_console.txt"), "guidellm-console");
  CHECK(warns(read_log(sample("guidellm_console.txt")), "W20"));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].concurrency == 1.0);
  CHECK(runs[0].times.tpot_ms == 19.5);
  CHECK(runs[1].decoding == Decoding::unknown);
  CHECK(runs[1].concurrency == 8.0);
  CHECK(runs[1].requests == 7.8);
  CHECK(runs[1].times.tpot_ms == 25.0);
  CHECK(runs[1].times.ttft_ms == 64.0);
  CHECK(runs[1].times.output_tokens_per_s == 305.5);
  CHECK(runs[1].times.served_requests_per_s == 2.5);
  CHECK(runs[1].stratum.output_tokens == 120.0);
  // Only the table of latencies, without lines and indented, twice: two reports.
  const std::string all = sample("guidellm_console.txt");
  const std::size_t begin = all.find("| Benchmark   | Request Latency");
  const std::string table = all.substr(begin, all.find("|====", begin) - begin);
  const auto twice = posted_runs("  " + table + "\n\n  " + table, "guidellm-console");
  REQUIRE(twice.size() == 4);
  CHECK(twice[3].times.tpot_ms == 25.0);
  CHECK_FALSE(twice[3].concurrency);
}

TEST_CASE("GuideLLM's console before 0.4: means, the load by name, failed requests") {
  const LogContents contents = read_log(sample("guidellm_console_old.txt"));
  CHECK(contents.format == "guidellm-console");
  CHECK(warns(contents, "W19"));
  CHECK_FALSE(warns(contents, "W20"));
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].concurrency == 4.0);
  CHECK(contents.observations[0].requests == 3.9);
  CHECK(contents.observations[0].times.tpot_ms == 22.2);
  CHECK(contents.observations[0].times.ttft_ms == 82.0);
  CHECK(contents.observations[0].failed_requests == 2);
  CHECK_FALSE(contents.observations[1].concurrency);
  CHECK(contents.observations[1].times.request_rate_per_s == 1.5);
  CHECK(contents.observations[1].times.output_tokens_per_s == 187.0);
}

TEST_CASE("a table of benchmarks that is not GuideLLM's is left to others") {
  const auto runs =
      posted_runs("| Benchmark | K | tok/s |\n|---|---|---|\n| plain | 0 | 50 |\n| constant | 3 | 80 |\n", "table");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].times.tpot_ms == near(12.5));
}

TEST_CASE("Dynamo's frontend: latency between tokens, requests after their first token, with an engine's own") {
  const std::string text = sample("prometheus_dynamo.prom");
  const auto runs = posted_runs(text, "prometheus");
  CHECK(warns(read_log(text), "W02"));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::unknown);
  CHECK(runs[0].requests == 4.0);
  CHECK(runs[0].times.tpot_ms == near(15.0));
  CHECK(runs[0].times.ttft_ms == near(80.0));
  CHECK(runs[0].completed_requests == 100);
  CHECK(runs[0].stratum.context_tokens == 500.0 + 50.5);
  for (const std::string& both : {text + sample("prometheus_times.prom"), sample("prometheus_times.prom") + text}) {
    const LogContents contents = read_log(both);
    CHECK(contents.engine == "vllm");
    REQUIRE(contents.observations.size() == 1);
    CHECK(contents.observations[0].times.iteration_ms ==
          posted_runs(sample("prometheus_times.prom"), "prometheus").at(0).times.iteration_ms);
  }
}

TEST_CASE("a range query: a window a step, whatever the order of its series") {
  const std::string text = sample("prometheus_range.json");
  const auto windows = posted_runs(text, "prometheus-range");
  CHECK(read_log(text).engine == "vllm");
  CHECK_FALSE(warns(read_log(text), "W02"));
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].acceptance->steps == 500);
  CHECK(windows[0].acceptance->accepted_at == Counts{400, 300});
  CHECK(windows[0].times.iteration_ms == near(25.0));
  CHECK(windows[1].acceptance->steps == 1000);
  CHECK(windows[1].requests == 3.0);
  CHECK(problem(R"({"data": {"result": [{"metric": {"__name__": "up"}, "values": [[1, "1"]]}]}})").find("no line") !=
        std::string::npos);
}

}  // namespace foredraft::tests
