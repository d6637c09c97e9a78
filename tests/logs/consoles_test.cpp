// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

std::string before(const std::string& text, const std::string& what) { return text.substr(0, text.find(what)); }
std::string from(const std::string& text, const std::string& what) { return text.substr(text.find(what)); }

}  // namespace

TEST_CASE("vllm bench serve gives a plain and a speculative run with counts") {
  const LogContents contents = read_log(sample("vllm_bench_serve.txt"));
  CHECK(contents.engine == "vllm");
  REQUIRE(contents.observations.size() == 2);
  const Observation& plain = contents.observations[0];
  CHECK(plain.decoding == Decoding::plain);
  CHECK(plain.requests == 8.0);
  CHECK(plain.times.iteration_ms == 51.0);
  CHECK_FALSE(plain.times.request_rate_per_s);
  const Observation& run = contents.observations[1];
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.gamma == 4);
  CHECK(run.acceptance->steps == 10000);
  CHECK(run.acceptance->drafted_tokens == 40000);
  CHECK(run.acceptance->accepted_tokens == 20000);
  CHECK(run.acceptance->accepted_at == Counts{8000, 5500, 4000, 2500});
  CHECK(run.times.iteration_ms == 59.0);
  CHECK(run.times.tpot_ms == 20.0);
  CHECK(run.times.ttft_ms == 210.5);
  CHECK(run.times.request_rate_per_s == 0.5);
  CHECK(*run.requests == Approx(3.0).epsilon(few_ulp));
  CHECK(run.stratum.output_tokens == 300.0);
  CHECK(run.stratum.context_tokens == 350.0);
}

TEST_CASE("the line above a run of a console names what drafted") {
  const auto run = [](const char* caption, double speed, double length) {
    return fmt::format("{}\n```\n#questions: 80, Throughput: {} token/s, Acceptance length: {}\n```\n\n", caption,
                       speed, length);
  };
  const auto [three, two, compared] = [&] {
    const auto runs = read_log(run("EAGLE-3 (steps = 8):", 300.0, 4.5) + run("**EAGLE-2, K = 5**", 200.0, 3.5) +
                               run("EAGLE-3 vs MTP:", 100.0, 2.5))
                          .observations;
    return std::array{runs.at(0), runs.at(1), runs.at(2)};
  }();
  CHECK(three.drafter == "eagle-3");
  CHECK(three.gamma == 8);
  CHECK(two.drafter == "eagle-2");
  CHECK(two.gamma == 5);
  CHECK(compared.drafter == "eagle-2");  // names no single one: the last that did
}

TEST_CASE("the size of a model in a heading makes no option of its quantization") {
  const auto runs = posted_runs(
      "### no spec (A3-32B-FP8)\n\n| metric | value |\n|---|---|\n| mean TPOT (ms) | 20.5 |\n| speed (tok/s) | 40.5 "
      "|\n",
      "table");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decoding == Decoding::plain);
}

TEST_CASE("a run without acceptance is plain or drafts as the line above it says") {
  const std::string plain = from(before(sample("vllm_bench_serve.txt"), "##### speculative"), "====");
  const auto runs = read_log("## N-gram, K = 4\n" + plain + "\n## No speculation\n" + plain).observations;
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::speculative);
  CHECK(runs[0].gamma == 4);
  CHECK(runs[1].decoding == Decoding::plain);
}

TEST_CASE("windows are plain below a line that says so, whatever the log has besides") {
  const auto engine = [](const char* throughput) {
    return fmt::format(
        "INFO 04-09 11:27:10 [loggers.py:259] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation "
        "throughput: {} "
        "tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%\n",
        throughput);
  };
  const std::string drafts =
      "INFO 04-09 11:27:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.00, Accepted throughput: "
      "50.00 "
      "tokens/s, Drafted throughput: 50.00 tokens/s, Accepted: 500 tokens, Drafted: 500 tokens, Per-position "
      "acceptance "
      "rate: 1.000, Avg Draft acceptance rate: 100.0%\n";
  const auto runs = read_log("without mtp\n" + engine("60.0") + "with mtp\n" + engine("100.0") + drafts).observations;
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].decoding == Decoding::plain);
  CHECK(runs[1].decoding == Decoding::speculative);
  CHECK(runs[1].drafter == "mtp");
  CHECK(read_log("drafts:\n" + engine("60.0") + "with mtp\n" + engine("100.0") + drafts).observations.at(0).decoding ==
        Decoding::unknown);
}

TEST_CASE("a fixed request rate and the meaning of ITL each give a warning") {
  const LogContents contents = read_log(sample("vllm_bench_serve.txt"));
  CHECK(warns(contents, "W01"));
  CHECK(warns(contents, "W07"));
  const LogContents plain = read_log(before(sample("vllm_bench_serve.txt"), "##### speculative"));
  CHECK(plain.warnings.empty());
}

TEST_CASE("requests sent at once without a limit are the load, those in flight a result") {
  const Observation run = read_log(sample("vllm_bench_unlimited.txt")).observations.at(0);
  CHECK(run.offered_requests == 500.0);
  CHECK_FALSE(run.concurrency);
  CHECK_FALSE(run.times.request_rate_per_s);
  CHECK(*run.requests == Approx(472.2).epsilon(0.001));
  CHECK(run.completed_requests == 500);
  CHECK(run.failed_requests == 0);
  const Observation limited = read_log(sample("vllm_bench_serve.txt")).observations.at(0);
  CHECK(limited.concurrency == 8.0);
  CHECK_FALSE(limited.offered_requests);
}

TEST_CASE("a rate above the capacity shows in the served requests") {
  const Observation run = read_log(sample("vllm_bench_overloaded.txt")).observations.at(0);
  CHECK(run.times.request_rate_per_s == 10.0);
  CHECK(run.times.served_requests_per_s == 0.5);
  CHECK(*run.requests == Approx(10.0).epsilon(few_ulp));
  CHECK_FALSE(run.offered_requests);
}

TEST_CASE("failed requests of a console are counted with a warning, medians replace missing means") {
  std::string log = sample("vllm_bench_unlimited.txt");
  log.replace(log.find("0         \n"), 1, "9");
  CHECK(read_log(log).observations.at(0).failed_requests == 9);
  CHECK(warns(read_log(log), "W19"));
  CHECK_FALSE(warns(read_log(log), "W20"));
  for (const char* mean : {"Mean TPOT", "Mean ITL"}) log.replace(log.find(mean), 4, "Some");
  CHECK(read_log(log).observations.at(0).times.tpot_ms == 168.3);
  CHECK(read_log(log).observations.at(0).times.iteration_ms == 384.12);
  CHECK(warns(read_log(log), "W20"));
}

TEST_CASE("pasted parts of a console give what they hold") {
  const std::string log = sample("vllm_bench_serve.txt");
  const LogContents counts = read_log(before(from(log, "Drafts:"), "Per-position"));
  REQUIRE(counts.observations.size() == 1);
  CHECK(counts.observations[0].gamma == 4);
  CHECK(counts.observations[0].acceptance->accepted_tokens == 20000);
  const LogContents length = read_log("Acceptance length:    3.00\n");
  REQUIRE(length.observations.size() == 1);
  CHECK(length.observations[0].acceptance_length == 3.0);
  CHECK_FALSE(length.observations[0].acceptance);
}

TEST_CASE("a run without acceptance whose chunks hold several tokens is not taken as plain") {
  const std::string log = sample("vllm_bench_serve.txt");
  const LogContents contents = read_log(before(from(from(log, "##### spec"), "===="), "-----Speculative"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].decoding == Decoding::unknown);
  CHECK_FALSE(contents.observations[0].times.iteration_ms);
  CHECK(warns(contents, "W09"));
}

TEST_CASE("a console that was cut before its chunks is not plain where it generates more tokens than chunks") {
  const std::string cut =
      "Successful requests:                     40\n"
      "Benchmark duration (s):                  100.00\n"
      "Output token throughput (tok/s):         400.00\n"
      "Peak output token throughput (tok/s):    200.00\n"
      "Mean TPOT (ms):                          20.00\n";
  const LogContents several = read_log(cut);
  REQUIRE(several.observations.size() == 1);
  CHECK(several.observations[0].decoding == Decoding::unknown);
  CHECK(warns(several, "W09"));
  std::string one = cut;
  one.replace(one.find("200.00"), 6, "420.00");
  CHECK(read_log(one).observations.at(0).decoding == Decoding::plain);
  // Chunks that are there count.
  CHECK(read_log(cut + "Mean ITL (ms):                           20.10\n").observations.at(0).decoding ==
        Decoding::plain);
}

TEST_CASE("the prompts that a benchmark of DFlash or SpecForge sent") {
  const std::string rule(50, '=');
  const std::string run = rule +
                          "\nBackend:          sglang\nDataset:          gsm8k\nNum prompts:      100\n"
                          "Concurrency:      8\nLatency:          50.0s\nOutput tokens:    60000\n"
                          "Throughput:       1,200.00 tok/s\nAccept length:    3.250\nSpec verify ct:   18500\n" +
                          rule + "\n";
  const LogContents contents = read_log(run);
  CHECK(contents.engine == "sglang");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].decoding == Decoding::speculative);
  CHECK(*contents.observations[0].acceptance_length == near(59900.0 / 18500.0));
  CHECK(contents.observations[0].times.output_tokens_per_s == 1200.0);
  CHECK(contents.observations[0].requests == 8.0);
  const auto two =
      posted_runs(run +
                      "Benchmark:        gsm8k\nNum prompts:      100\nConcurrency:      8 per server x 2 server(s)\n"
                      "Throughput:       900.00 tok/s\n",
                  "bench-serving");
  REQUIRE(two.size() == 2);
  CHECK(two[1].decoding == Decoding::unknown);
  CHECK_FALSE(two[1].concurrency);
  CHECK(problem("Num prompts: 100\nConcurrency: 8\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("bench_serving of SGLang prints times per token and a length since the start") {
  const LogContents contents = read_log(sample("sglang_bench_serving.txt"));
  CHECK(contents.engine == "sglang");
  REQUIRE(contents.observations.size() == 2);
  const Observation& run = contents.observations[0];
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.acceptance_length == 2.5);
  CHECK(run.requests == 16.0);
  CHECK(*run.times.iteration_ms == Approx(60.0).epsilon(few_ulp));
  CHECK(contents.observations[1].decoding == Decoding::plain);
  CHECK(contents.observations[1].times.iteration_ms == 24.0);
  CHECK(warns(contents, "W02"));
  CHECK(warns(contents, "W07"));
}

TEST_CASE("a console of vLLM that is cut after its acceptance rate has the length of its chunks") {
  const std::string cut =
      "Successful requests:     20\nOutput token throughput (tok/s):     150.0\nMean TPOT (ms):     6.00\n"
      "Mean ITL (ms):     15.00\n---------------Speculative Decoding---------------\nAcceptance rate (%):     41.0\n";
  const LogContents contents = read_log(cut);
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].decoding == Decoding::speculative);
  CHECK(contents.observations[0].acceptance_length == 2.5);
  CHECK(contents.observations[0].times.iteration_ms == 15.0);
  CHECK(warns(contents, "W10"));
}

TEST_CASE("the engine of a client or of a key that two engines have gives way to one that the log names") {
  const std::string plain =
      "= Serving Benchmark Result =\nSuccessful requests: 30\nBenchmark duration (s): 40.0\nTotal input tokens: 3000\n"
      "Total generated tokens: 6000\nOutput token throughput (tok/s): 150.0\n";
  const std::string latencies = "Mean TTFT (ms): 90.0\nMean TPOT (ms): 12.0\nMean ITL (ms): 12.0\n";
  const std::string rate = "Request rate configured (RPS): 20.0\n", user = "User throughput (tok/s): 80.0\n";
  // TensorRT-LLM's settings have the key of vLLM's, its client prints the results of any server.
  for (const std::string settings : {"speculative_config: {decoding_type: Eagle, max_draft_len: 2}",
                                     "# now with 'speculative_config': {'decoding_type': 'MTP'}"}) {
    const LogContents arms = read_log(plain + user + latencies + settings + "\n" + plain + user +
                                      "Mean Avg Decoded Tokens per Iter: 2.10\n" + latencies + plain);
    CHECK(arms.engine == "tensorrt-llm");
    CHECK(arms.observations.size() >= 2);
  }
  const std::string served = "speculative_config: {'method': 'mtp', 'num_speculative_tokens': 2}\n";
  CHECK(read_log(served + plain + user + latencies + plain + user + latencies).engine == "vllm");
  CHECK(read_log(plain + user + latencies).engine == "tensorrt-llm");
  CHECK(read_log(plain + rate + latencies).engine == "vllm");
  CHECK(read_log(sample("sglang_2026.log") + plain + rate + latencies + plain + rate + latencies).engine == "sglang");
  // An API names no engine.
  const std::string api = "Backend: openai-chat\n";
  CHECK(read_log(served + api + plain + latencies + api + plain + latencies).engine == "vllm");
  // Results of two clients may be of two engines.
  const std::string other =
      "= Serving Benchmark Result =\nBackend: sglang-oai\n" + plain.substr(plain.find('\n') + 1) + latencies;
  std::string same = other;
  same.replace(same.find("sglang-oai"), 10, "vllm");
  CHECK(problem(plain + rate + latencies + other).find("results of sglang after those of vllm") != std::string::npos);
  CHECK(read_log(plain + rate + latencies + same).observations.size() == 2);
}

TEST_CASE("lists of counters give a run each, and positions that were not drafted are omitted") {
  const LogContents contents = read_log(sample("spec_decode.txt"));
  CHECK(contents.engine == "vllm");
  REQUIRE(contents.observations.size() == 2);
  const Observation& run = contents.observations[0];
  CHECK(run.gamma == 3);
  CHECK(run.acceptance->steps == 1000);
  CHECK(run.acceptance->accepted_at == Counts{700, 480, 320});
  CHECK(run.acceptance->accepted_at_rounding == 5.0);
  CHECK(warns(contents, "W08"));
  CHECK(contents.observations[1].acceptance->steps == 800);
  CHECK(contents.observations[1].acceptance->accepted_at.empty());
}

TEST_CASE("lists are read in other spellings") {
  const LogContents contents =
      read_log("- Num speculative tokens: 5\n- num draft tokens = 5,000\n- num accepted tokens = 2,000\n");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.settings.gamma == 5);
  CHECK(contents.observations[0].acceptance->steps == 1000);
  CHECK(contents.observations[0].acceptance->accepted_tokens == 2000);
  CHECK(read_log("Average acceptance length: 2.7\n").observations.at(0).acceptance_length == 2.7);
  CHECK(problem("num_drafts: 10\nnum_draft_tokens: 20\nnum_accepted_tokens: 21\n").find("some.log:3: accepted: ") == 0);
}

TEST_CASE("counters of a run, a bare word a line, are its acceptance, also beside speeds of arms") {
  for (const char* list : {"- rounds=120\n- drafted=360\n- accepted_drafts=240\n- emitted=360\n- accept_rate=66.7%\n",
                           "Verify steps: 120\nProposed tokens: 360\nAccepted: 240\n",
                           "  cycles: 120\n  drafted tokens: 360\n  accepted draft tokens: 240\n"}) {
    CAPTURE(list);
    for (const std::string speeds : {"", "plain: 20 tok/s\nMTP K=3: 40 tok/s\n\nOf one run:\n"}) {
      const LogContents contents = read_log(speeds + list);
      const auto counted =
          std::ranges::find_if(contents.observations, [](const auto& one) { return one.acceptance.has_value(); });
      REQUIRE(counted != contents.observations.end());
      CHECK(counted->gamma == 3);
      CHECK(counted->acceptance->steps == 120);
      CHECK(counted->acceptance->accepted_tokens == 240);
      CHECK(contents.observations.size() == (speeds.empty() ? 1 : 3));
    }
  }
  // Words behind a number: no counter.
  CHECK(read_log("rounds: 120 of 150\ndrafted: 360\naccepted: 240\n").observations.empty());
}

TEST_CASE("trtllm-bench prints a mean length over requests, which is no count") {
  const LogContents contents = read_log(sample("trtllm_bench.txt"));
  CHECK(contents.engine == "tensorrt-llm");
  CHECK(contents.settings.method == "EAGLE3");
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.acceptance_length == 2.6);
  CHECK_FALSE(run.acceptance);
  CHECK(run.requests == 7.5);
  CHECK(run.times.output_tokens_per_s == 250.0);
  CHECK(run.times.tpot_ms == 29.5);
  CHECK(run.stratum.context_tokens == 228.0);
  CHECK(warns(contents, "W10"));
  // Without statistics it is plain only if what comes after them was printed.
  const std::string cut = before(sample("trtllm_bench.txt"), "= DECODING");
  CHECK(read_log(cut).observations.at(0).decoding == Decoding::unknown);
  CHECK(read_log("= DATASET DETAILS\n" + cut).observations.at(0).decoding == Decoding::unknown);
  CHECK(read_log(cut + "= DATASET DETAILS\n").observations.at(0).decoding == Decoding::plain);
  // Versions that print no concurrency have no statistics.
  const std::string old = before(cut, "Number of concurrent") + cut.substr(cut.find("Average Input"));
  CHECK(read_log(old + "= DATASET DETAILS\n").observations.at(0).decoding == Decoding::unknown);
  // The heading of statistics alone is one of a run that drafts; older versions call their length [AR].
  const std::string drafted = cut + "= DECODING STATISTICS (MTP)\n= DATASET DETAILS\n";
  CHECK(read_log(drafted).observations.at(0).decoding == Decoding::speculative);
  const auto older = [&](const std::string& average) {
    return read_log(cut + "= DECODING STATISTICS (MTP)\n[AR] MAXIMUM: 2.90\n[AR] AVERAGE: " + average +
                    "\n= DATASET DETAILS\n" + cut + "= DATASET DETAILS\n");
  };
  REQUIRE(older("2.25").observations.size() == 2);
  CHECK(older("2.25").observations[0].acceptance_length == 2.25);
  CHECK(older("2.25").observations[1].decoding == Decoding::plain);
  CHECK_FALSE(older("0.62").observations[0].acceptance_length);  // a rate
  CHECK(older("0.62").observations[0].decoding == Decoding::speculative);
  // The mean rate tells the draft length, if it fits the mean length.
  const auto rated = [](const std::string& rate) {
    return read_log(sample("trtllm_bench.txt") + "[DAR] MINIMUM: 0.30\n[DAR] AVERAGE: " + rate + "\n");
  };
  CHECK(rated("0.32").observations.at(0).gamma == 5);
  CHECK(rated("0.32").observations[0].acceptance_length == 2.6);
  CHECK_FALSE(rated("0.47").observations.at(0).gamma);
  // A logged configuration has the draft length.
  for (const std::string settings : {"[TRT-LLM] [I] speculative_config: decoding_type=Eagle3 max_draft_len=4\n",
                                     "[I] drafter {'decoding_type': 'Eagle', 'max_draft_len': 4}\n"}) {
    CHECK(read_log(settings + sample("trtllm_bench.txt")).observations.at(0).gamma == 4);
  }
  const std::string command = "trtllm-bench -m some/model \\\n  throughput --config a.yml\n" + cut;
  const std::string config = "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 2\nEOF\n";
  const LogContents arms = read_log(config + command + command);
  REQUIRE(arms.observations.size() == 2);
  CHECK(arms.observations[0].decoding == Decoding::speculative);
  CHECK(arms.observations[0].gamma == 2);
  CHECK(arms.observations[1].decoding == Decoding::plain);
  const LogContents named = read_log("speculative_config:\n  decoding_type: Eagle\nEOF\n" + command);
  CHECK(named.observations.at(0).decoding == Decoding::speculative);
}

TEST_CASE("tables of GenAI-Perf give load and throughput, with commas between thousands") {
  const LogContents contents = read_log(sample("genai_perf.txt") + sample("genai_perf.txt"));
  REQUIRE(contents.observations.size() == 2);
  const Observation& run = contents.observations[0];
  CHECK(run.decoding == Decoding::unknown);
  CHECK(run.times.output_tokens_per_s == 1280.0);
  CHECK(*run.requests == Approx(2.0).epsilon(few_ulp));
  CHECK(*run.times.duration_s == Approx(40.0).epsilon(few_ulp));
  CHECK(run.stratum.context_tokens == 668.0);
}

TEST_CASE("requests of GenAI-Perf that wait in the queue are not in flight") {
  // 1,280 tokens/s at 1 ms each: 1.28 decode, though 2 are answered or wait.
  const std::string row = "│             Request Count (count) │";
  const std::string ttft = "│          Time To First Token (ms) │   400.00 │      N/A │\n";
  const std::string tpot = "│          Inter Token Latency (ms) │     1.00 │      N/A │\n";
  const std::string table = sample("genai_perf.txt");
  const auto requests_with = [&](const std::string& rows) {
    std::string with = table;
    with.insert(with.find(row), rows);
    return *read_log(with).observations.at(0).requests;
  };
  CHECK(requests_with(tpot) == Approx(1.28).epsilon(few_ulp));
  CHECK(requests_with(ttft + tpot) == Approx(1.28).epsilon(few_ulp));
  CHECK(requests_with(ttft) == Approx(1.25 * 1.2).epsilon(few_ulp));
}

TEST_CASE("positions from rounded rates add up to the accepted tokens") {
  const Observation run = read_log(sample("spec_decode_rounded.txt")).observations.at(0);
  CHECK(run.acceptance->steps == 478);
  CHECK(run.acceptance->accepted_tokens == 534);
  const Counts& at = run.acceptance->accepted_at;
  CHECK(at.at(0) + at.at(1) + at.at(2) == 534);
}

}  // namespace foredraft::tests
