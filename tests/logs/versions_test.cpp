// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "logs/observation.hpp"
#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

/// What engines print in their versions of autumn 2026, in samples of our own.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

TEST_CASE("llama-server prints the positions of a request in a line of their own") {
  const std::string request =
      "slot print_timing: id  0 | task 4 |        eval time =    4000.00 ms /   260 tokens (   15.38 ms per token)\n"
      "slot print_timing: id  0 | task 4 | draft acceptance = 0.53333 (  160 accepted /   300 generated), mean len =  "
      "2.60\n";
  const std::string positions = "slot print_timing: id  0 | task 4 |      acc per pos = (0.800, 0.500, 0.300)\n";
  const auto runs = posted_runs(request + positions, "llama-server");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].acceptance->steps == 100);
  CHECK(runs[0].acceptance->accepted_at == Counts{80, 50, 30});
  CHECK(runs[0].acceptance->steps_estimated);
  CHECK(posted_runs(request, "llama-server").at(0).acceptance->accepted_at.empty());
  CHECK(posted_runs("alien log: acc per pos = (0.1)\n" + request, "llama-server").size() == 1);
  // Of 100 000 drafts a length with two digits tells the steps to 0.3 %, the positions to 0.1 %.
  const std::string many = replaced(request, "  160 accepted /   300", "160300 accepted / 300000");
  CHECK(posted_runs(many + replaced(positions, "0.300", "0.303"), "llama-server").at(0).acceptance->steps == 100000);
}

TEST_CASE("a llama-server that does not count its steps is not plain") {
  const std::string times = "llamacpp:tokens_predicted_total 900\nllamacpp:tokens_predicted_seconds_total 18\n";
  const std::string drafts =
      "llamacpp:spec_decode_num_draft_tokens_total 600\nllamacpp:spec_decode_num_accepted_tokens_total 500\n";
  const auto runs = posted_runs(times + drafts, "prometheus");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].acceptance->steps == 400);
  CHECK(runs[0].acceptance->steps_estimated);
  CHECK_FALSE(runs[0].gamma);
  CHECK(*runs[0].times.iteration_ms == Approx(45.0).epsilon(few_ulp));
  CHECK_FALSE(posted_runs(replaced(times, "900", "700") + drafts, "prometheus").at(0).gamma);
  const std::string other = "llamacpp:draft_tokens_total 600\nllamacpp:draft_tokens_accepted_total 500\n";
  CHECK(posted_runs(times + other, "prometheus").at(0).acceptance->steps == 400);
  CHECK(posted_runs(times, "prometheus").at(0).decoding == Decoding::unknown);
  const auto unknown =
      posted_runs(times + replaced(drafts, "accepted_tokens_total 500", "accepted_tokens_total 900"), "prometheus");
  CHECK_FALSE(unknown.at(0).acceptance);
  CHECK_FALSE(unknown.at(0).times.iteration_ms);
}

TEST_CASE("mistral.rs counts the drafts of its server") {
  const std::string text =
      "mistralrs_speculative_drafts_total 200\n"
      "mistralrs_speculative_draft_tokens_proposed_total 600\n"
      "mistralrs_speculative_draft_tokens_accepted_total 320\n"
      "mistralrs_speculative_draft_tokens_accepted_per_pos_total{position=\"0\"} 160\n"
      "mistralrs_speculative_draft_tokens_accepted_per_pos_total{position=\"1\"} 100\n"
      "mistralrs_speculative_draft_tokens_accepted_per_pos_total{position=\"2\"} 60\n";
  const LogContents contents = read_log(text);
  CHECK(contents.engine == "mistral.rs");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 3);
  CHECK(contents.observations[0].acceptance->steps == 200);
  CHECK(contents.observations[0].acceptance->accepted_at == Counts{160, 100, 60});
}

TEST_CASE("Ollama's MLX runner logs the drafts of each answer") {
  const std::string text =
      "time=2026-10-02T10:11:20.1+02:00 level=DEBUG source=speculation.go:9 msg=\"speculative decode stats\" "
      "iterations=100 drafted=300 accepted=180 acceptance=0.60 avg_draft=3.00 max_draft=4 avg_accepted=1.80\n";
  const auto answers = posted_runs(text + replaced(text, "accepted=180", "accepted=200"), "ollama");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].span == logs::Span::request);
  CHECK(answers[0].decoding == Decoding::speculative);
  CHECK(answers[0].acceptance->steps == 100);
  CHECK(answers[0].acceptance->drafted_tokens == 300);
  CHECK(answers[0].acceptance->accepted_tokens == 180);
  CHECK(answers[1].acceptance->accepted_tokens == 200);
}

TEST_CASE("AIPerf's export of a server's metrics is a window of its counters") {
  const std::string text = sample("aiperf_server_metrics.json");
  const LogContents contents = read_log(text);
  CHECK(contents.format == "prometheus-range");
  CHECK(contents.engine == "vllm");
  CHECK_FALSE(warns(contents, "W02"));
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.gamma == 2);
  CHECK(run.requests == 3.5);
  CHECK(run.acceptance->steps == 1000);
  CHECK(run.acceptance->accepted_at == Counts{800, 600});
  CHECK(*run.times.iteration_ms == Approx(20.0).epsilon(few_ulp));
  const std::string two = replaced(text, R"("vllm:spec_decode_num_drafts": {"type": "counter", "series": [)",
                                   R"("vllm:spec_decode_num_drafts": {"type": "counter", "series": [
      {"endpoint_url": "http://localhost:8001/metrics", "labels": {"engine": "0"}, "stats": {"total": 0.0}},)");
  CHECK(read_log(two).observations.at(0).acceptance->steps == 1000);
}

TEST_CASE("a console with an acceptance length and rate alone tells the draft length") {
  const std::string text =
      "Successful requests:                     8\n"
      "Mean TPOT (ms):                          10.00\n"
      "---------------Speculative Decoding---------------\n"
      "Acceptance rate (%):                     60.00\n"
      "Acceptance length:                       2.80\n";
  const auto runs = posted_runs(text, "bench-serving");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].gamma == 3);
  CHECK(runs[0].acceptance_length == 2.8);
}

TEST_CASE("DFlash's benchmark counts tokens and steps, which its mean over answers does not weigh") {
  const std::string end =
      "Latency:          10.0s\n"
      "Output tokens:    6010\n"
      "Throughput:       601.00 tok/s\n"
      "Accept length:    6.500\n"
      "Spec verify ct:   1000\n";
  const std::string begin =
      "==================================================\n"
      "Backend:          vllm\n"
      "Dataset:          some\n"
      "Num prompts:      10\n"
      "Concurrency:      2\n";
  const auto runs = posted_runs(begin + end, "bench-serving");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].acceptance_length == 6.0);
  CHECK(runs[0].concurrency == 2.0);
  CHECK_FALSE(warns(read_log(begin + end), "W10"));
  const auto part = posted_runs(end, "bench-serving");
  REQUIRE(part.size() == 1);
  CHECK(part[0].acceptance_length == 6.01);
  CHECK(part[0].times.output_tokens_per_s == 601.0);
  const std::string cut = begin + end.substr(0, end.find("Spec"));
  CHECK(posted_runs(cut, "bench-serving").at(0).acceptance_length == 6.5);
  CHECK(warns(read_log(cut), "W10"));
}

}  // namespace
}  // namespace foredraft::tests
