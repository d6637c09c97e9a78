// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/logs/logs_testing.hpp"

/// Scrapes of servers with and without speculation, as people save them.
namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

/// SGLang's gauges with the comments that Prometheus' format puts above each.
std::string sglang_scrape(std::string_view length, std::string_view rate) {
  return fmt::format(
      "# HELP sglang:num_running_reqs Running requests\n# TYPE sglang:num_running_reqs gauge\n"
      "sglang:num_running_reqs{{m=\"a\"}} 5.0\n"
      "# HELP sglang:spec_accept_length Mean accepted length of speculative decoding\n"
      "# TYPE sglang:spec_accept_length gauge\nsglang:spec_accept_length{{m=\"a\"}} {}\n"
      "# HELP sglang:spec_accept_rate Mean rate of speculative decoding\n# TYPE sglang:spec_accept_rate gauge\n"
      "sglang:spec_accept_rate{{m=\"a\"}} {}\n"
      "# HELP sglang:inter_token_latency_seconds Latency\n# TYPE sglang:inter_token_latency_seconds histogram\n"
      "sglang:inter_token_latency_seconds_sum{{m=\"a\"}} 30.0\n"
      "sglang:inter_token_latency_seconds_count{{m=\"a\"}} 6000.0\n",
      length, rate);
}

}  // namespace

TEST_CASE("an SGLang server whose acceptance length is 0 does not speculate, whatever the comments of metrics say") {
  const LogContents plain = read_log(sglang_scrape("0.0", "0.0"));
  REQUIRE(plain.observations.size() == 1);
  CHECK(plain.observations[0].decoding == Decoding::plain);
  CHECK_FALSE(plain.observations[0].acceptance_length);
  CHECK(*plain.observations[0].times.iteration_ms == near(5.0));
  const std::string vllm =
      "# HELP vllm:num_requests_running Speculative requests too\nvllm:num_requests_running 3.0\n"
      "vllm:inter_token_latency_seconds_sum 20.0\nvllm:inter_token_latency_seconds_count 1000.0\n";
  CHECK(read_log(vllm).observations.at(0).decoding == Decoding::plain);
}

TEST_CASE("SGLang's acceptance length and rate of the last batch give the draft length, if only one fits") {
  const auto gamma = [](const char* length, const char* rate) {
    return read_log(sglang_scrape(length, rate)).observations.at(0).gamma;
  };
  CHECK(gamma("3.1", "0.525") == 4);  // 2.1 of 4 drafts
  CHECK(gamma("2.3", "0.575") == 3);  // of versions that divide by all 4 verified tokens
  CHECK_FALSE(gamma("1.5", "0.5"));   // 0.5 of 1 draft or 1.5 of 3 tokens
  CHECK_FALSE(gamma("2.9", "0.55"));  // neither
  const std::string stated = sglang_scrape("3.1", "0.525") + "sglang:spec_num_steps{m=\"a\"} 5.0\n";
  CHECK_FALSE(read_log(stated).observations.at(0).gamma);  // how many tokens it verifies was left out
  CHECK(read_log(stated + "sglang:spec_num_draft_tokens{m=\"a\"} 6.0\n").observations.at(0).gamma == 5);
}

}  // namespace foredraft::tests
