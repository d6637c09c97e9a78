// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/logs/logs_testing.hpp"

namespace foredraft::tests {
namespace {

std::string with(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = sample(name);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("records whose counts contradict each other are rejected with file, line and key") {
  CHECK(problem(with("vllm_bench.jsonl", "accepted_tokens\": 4600", "accepted_tokens\": 14600"))
            .starts_with("some.log:2: accepted: 14600"));
  CHECK(problem(with("vllm_bench.jsonl", "[0.65, 0.35", "[0.35, 0.65")).starts_with("some.log:2: position"));
  CHECK(problem(with("vllm_bench.jsonl", "draft_tokens\": 12000", "draft_tokens\": 12001")).find("drafted") !=
        std::string::npos);
  CHECK(problem(with("vllm_requests.jsonl", "[3, 0, 1", "[4, 0, 1")).find("step 1: 4") != std::string::npos);
  CHECK(problem(with("vllm_requests.jsonl", "num_spec_steps\": 8", "num_spec_steps\": 9")).find("num_spec_steps: 9") !=
        std::string::npos);
  CHECK(problem(with("llama_server_answers.jsonl", "accepted\": 60", "accepted\": 101")).find("draft_n_accepted") !=
        std::string::npos);
  CHECK(problem(with("spec_bench.jsonl", "[3, 1, 4", "[3, 0, 4")).find("accept_lengths: 0") != std::string::npos);
  CHECK(problem(with("eagle_answers.jsonl", "[300, 200]", "[30, 20]")).find("idxs: 198 steps") != std::string::npos);
  CHECK(problem(with("own.csv", "60,30", "30,60")).starts_with("some.log:2: position"));
  CHECK(problem(with("speculation_profile.json", "num_speculative_tokens\": 3", "num_speculative_tokens\": 2"))
            .find("3 accepted drafts") != std::string::npos);
  CHECK(problem(with("benchmark_records.jsonl", "tau\": 4.0", "tau\": 7.0")).starts_with("some.log:2: "));
  CHECK(problem(with("benchmark_records.jsonl", "12000.0", "9e15")).find("accepted_length_tau") != std::string::npos);
  CHECK(problem(with("specforge_dashboard.json", "2.4", "0.4")).find("accept_length: 0.4") != std::string::npos);
}

TEST_CASE("invalid, negative, too large and mistyped numbers are rejected by their key") {
  for (const char* value : {"-1", "1.5", "1e300", "\"many\"", "true", "[1]", "9007199254740993000"}) {
    INFO(value);
    const std::string what =
        problem(with("vllm_bench.jsonl", "num_drafts\": 4000", fmt::format("num_drafts\": {}", value)));
    CHECK(what.starts_with("some.log:2: spec_decode_num_drafts"));
  }
  CHECK(problem(with("aiperf_records.jsonl", "\"0\": 3", "\"-1\": 3")).empty());  // of the warm-up
  CHECK(problem(with("aiperf_run.json", "\"0\": 6", "\"-1\": 6")).find("not a number of tokens") != std::string::npos);
  CHECK(problem(with("aiperf_run.json", "\"0\": 6", "\"999999999\": 6")).find("not a number of tokens") !=
        std::string::npos);
  CHECK(problem(with("acceptance_traces.jsonl", "[3, 1", "[5000, 1")).find("acc_len") != std::string::npos);
  CHECK(problem(with("own.csv", "100,60", "100,x")).find("accepted_at_1: x") != std::string::npos);
  CHECK(problem(with("own.csv", "category", "categorie")) == "some.log:1: categorie: unknown column");
  CHECK(problem("gamma,steps,speed,acepted\nx,9,1,1\n") ==
        "some.log:1: speed: unknown column\n"
        "some.log:1: acepted: unknown column");
  CHECK(problem(with("timing.json", R"("mean": "0.025")", R"("mean": "soon")"))
            .find("Request Generation Step Time.mean") != std::string::npos);
}

TEST_CASE("a value of an answer is named by its place in it") {
  const std::string steps =
      R"({"num_spec_steps": 2, "acceptance_histogram": {"1": 2}, "total_accepted_draft_tokens": 5})";
  CHECK(problem(R"({"metrics": {"speculative_decoding": )" + steps + "}}")
            .starts_with("some.log:1: metrics.speculative_decoding.total_accepted_draft_tokens: 5"));
  CHECK(problem(R"({"choices": [{"speculative_decoding_stats": )" + steps + "}]}")
            .starts_with("some.log:1: choices[0].speculative_decoding_stats.total_accepted_draft_tokens: 5"));
  CHECK(problem(steps).starts_with("some.log:1: total_accepted_draft_tokens: 5"));
  CHECK(problem(R"({"sglext": {"spec_tokens_details": {"spec_verify_ct": "x"}}})")
            .starts_with("some.log:1: sglext.spec_tokens_details.spec_verify_ct: "));
}

TEST_CASE("a record that is truncated, nested too deep or of no format is not an observation") {
  const std::string text = sample("vllm_bench.jsonl");
  CHECK(read_log(text.substr(0, text.size() - 20)).observations.size() == 1);
  CHECK(problem(text.substr(0, 200)).find("no line of a known format") != std::string::npos);
  CHECK_FALSE(problem(std::string(100'000, '[')).empty());
  CHECK_FALSE(problem("{\"output_throughput\": 1}").empty());
  CHECK_FALSE(problem("{}\n[]\nnull\n\"x\"\n").empty());
}

TEST_CASE("an object may have a key for each request of a benchmark, up to a limit") {
  const auto requests = [](int count) {
    std::string keys = "\"r\": 1";
    for (int i = 0; i < count; ++i) keys += fmt::format(", \"r{}\": 1", i);
    return with("acceptance_rate.json", "\"Request_AL\": {", fmt::format("\"Request_AL\": {{{}, ", keys));
  };
  CHECK(read_log(requests(900)).observations.size() == 1);
  CHECK_FALSE(problem(requests(2000)).empty());
}

TEST_CASE("a table whose rows are shorter than its header is left out with a warning") {
  const logs::LogContents contents = read_log("gamma,steps,requests,category\n2,100,8\n" + sample("vllm_bench.jsonl"));
  CHECK(contents.observations.size() == 2);
  CHECK(warns(contents, "W18"));
}

}  // namespace foredraft::tests
