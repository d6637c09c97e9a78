// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "logs/scrapes.hpp"
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

/// TGI's histogram of the drafts that each step accepts, and its times of requests; `at_most`: its cumulative buckets.
std::string tgi_scrape(const std::vector<int>& at_most, int accepted, double requests, const std::string& labels = "") {
  std::string text = "# TYPE tgi_request_skipped_tokens histogram\n";
  const auto add = [&](std::string_view end, const std::string& more, double value) {
    const std::string all = labels.empty() || more.empty() ? labels + more : labels + "," + more;
    text += fmt::format("tgi_request_skipped_tokens{}{} {}\n", end, all.empty() ? "" : "{" + all + "}", value);
  };
  for (std::size_t i = 0; i < at_most.size(); ++i) add("_bucket", fmt::format("le=\"{}\"", i), at_most[i]);
  add("_bucket", "le=\"+Inf\"", at_most.back());
  add("_sum", "", accepted);
  add("_count", "", at_most.back());
  return text + fmt::format(
                    "tgi_request_success {0}\ntgi_request_generated_tokens_sum {1}\n"
                    "tgi_request_generated_tokens_count {0}\ntgi_batch_current_size 2\n"
                    "tgi_request_mean_time_per_token_duration_sum {2}\n"
                    "tgi_request_mean_time_per_token_duration_count {0}\n",
                    requests, 100.0 * requests, 0.02 * requests);
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

TEST_CASE("TGI counts the drafts that each step accepts in buckets up to the draft length") {
  const std::vector<int> at_most{400, 700, 1000};
  for (const std::string labels : {"", "pod=\"a\",role=\"7\""}) {
    const LogContents contents = read_log(tgi_scrape(at_most, 900, 10, labels));
    CHECK(contents.engine == "tgi");
    REQUIRE(contents.observations.size() == 1);
    const Observation& run = contents.observations[0];
    CHECK(run.decoding == Decoding::speculative);
    CHECK(run.gamma == 2);
    CHECK(run.acceptance->steps == 1000);
    CHECK(run.acceptance->accepted_tokens == 900);
    CHECK(run.acceptance->drafted_tokens == 2000);
    CHECK(run.acceptance->accepted_at == Counts{600, 300});
    CHECK(*run.times.tpot_ms == near(20.0));
    CHECK(*run.times.iteration_ms == near(38.0));
    CHECK(run.requests == 2.0);
    CHECK(run.stratum.output_tokens == 100.0);
    CHECK(run.completed_requests == 10);
    for (const char* code : {"W02", "W12"}) CHECK(warns(contents, code));
  }
  const LogContents between = read_log(tgi_scrape(at_most, 900, 10) + tgi_scrape({1000, 1500, 2000}, 1500, 30));
  REQUIRE(between.observations.size() == 1);
  CHECK(between.observations[0].acceptance->accepted_at == Counts{400, 200});
  CHECK(between.observations[0].acceptance->accepted_tokens == 600);
  CHECK_FALSE(warns(between, "W02"));
  // Of a server without speculation.
  const Observation plain = read_log(tgi_scrape({5000}, 0, 10)).observations.at(0);
  CHECK(plain.decoding == Decoding::plain);
  CHECK_FALSE(plain.acceptance);
  CHECK(*plain.times.iteration_ms == near(20.0));
}

TEST_CASE("a part of TGI's buckets says less than all of them") {
  const std::string whole = tgi_scrape({400, 700, 1000}, 900, 10);
  const auto without = [&](const std::string& bucket) {
    const std::size_t at = whole.find("tgi_request_skipped_tokens_bucket{le=\"" + bucket);
    return read_log(whole.substr(0, at) + whole.substr(whole.find('\n', at) + 1)).observations.at(0);
  };
  for (const char* bucket : {"0", "1", "2"}) {
    CAPTURE(bucket);
    const Observation run = without(bucket);
    CHECK(run.decoding == Decoding::speculative);
    CHECK(run.acceptance->accepted_tokens == 900);
    CHECK_FALSE(run.gamma);
    CHECK(run.acceptance->accepted_at.empty());
  }
  CHECK(without("+Inf").gamma == 2);
  // The second of two scrapes, in a file of its own, is complete.
  const std::string first = whole.substr(whole.find('\n', whole.find("le=\"0\"")) + 1);
  std::vector<logs::ObservedLog> files(2);
  files[0].contents = read_log(first);
  files[1].contents = read_log(tgi_scrape({1000, 1500, 2000}, 1500, 30));
  logs::combine_scrapes(files);
  REQUIRE(files.size() == 1);
  const LogContents& between = files[0].contents;
  REQUIRE(between.observations.size() == 1);
  CHECK(between.observations[0].gamma == 2);
  CHECK(between.observations[0].acceptance->steps == 1000);
  CHECK(between.observations[0].acceptance->accepted_tokens == 600);
  CHECK(between.observations[0].acceptance->accepted_at.empty());
  // Without buckets, nothing that was accepted may be of a server that drafts, or of none.
  const std::string none = tgi_scrape({1000}, 0, 10);
  const std::string sums = none.substr(none.find("tgi_request_skipped_tokens_sum"));
  CHECK(read_log(sums).observations.at(0).decoding == Decoding::unknown);
  // Neither steps nor times.
  CHECK(read_log(whole.substr(0, whole.find("tgi_request_skipped_tokens_sum"))).observations.empty());
}

TEST_CASE("the command of a load generator between two scrapes states the load, if no gauge does") {
  const auto load = [](const std::string& command, const std::string& running) {
    const auto scrape = [&](int times) {
      return fmt::format(
          "vllm:num_requests_running {}\nvllm:inter_token_latency_seconds_sum {}\n"
          "vllm:inter_token_latency_seconds_count {}\n",
          running, 20 * times, 1000 * times);
    };
    const auto runs = posted_runs(scrape(1) + command + scrape(3), "prometheus");
    REQUIRE(runs.size() == 1);
    return runs[0].requests ? runs[0].requests : runs[0].concurrency;
  };
  CHECK(load("$ vllm bench serve --model m --num-prompts 90 --max-concurrency 12\n", "0.0") == 12.0);
  CHECK(load("# aiperf profile -m m --concurrency 5\n", "0.0") == 5.0);
  CHECK(load("$ vllm bench serve --model m --max-concurrency 12\n", "7.0") == 7.0);
  CHECK_FALSE(load("$ vllm bench serve --model m --num-prompts 90\n", "0.0"));
  CHECK(load("$ python ask.py   # 40 questions, one after another\n", "0.0") == 1.0);
  CHECK(load("$ python ask.py   # 40 questions, one after another\n", "7.0") == 7.0);
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

TEST_CASE("SGLang's latency since the start, of all loads, is not that of the requests that run now") {
  const std::string now = sglang_scrape("2.5", "0.5") + "sglang:gen_throughput{m=\"a\"} 400.0\n";
  const auto says = [](const LogContents& contents, std::string_view words) {
    return std::ranges::any_of(contents.warnings, [&](const logs::LogWarning& one) {
      return one.code == "W02" && one.message.find(words) != std::string::npos;
    });
  };
  const LogContents busy = read_log(now);
  REQUIRE(busy.observations.size() == 1);
  CHECK(busy.observations[0].requests == 5.0);
  CHECK(*busy.observations[0].times.tpot_ms == near(12.5));  // 5 requests at 400 tok/s
  CHECK(*busy.observations[0].times.iteration_ms == near(31.25));
  CHECK(says(busy, "of all loads, is not used"));
  // Of an idle server, it is all there is; between two scrapes, it is of the requests in between.
  const LogContents idle = read_log(replaced(now, "400.0", "0.0"));
  CHECK(*idle.observations.at(0).times.tpot_ms == near(5.0));
  CHECK(says(read_log(replaced(replaced(now, "400.0", "0.0"), "} 2.5", "} 0.0")), "times since the start"));
  const LogContents window = read_log(now + replaced(replaced(now, "} 30.0", "} 50.0"), "} 6000.0", "} 8000.0"));
  REQUIRE(window.observations.size() == 1);
  CHECK(*window.observations[0].times.tpot_ms == near(10.0));
  const std::string counters =
      "sglang:time_to_first_token_seconds_count{m=\"a\"} 10\nsglang:generation_tokens_total{m=\"a\"} 3010\n"
      "sglang:spec_verify_calls_total{m=\"a\"} 1200\n";
  CHECK(says(read_log(now + counters), "the throughput is that of the last batch, the counters"));
}

TEST_CASE("a comment above a scrape, also behind its command, says what drafts") {
  const auto scrape = [](int tokens, int milliseconds) {
    return fmt::format(
        "dynamo_frontend_inter_token_latency_seconds_sum{{m=\"a\"}} {}\n"
        "dynamo_frontend_inter_token_latency_seconds_count{{m=\"a\"}} {}\n",
        0.001 * milliseconds, tokens);
  };
  const auto run = [&](const std::string& before, const std::string& after) {
    const auto runs = posted_runs(
        before + scrape(100, 2000) + "\n$ aiperf profile --concurrency 4 -m a\n" + after + scrape(600, 7000),
        "prometheus");
    REQUIRE(runs.size() == 1);
    CHECK(*runs[0].times.tpot_ms == near(10.0));
    return runs[0];
  };
  for (const std::string words :
       {"mtp, 3 draft tokens", "before, worker with mtp, num_speculative_tokens 3", "MTP K=3"}) {
    INFO(words);
    for (const std::string& before : {"# " + words + "\n", "$ curl -s host/metrics | grep dynamo  # " + words + "\n"}) {
      CHECK(run(before, "").gamma == 3);
      CHECK(run(before, "$ curl -s host/metrics  # after\n").gamma == 3);
      CHECK(run(before, "# after\n").decoding == Decoding::speculative);
    }
  }
  CHECK(run("$ curl -s host/metrics  # before, no speculation\n", "").decoding == Decoding::plain);
  CHECK(run("$ curl -s host/metrics  # before\n", "$ curl -s host/metrics  # after\n").decoding == Decoding::unknown);
}

namespace {

/// TensorRT-LLM's counters of drafts, and the acceptance length of its last iteration.
const std::string trtllm_counters =
    "trtllm_time_per_output_token_seconds_sum{m=\"a\"} 4.0\ntrtllm_time_per_output_token_seconds_count{m=\"a\"} 200.0\n"
    "trtllm_spec_decode_num_draft_tokens_total{m=\"a\"} 60000.0\n"
    "trtllm_spec_decode_num_accepted_tokens_total{m=\"a\"} 33000.0\n"
    "trtllm_spec_decode_acceptance_length{m=\"a\"} 4.5\n";

std::string trtllm_positions(std::string_view counter, const Counts& counts, std::string_view label) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i)
    text += fmt::format("trtllm_spec_decode_{}_tokens_total{{m=\"a\",{}=\"{}\"}} {}.0\n", counter, label, i, counts[i]);
  return text;
}

}  // namespace

TEST_CASE("TensorRT-LLM's counters by position tell steps and draft length, not the length of its last iteration") {
  for (const std::string_view label : {"token_position", "position"}) {
    const auto runs = posted_runs(trtllm_counters + trtllm_positions("drafted", {15000, 15000, 15000, 15000}, label) +
                                      trtllm_positions("accepted", {12000, 9000, 7000, 5000}, label),
                                  "prometheus");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].gamma == 4);
    CHECK(runs[0].acceptance->steps == 15000);
    CHECK_FALSE(runs[0].acceptance->steps_estimated);
    CHECK(runs[0].acceptance->drafted_tokens == 60000);
    CHECK(runs[0].acceptance->accepted_tokens == 33000);
    CHECK(runs[0].acceptance->accepted_at == Counts{12000, 9000, 7000, 5000});
    CHECK_FALSE(runs[0].acceptance_length);
    CHECK_FALSE(runs[0].adaptive);
    CHECK(*runs[0].times.iteration_ms == near(64.0));
  }
  const auto varied =
      posted_runs(trtllm_counters + trtllm_positions("drafted", {20000, 20000, 15000, 5000}, "position") +
                      trtllm_positions("accepted", {15000, 10000, 6000, 2000}, "position"),
                  "prometheus");
  CHECK(varied.at(0).adaptive == true);
  CHECK(varied.at(0).acceptance->steps == 20000);
}

TEST_CASE("TensorRT-LLM's counters without positions need a draft length, the last iteration tells none") {
  const LogContents unknown = read_log(trtllm_counters);
  CHECK_FALSE(unknown.observations.at(0).gamma);
  CHECK(unknown.observations[0].acceptance->steps == 0);
  CHECK(unknown.observations[0].acceptance_length == 4.5);
  CHECK_FALSE(unknown.observations[0].times.iteration_ms);
  CHECK(warns(unknown, "W23"));
  const LogContents stated = read_log(
      "$ cat drafts.yaml\nspeculative_config:\n  decoding_type: MTP\n  max_draft_len: 5\n"
      "$ trtllm-serve some/model --extra_llm_api_options drafts.yaml\n" +
      trtllm_counters);
  CHECK(stated.observations.at(0).gamma == 5);
  CHECK(stated.observations[0].acceptance->steps == 12000);
  CHECK_FALSE(stated.observations[0].acceptance->steps_estimated);
  CHECK_FALSE(stated.observations[0].acceptance_length);
  CHECK(*stated.observations[0].times.iteration_ms == near(75.0));
  CHECK_FALSE(warns(stated, "W23"));
}

namespace {

std::string llama_scrape(int tokens, double seconds, int calls, double slots) {
  return fmt::format(
      "llamacpp:tokens_predicted_total {}\nllamacpp:tokens_predicted_seconds_total {}\n"
      "llamacpp:n_decode_total {}\nllamacpp:n_busy_slots_per_decode {}\nllamacpp:requests_processing 0\n",
      tokens, seconds, calls, slots);
}

}  // namespace

TEST_CASE("a llama-server without counters of drafts drafts if its slots get several tokens a call, else who knows") {
  const auto read = [](const std::string& text) { return posted_runs(text, "prometheus").at(0); };
  const Observation drafts = read(llama_scrape(4000, 80.0, 1800, 1.0));
  CHECK(drafts.decoding == Decoding::speculative);
  CHECK(drafts.requests == 1.0);
  CHECK(*drafts.times.tpot_ms == near(20.0));
  CHECK_FALSE(drafts.times.iteration_ms);
  CHECK(read(llama_scrape(4000, 160.0, 4020, 1.0)).decoding == Decoding::unknown);
  const Observation busy = read(llama_scrape(4000, 160.0, 1800, 2.5));
  CHECK(busy.decoding == Decoding::unknown);
  CHECK(busy.requests == 2.5);
  const std::string counts = "llamacpp:draft_tokens_total 0\nllamacpp:draft_tokens_accepted_total 0\n";
  CHECK(read(llama_scrape(4000, 160.0, 4020, 1.0) + counts).decoding == Decoding::plain);
  // The mean of slots is since the start: not that between two scrapes.
  const auto window =
      posted_runs(llama_scrape(4000, 80.0, 1800, 1.0) + llama_scrape(8000, 150.0, 3600, 1.5), "prometheus");
  REQUIRE(window.size() == 1);
  CHECK_FALSE(window[0].requests);
  CHECK(window[0].decoding == Decoding::speculative);
}

TEST_CASE("two servers that did the same work are not one at two moments") {
  const auto read = [](const std::string& text) { return posted_runs(text, "prometheus"); };
  const auto llama = read(llama_scrape(4000, 80.0, 1800, 1.0) + llama_scrape(4000, 160.0, 4020, 1.0));
  REQUIRE(llama.size() == 2);
  CHECK(*llama[0].times.tpot_ms == near(20.0));
  CHECK(*llama[1].times.tpot_ms == near(40.0));
  const auto sglang = [](double seconds) {
    return fmt::format(
        "sglang:inter_token_latency_seconds_sum{{m=\"a\"}} {}\nsglang:inter_token_latency_seconds_count{{m=\"a\"}} "
        "900.0\n",
        seconds);
  };
  CHECK(read(sglang(9.0) + sglang(18.0)).size() == 2);
}

TEST_CASE("an answer to a range query tells the throughput of a server whose latencies it leaves out") {
  const std::string range =
      R"({"status":"success","data":{"resultType":"matrix","result":[)"
      R"({"metric":{"__name__":"vllm:generation_tokens_total"},"values":[[1790000000,"500"],[1790000040,"8500"]]},)"
      R"({"metric":{"__name__":"vllm:num_requests_running"},"values":[[1790000000,"4"],[1790000040,"4"]]}]}})";
  const auto runs = posted_runs(range, "prometheus-range");
  REQUIRE(runs.size() == 1);
  CHECK(*runs[0].times.output_tokens_per_s == near(200.0));
  CHECK(*runs[0].times.duration_s == near(40.0));
  CHECK(runs[0].requests == 4.0);
  // A server that was idle at one end had pauses; with latencies, these are its times.
  CHECK(posted_runs(replaced(range, R"("4"],[1790000040,"4")", R"("4"],[1790000040,"0")"), "prometheus-range").empty());
  const std::string latencies =
      R"("result":[{"metric":{"__name__":"vllm:inter_token_latency_seconds_sum"},"values":[[1790000000,"9"],[1790000040,"169"]]},)"
      R"({"metric":{"__name__":"vllm:inter_token_latency_seconds_count"},"values":[[1790000000,"500"],[1790000040,"8500"]]},)";
  const auto timed = posted_runs(replaced(range, "\"result\":[", latencies), "prometheus-range");
  CHECK(*timed.at(0).times.tpot_ms == near(20.0));
  CHECK_FALSE(timed[0].times.output_tokens_per_s);
}

TEST_CASE("the concurrency of AIPerf's command is the load of its tables") {
  const std::string table =
      "| Statistic | avg | min |\n| Inter Token Latency (ms) | 10.0 | 9.0 |\n"
      "| Output Token Throughput (tokens/sec) | 730.0 | N/A |\n";
  const auto limit = [](const std::string& text) { return posted_runs(text, "genai-perf").at(0).concurrency; };
  const std::string command = "$ aiperf profile -m a --streaming \\\n  --concurrency 8 \\\n  --request-count 40\n\n";
  CHECK(limit(command + table) == 8.0);
  CHECK(limit(table + "\nCLI Command: aiperf profile -m 'a' --concurrency 8 --request-count 40\n") == 8.0);
  CHECK(posted_runs(command + table, "genai-perf").at(0).requests == 8.0);
  CHECK(*posted_runs(table, "genai-perf").at(0).requests == near(7.3));
  CHECK_FALSE(limit(table));
  CHECK_FALSE(limit("$ aiperf profile -m a --concurrency 8,16 --request-count 40\n\n" + table));
  const auto two = posted_runs(command + table + "\n" + replaced(command, "8", "16") + table, "genai-perf");
  REQUIRE(two.size() == 2);
  CHECK(two[0].concurrency == 8.0);
  CHECK(two[1].concurrency == 16.0);
}

TEST_CASE("a load that a command states goes before one computed from throughput and latency") {
  const std::string table =
      "| Statistic | avg | min |\n| Inter Token Latency (ms) | 10.0 | 9.0 |\n"
      "| Output Token Throughput (tokens/sec) | 1100.0 | N/A |\n";
  for (const char* command :
       {"INFO wrapper: starting 'perf_analyzer -m a --concurrency-range 12 --streaming'",
        "perf_analyzer -m a "
        "--concurrency-range=12:12",
        "perf_analyzer --async --concurrency-range 12:12:4",
        "genai-perf profile --concurrency "
        "'12'",
        "aiperf profile -m a --concurrency=12", "python load_test.py --num-concurrent-requests 12",
        "python run.py --max-concurrency 12", "python3 bench.py -c 12 -n 80"}) {
    INFO(command);
    const auto run = posted_runs(command + ("\n\n" + table), "genai-perf").at(0);
    CHECK(run.concurrency == 12.0);
    CHECK(run.requests == 12.0);
  }
  for (const char* command : {"perf_analyzer -m a --concurrency-range 4:12:4",
                              "perf_analyzer -m a --concurrency-range "
                              "0:0",
                              "python serve.py -c 12", "python bench.py -c 4096"}) {
    INFO(command);
    CHECK(*posted_runs(command + ("\n\n" + table), "genai-perf").at(0).requests == near(11.0));
  }
  // A limit that is far is not the load.
  CHECK(*posted_runs("perf_analyzer -m a --concurrency-range 40\n" + table, "genai-perf").at(0).requests == near(11.0));
}

TEST_CASE("a llama-server that names its slot on a line above the times of each request") {
  const auto request = [](int slot, int task) {
    return fmt::format(
        "slot print_timing: id {:2} | task {} | \nprompt eval time =     100.00 ms /    50 tokens\n"
        "       eval time =    4000.00 ms /   201 tokens\n",
        slot, task);
  };
  CHECK(posted_runs(request(0, 1) + request(0, 60), "llama-server").at(0).requests == 1.0);
  CHECK_FALSE(posted_runs(request(0, 1) + request(1, 60), "llama-server").at(0).requests);
}

TEST_CASE("TensorRT-LLM's last length gives the draft length if it agrees with the rate of all iterations") {
  const auto scrape = [](const std::string& length) {
    return "trtllm_spec_decode_num_draft_tokens_total 4000\n"
           "trtllm_spec_decode_num_accepted_tokens_total 3000\n"
           "trtllm_spec_decode_acceptance_length " +
           length + "\n";
  };
  const auto run = [&](const std::string& length) { return posted_runs(scrape(length), "prometheus").at(0); };
  CHECK(warns(read_log(scrape("2.5")), "W22"));
  CHECK_FALSE(warns(read_log(scrape("2.8")), "W22"));
  CHECK(run("2.5").gamma == 2);
  REQUIRE(run("2.5").acceptance);
  CHECK(run("2.5").acceptance->steps == 2000);
  CHECK_FALSE(run("2.8").gamma);
}

}  // namespace foredraft::tests
