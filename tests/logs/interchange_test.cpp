// SPDX-License-Identifier: Apache-2.0
#include "logs/interchange.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::tests {
namespace {

using Json = nlohmann::ordered_json;

logs::ObservedLog log_of(const std::string& name) {
  return {.file = name, .sha256 = std::string(64, 'a'), .contents = read_log(sample(name))};
}

std::string written_as(std::string_view name, const std::vector<logs::ObservedLog>& logs) {
  for (const logs::Interchange& one : logs::interchanges()) {
    if (one.name == name) return one.text(logs);
  }
  return "no such interchange";
}

std::string rejected_as(std::string_view name, const std::vector<logs::ObservedLog>& logs) {
  try {
    written_as(name, logs);
  } catch (const InputError& error) {
    return brief(error.what());
  }
  return {};
}

}  // namespace

TEST_CASE("every interchange is read again by the format of its name") {
  for (const logs::Interchange& one : logs::interchanges()) {
    const std::string name = one.name == "aiperf-records" ? "vllm_requests.jsonl" : "acceptance_rate.json";
    INFO(one.name);
    CHECK(read_log(one.text(std::vector{log_of(name)})).format == one.name);
  }
}

TEST_CASE("a speculation profile holds the histogram, the rates and the length of all counts") {
  const Json profile = Json::parse(written_as("speculation-profile", {log_of("speculation_profile.json")}));
  const Json original = Json::parse(sample("speculation_profile.json"));
  for (const char* key :
       {"schema_version", "method", "draft_checkpoint", "target_model", "num_speculative_tokens",
        "conditional_accept_rates", "marginal_accept_rates", "mean_accept_length", "acceptance_length_histogram"}) {
    INFO(key);
    CHECK(profile.at(key) == original.at(key));
  }
  const auto log = log_of("speculation_profile.json");
  const Json twice = Json::parse(written_as("speculation-profile", {log, log}));
  CHECK(twice.at("acceptance_length_histogram").at("1") == 600);
  CHECK(twice.at("marginal_accept_rates") == original.at("marginal_accept_rates"));
}

TEST_CASE("aiperf records hold the requests with their acceptance and times, nothing else") {
  const logs::LogContents original = read_log(sample("aiperf_records.jsonl"));
  const logs::LogContents again = read_log(written_as("aiperf-records", {log_of("aiperf_records.jsonl")}));
  REQUIRE(again.observations.size() == original.observations.size());
  CHECK(again.engine == original.engine);
  for (std::size_t i = 0; i < again.observations.size(); ++i) {
    CHECK(again.observations[i].gamma == original.observations[i].gamma);
    CHECK(again.observations[i].acceptance->accepted_at == original.observations[i].acceptance->accepted_at);
    CHECK(again.observations[i].acceptance->drafted_tokens == original.observations[i].acceptance->drafted_tokens);
    CHECK(again.observations[i].times.ttft_ms == original.observations[i].times.ttft_ms);
    CHECK(again.observations[i].times.tpot_ms == original.observations[i].times.tpot_ms);
    CHECK(again.observations[i].stratum == original.observations[i].stratum);
  }
}

TEST_CASE("a value without a place in the interchange is rejected by name") {
  using Catch::Contains;
  CHECK_THAT(rejected_as("aiperf-records", {log_of("speculation_profile.json")}),
             Contains("speculation_profile.json: no requests"));
  CHECK_THAT(rejected_as("speculation-profile", {log_of("vllm_plain.log")}), Contains("no verification steps"));
  CHECK_THAT(rejected_as("speculation-profile", {log_of("sglang_bench.jsonl")}), Contains("sglang_bench.jsonl: "));
  logs::ObservedLog other = log_of("speculation_profile.json");
  other.contents.observations.front().gamma = 5;
  CHECK_THAT(rejected_as("speculation-profile", {log_of("speculation_profile.json"), other}),
             Contains("draft lengths 3 and 5"));
  other.contents.observations.front().gamma = std::nullopt;
  CHECK_THAT(rejected_as("speculation-profile", {other}), Contains("the draft length is not known"));
  logs::ObservedLog rounded = log_of("speculation_profile.json");
  rounded.contents.observations.front().acceptance->accepted_at_rounding = 0.5;
  CHECK_THAT(rejected_as("speculation-profile", {rounded}), Contains("no histogram"));
  logs::ObservedLog deep = log_of("speculation_profile.json");
  deep.contents.observations.front().gamma = 4'000'000'000;
  CHECK_THAT(rejected_as("speculation-profile", {deep}), Contains("draft length 4000000000"));
  logs::ObservedLog many = log_of("speculation_profile.json");
  constexpr std::int64_t count = std::int64_t{1} << 53;
  *many.contents.observations.front().acceptance = {.steps = count, .accepted_at = {count, count, count}};
  CHECK_THAT(rejected_as("speculation-profile", {many}), Contains("3.6e+16 tokens"));
}

TEST_CASE("a log in the middle of a step has no negative count of steps") {
  logs::ObservedLog log = log_of("speculation_profile.json");
  *log.contents.observations.front().acceptance = {.steps = 300, .accepted_at = {301, 100, 101}};
  const Json profile = Json::parse(written_as("speculation-profile", {log}));
  CHECK(profile.at("acceptance_length_histogram") == Json{{"2", 200}, {"4", 100}});
}

}  // namespace foredraft::tests
