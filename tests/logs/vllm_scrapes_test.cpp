// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "logs/scrapes.hpp"
#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

logs::ObservedLog scraped_log(const std::string& text) {
  return {.file = "f", .sha256 = "", .contents = read_log(text)};
}

std::vector<logs::ObservedLog> combined(std::vector<logs::ObservedLog> logs) {
  logs::combine_scrapes(logs);
  return logs;
}

}  // namespace

TEST_CASE("a scrape gives the counters of all engines since their start") {
  const std::string text = sample("prometheus.prom");
  const LogContents contents = read_log(text.substr(0, text.find("# HELP", text.find("engine=\"1\""))));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.engine == "vllm");
  const Observation& first = contents.observations[0];
  CHECK(first.span == logs::Span::run);
  CHECK(first.gamma == 3);
  CHECK(first.acceptance->steps == 3000);
  CHECK(first.acceptance->accepted_at == Counts{2400, 1350, 750});
  CHECK(first.requests == 9.0);
  CHECK(warns(contents, "W02"));
}

TEST_CASE("two scrapes of a server in one file are what was counted between them") {
  const LogContents contents = read_log(sample("prometheus.prom"));
  REQUIRE(contents.observations.size() == 1);
  const Observation& between = contents.observations[0];
  CHECK(between.acceptance->steps == 6000);
  CHECK(between.acceptance->drafted_tokens == 18000);
  CHECK(between.acceptance->accepted_at == Counts{4800, 2700, 1500});
  CHECK(between.requests == 9.0);
  CHECK_FALSE(warns(contents, "W02"));
  const std::string started = "process_start_time_seconds 1.7e9\n";
  const LogContents both =
      read_log(started + sample("prometheus_before.prom") + started + sample("prometheus_after.prom"));
  REQUIRE(both.observations.size() == 1);
  CHECK(both.observations[0].acceptance->steps == 2000);
  CHECK(problem("process_start_time_seconds 1.7e9\n") == "some.log: no line of a known format");
}

TEST_CASE("two scrapes of a server in two files, in any order, are what was counted between them") {
  const std::string before = sample("prometheus_before.prom");
  const std::string after = sample("prometheus_after.prom");
  for (const auto& logs :
       {combined({scraped_log(before), scraped_log(after)}), combined({scraped_log(after), scraped_log(before)})}) {
    REQUIRE(logs.size() == 1);
    REQUIRE(logs[0].contents.observations.size() == 1);
    const Observation& between = logs[0].contents.observations[0];
    CHECK(between.acceptance->steps == 2000);
    CHECK(between.acceptance->drafted_tokens == 4000);
    CHECK(between.acceptance->accepted_tokens == 3200);
    CHECK(between.acceptance->accepted_at == Counts{1800, 1400});
    CHECK_FALSE(warns(logs[0].contents, "W02"));
  }
}

TEST_CASE("scrapes of different servers are not subtracted") {
  const std::string before = sample("prometheus_before.prom");
  const auto changed = [&](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    return text;
  };
  const std::string after = sample("prometheus_after.prom");
  const std::string start = "vllm:spec_decode_num_drafts_created{engine=\"0\"} ";
  for (const auto& [first, second] :
       {std::pair{before, changed(after, "model_name=\"m\"", "model_name=\"n\"")},  // another model
        std::pair{"vllm:request_success_total 9\n" + before, "vllm:request_success_total 4\n" + after},  // one fell
        std::pair{before, changed(after, "} 12000.0", "} 10100.0")},  // more accepted than drafted
        std::pair{"process_start_time_seconds 1.7e9\n" + before, "process_start_time_seconds 1.8e9\n" + after},
        std::pair{start + "1.7e9\n" + before, start + "1.8e9\n" + after}}) {  // started again
    const auto logs = combined({scraped_log(first), scraped_log(second)});
    REQUIRE(logs.size() == 2);
    CHECK(logs[0].contents.observations.at(0).acceptance->steps == 10000);
    CHECK(warns(logs[0].contents, "W02"));
    CHECK(logs[1].contents.observations.size() == 1);
  }
}

TEST_CASE("vLLM observes the latency between tokens once an iteration") {
  const LogContents contents = read_log(sample("prometheus_times.prom"));
  const Observation& run = contents.observations.at(0);
  CHECK(*run.times.iteration_ms == Approx(50.0).epsilon(few_ulp));
  CHECK(*run.times.tpot_ms == Approx(50.0 / 2.25).epsilon(few_ulp));
  const Observation plain = read_log(sample("prometheus_plain.prom")).observations.at(0);
  CHECK(plain.decoding == Decoding::plain);
  CHECK(*plain.times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK(*plain.times.tpot_ms == Approx(40.0).epsilon(few_ulp));
  const LogContents chunks = read_log(
      "vllm:inter_token_latency_seconds_count 2000\nvllm:inter_token_latency_seconds_sum 100.0\n"
      "vllm:request_time_per_output_token_seconds_count 10\nvllm:request_time_per_output_token_seconds_sum 0.2222\n");
  CHECK(chunks.observations.at(0).decoding == Decoding::unknown);
  CHECK(warns(chunks, "W09"));
}

TEST_CASE("vLLM's generated tokens tell the iterations that drafted nothing") {
  const std::string more =
      "vllm:generation_tokens_total 6010\nvllm:time_to_first_token_seconds_count 10\n"
      "vllm:time_to_first_token_seconds_sum 1.0\nvllm:prompt_tokens_total 5000\n";
  const Observation run = read_log(sample("prometheus_times.prom") + more).observations.at(0);
  CHECK(run.acceptance->generated_tokens == 6000);
  CHECK(*run.times.tpot_ms == Approx(1000.0 * 100.0 / 6000.0).epsilon(few_ulp));
  CHECK(*run.times.ttft_ms == Approx(100.0).epsilon(few_ulp));
  CHECK(*run.stratum.output_tokens == Approx(601.0).epsilon(few_ulp));
  CHECK(*run.stratum.context_tokens == Approx(800.5).epsilon(few_ulp));
}

TEST_CASE("a scrape of vLLM before V1 gives steps by its efficiency") {
  const LogContents contents = read_log(sample("prometheus_v0.prom"));
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.gamma == 3);
  CHECK(run.acceptance->steps == 1000);
  CHECK(run.acceptance->accepted_tokens == 1050);
  CHECK(run.acceptance->steps_estimated);
  CHECK_FALSE(run.requests);
  CHECK(warns(contents, "W05"));
  std::string text = sample("prometheus_v0.prom");
  CHECK(read_log(text.replace(text.find("0.5125"), 6, "1.5")).observations.empty());
}

}  // namespace foredraft::tests
