// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/logs/logs_testing.hpp"

namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

LogContents read_sample(const std::string& name) { return read_log(sample(name)); }

const logs::AcceptanceCounts& counts_of(const Observation& observation) {
  REQUIRE(observation.acceptance);
  return *observation.acceptance;
}

}  // namespace

TEST_CASE("vllm bench serve: shares of positions become whole counts, a plain run is plain") {
  const LogContents contents = read_sample("vllm_bench.jsonl");
  CHECK(contents.format == "vllm-bench");
  CHECK(contents.engine == "vllm");
  CHECK(contents.settings.target == "lab/target-9b");
  REQUIRE(contents.observations.size() == 2);
  const Observation& plain = contents.observations[0];
  CHECK(plain.decoding == Decoding::plain);
  CHECK_FALSE(plain.acceptance);
  CHECK(plain.times.tpot_ms == 60.0);
  CHECK(plain.requests == 8.0);
  const Observation& speculative = contents.observations[1];
  CHECK(speculative.decoding == Decoding::speculative);
  CHECK(speculative.gamma == 3);
  CHECK(counts_of(speculative).steps == 4000);
  CHECK(counts_of(speculative).accepted_at == Counts{2600, 1400, 600});
  CHECK(counts_of(speculative).accepted_at_rounding == 0.0);
  CHECK(speculative.times.iteration_ms == 64.5);
  CHECK(speculative.times.output_tokens_per_s == 217.0);
  CHECK_FALSE(speculative.times.request_rate_per_s);
  CHECK(speculative.stratum.output_tokens == 108.5);
  CHECK(contents.warnings.empty());
}

TEST_CASE("vllm bench serve: a sustained rate, wrong printed lengths and odd latencies are reported") {
  std::string text = sample("vllm_bench.jsonl");
  const auto replace = [](std::string all, const std::string& from, const std::string& to) {
    for (std::size_t at = all.find(from); at != std::string::npos; at = all.find(from, at + to.size())) {
      all.replace(at, from.size(), to);
    }
    return all;
  };
  const LogContents rated = read_log(replace(text, R"("request_rate": "inf")", R"("request_rate": 2.0)"));
  CHECK(warns(rated, "W01"));
  CHECK(rated.observations[1].times.request_rate_per_s == 2.0);
  CHECK(rated.observations[1].requests == near(80 * 3.25 / 40.0));  // Little's law
  CHECK(warns(read_log(replace(text, R"(acceptance_length": 2.15)", R"(acceptance_length": 2.25)")), "W18"));
  const LogContents per_token = read_log(replace(text, R"("median_itl_ms": 64.0)", R"("median_itl_ms": 30.5)"));
  CHECK(warns(per_token, "W07"));
  CHECK_FALSE(per_token.observations[1].times.iteration_ms);
  const LogContents no_plain = read_log(replace(text, R"("median_itl_ms": 60.0)", R"("median_itl_ms": 120.0)"));
  CHECK(warns(no_plain, "W09"));
  CHECK(no_plain.observations[0].decoding == Decoding::unknown);
}

TEST_CASE("vllm bench serve: where every request failed nothing was measured") {
  const LogContents contents = read_sample("vllm_bench_failed.json");
  const Observation& run = contents.observations.at(0);
  CHECK(contents.observations.size() == 1);
  CHECK(run.completed_requests == 0);
  CHECK(run.failed_requests == 2);
  CHECK(run.concurrency == 8.0);
  CHECK_FALSE(run.times.tpot_ms);
  CHECK_FALSE(run.times.iteration_ms);
  CHECK_FALSE(run.times.output_tokens_per_s);
  CHECK(warns(contents, "W19"));
}

TEST_CASE("vllm bench serve --save-detailed: the run and each request, failed ones left out") {
  const LogContents contents = read_sample("vllm_bench_detailed.json");
  REQUIRE(contents.observations.size() == 3);
  const Observation& run = contents.observations[0];
  CHECK(run.span == logs::Span::run);
  CHECK(run.offered_requests == 4.0);
  CHECK(run.failed_requests == 1);
  CHECK(run.times.tpot_ms == 20.0);  // the median
  CHECK(run.times.iteration_ms == 40.0);
  CHECK(warns(contents, "W19"));
  CHECK(warns(contents, "W20"));
  const Observation& first = contents.observations[1];
  CHECK(first.span == logs::Span::request);
  CHECK(first.decoding == Decoding::speculative);
  CHECK(first.gamma == 2);
  CHECK(first.offered_requests == 4.0);
  CHECK(*first.times.tpot_ms == near(20.0));
  CHECK(*first.times.duration_s == near(0.12));
  CHECK(*first.times.ttft_ms == near(50.0));
  CHECK(first.stratum.output_tokens == 7.0);
  CHECK(first.stratum.context_tokens == 93.5);
  CHECK(first.stratum.request == "0");
  CHECK(contents.observations[2].stratum.request == "1");
  std::string text = sample("vllm_bench_detailed.json");
  text.replace(text.find("[0.05, 0.06"), 5, "[null");
  text.replace(text.find("\"input_lens\": ["), 15, "\"input_lens\": [NaN, ");
  const LogContents holes = read_log(text);
  REQUIRE(holes.observations.size() == 3);
  CHECK_FALSE(holes.observations[1].times.ttft_ms);
  CHECK(holes.observations[1].stratum.context_tokens == holes.observations[0].stratum.context_tokens);  // the mean
}

TEST_CASE("a run of a load generator is known by any two of its keys, and missing values are absent") {
  const LogContents times = read_log(R"({"mean_tpot_ms": 10.0, "output_throughput": 390.0})");
  CHECK(times.format == "vllm-bench");
  CHECK(times.observations.at(0).decoding == Decoding::unknown);
  CHECK(times.observations.at(0).times.tpot_ms == 10.0);
  CHECK_FALSE(times.observations.at(0).times.ttft_ms);
  const LogContents length = read_log(R"({"spec_decode_acceptance_length": 2.5, "median_tpot_ms": 10.0})");
  CHECK(length.observations.at(0).decoding == Decoding::speculative);
  CHECK(length.observations.at(0).acceptance_length == 2.5);
  const LogContents plain = read_log(R"({"max_concurrency": 4, "mean_tpot_ms": 10.0, "request_rate": null})");
  CHECK(plain.observations.at(0).decoding == Decoding::plain);
  CHECK(plain.observations.at(0).concurrency == 4.0);
  const LogContents sglang = read_log(R"({"accept_length": 2.5, "mean_tpot_ms": 10.0, "mean_ttft_ms": null})");
  CHECK(sglang.format == "sglang-bench");
  CHECK(sglang.observations.at(0).acceptance_length == 2.5);
}

TEST_CASE("drafts of several lengths in one run are adaptive, for any maximum length") {
  std::string text = sample("vllm_bench.jsonl");
  text.replace(text.find("draft_tokens\": 12000"), 20, "draft_tokens\": 10000");
  CHECK(read_log(text).observations.at(1).adaptive == true);
  CHECK_FALSE(read_sample("vllm_bench.jsonl").observations.at(1).adaptive);
}

TEST_CASE("vllm bench serve: output tokens show the steps that an n-gram drafter did not count") {
  std::string text = sample("vllm_bench.jsonl");
  const std::size_t at = text.find("\"total_output_tokens\": 8680", text.find('\n'));
  text.replace(at, 27, "\"total_output_tokens\": 12080");
  const std::size_t gaps = text.find("\"mean_itl_ms\": 64.5", at);
  text.replace(gaps, 19, "\"mean_itl_ms\": 48.6");  // 30 ms per token, 12000 tokens in 7400 iterations
  const Observation run = read_log(text).observations.at(1);
  CHECK(counts_of(run).generated_tokens == 12000);  // 80 came with the prompts
  CHECK_FALSE(run.adaptive);
  // Half of the iterations drafted nothing: 1.62 tokens each, however many the others accepted.
  const auto with_median = [&](const std::string& median_itl_ms) {
    std::string chunks = text;
    const std::size_t median = chunks.find("\"median_itl_ms\": 64.0", at);
    chunks.replace(median, 21, "\"median_itl_ms\": " + median_itl_ms);
    return read_log(chunks);
  };
  CHECK(with_median("36.0").observations.at(1).times.iteration_ms == 48.6);
  CHECK_FALSE(warns(with_median("36.0"), "W07"));
  CHECK(warns(with_median("28.0"), "W07"));
  CHECK_FALSE(counts_of(read_sample("vllm_bench.jsonl").observations.at(1)).generated_tokens);
}

TEST_CASE("SGLang bench_serving: a mean since the start, iterations from times of tokens") {
  const LogContents contents = read_sample("sglang_bench.jsonl");
  CHECK(contents.engine == "sglang");
  CHECK(contents.version == "0.5.9");
  CHECK(contents.settings.method == "EAGLE3");
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].acceptance_length == 2.5);
  CHECK(contents.observations[0].gamma == 3);
  CHECK_FALSE(contents.observations[0].acceptance);
  CHECK(contents.observations[0].times.iteration_ms == near(32.5));
  CHECK(contents.observations[0].requests == 4.0);
  CHECK(contents.observations[1].decoding == Decoding::plain);
  CHECK_FALSE(contents.observations[1].gamma);
  CHECK(warns(contents, "W02"));
}

TEST_CASE("answers that count their steps: vLLM in detail, TensorRT-LLM by choice, SGLang") {
  const LogContents vllm = read_sample("vllm_requests.jsonl");
  CHECK(vllm.engine == "vllm");
  REQUIRE(vllm.observations.size() == 2);
  CHECK(vllm.observations[0].gamma == 3);
  CHECK(counts_of(vllm.observations[0]).steps == 8);
  CHECK(counts_of(vllm.observations[0]).accepted_at == Counts{6, 4, 2});
  CHECK(counts_of(vllm.observations[0]).drafted_at == Counts{8, 8, 8});
  CHECK(vllm.observations[0].trace.by_step == std::vector<std::int32_t>{3, 0, 1, 2, 3, 0, 1, 2});
  CHECK(vllm.observations[0].stratum.request == "r-1");
  CHECK(vllm.observations[0].stratum.context_tokens == 110.5);
  CHECK(counts_of(vllm.observations[1]).accepted_at == Counts{0, 0, 0});
  const LogContents trtllm = read_sample("trtllm_requests.json");
  CHECK(trtllm.engine == "tensorrt-llm");
  CHECK(counts_of(trtllm.observations.at(0)).accepted_at == Counts{4, 2});
  CHECK_FALSE(trtllm.observations[0].gamma);
  const LogContents sglang = read_sample("sglang_requests.json");
  CHECK(sglang.engine == "sglang");
  CHECK(sglang.observations.at(0).gamma == 3);
  CHECK(counts_of(sglang.observations[0]).accepted_at == Counts{6, 4, 2});
}

TEST_CASE("TensorRT-LLM iterations: copies, prompts and the first ones are omitted, no drafts are not plain decoding") {
  const LogContents contents = read_sample("trtllm_iterations.txt");
  REQUIRE(contents.observations.size() == 3);
  const Observation& drafted = contents.observations[0];
  CHECK(drafted.gamma == 3);
  CHECK(counts_of(drafted).steps == 8);
  CHECK(counts_of(drafted).accepted_tokens == 12);
  CHECK(drafted.times.iteration_ms == 20.0);
  CHECK(drafted.times.draft_ms == 5.0);
  CHECK(drafted.requests == 8.0);
  CHECK(drafted.waiting == 1.0);
  CHECK(contents.observations[1].decoding == Decoding::plain);
  CHECK(contents.observations[1].times.iteration_ms == 12.0);
  CHECK(contents.observations[2].decoding == Decoding::speculative);
  CHECK(contents.observations[2].gamma == 0);
  CHECK(warns(contents, "W12"));
}

TEST_CASE("trtllm-bench: counts of all requests from their means, weighted differently") {
  const LogContents contents = read_sample("trtllm_bench.json");
  CHECK(contents.version == "1.3.0");
  const Observation& run = contents.observations.at(0);
  CHECK(counts_of(run).steps == 4000);  // 50 requests of 200 tokens, 120 of them drafted
  CHECK(counts_of(run).drafted_tokens == 12000);
  CHECK(counts_of(run).accepted_tokens == 6000);
  CHECK(counts_of(run).steps_estimated);
  CHECK(run.requests == 4.0);
  CHECK(run.times.tpot_ms == 16.0);
  CHECK(warns(contents, "W10"));  // 2.7 printed, 2.5 of all steps
}

TEST_CASE("llama-server answers: no drafts are plain, zero drafts are not") {
  const LogContents contents = read_sample("llama_server_answers.jsonl");
  REQUIRE(contents.observations.size() == 3);
  const Observation& speculative = contents.observations[0];
  CHECK(speculative.gamma == 4);
  CHECK(counts_of(speculative).steps == 40);  // the first token comes from the prompt
  CHECK(counts_of(speculative).drafted_tokens == 160);
  CHECK(counts_of(speculative).accepted_tokens == 60);
  CHECK(speculative.times.iteration_ms == 50.0);
  CHECK(speculative.times.tpot_ms == 20.0);
  CHECK(speculative.stratum.temperature == 0.0);
  CHECK(contents.observations[1].decoding == Decoding::plain);
  CHECK_FALSE(contents.observations[1].acceptance);
  CHECK(contents.observations[2].decoding == Decoding::speculative);
  CHECK(counts_of(contents.observations[2]).drafted_tokens == 0);
}

TEST_CASE("records by prompt and method: a method without drafts is neither plain nor speculative") {
  const LogContents contents = read_sample("prompt_records.json");
  REQUIRE(contents.observations.size() == 5);
  CHECK(contents.settings.draft == "draft-1b.gguf");
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(contents.observations[1].stratum.category == "chat");
  CHECK(counts_of(contents.observations[3]).steps == 30);
  CHECK(contents.observations[4].decoding == Decoding::unknown);
  CHECK(warns(contents, "W09"));
}

TEST_CASE("llama.cpp benchmarks: rates by category, plain decoding by context and by batch") {
  const LogContents speed = read_sample("speed_bench.json");
  REQUIRE(speed.observations.size() == 1);
  CHECK(speed.observations[0].times.tpot_ms == 20.0);
  CHECK(speed.observations[0].requests == 2.0);
  CHECK(warns(speed, "W10"));
  const LogContents json = read_sample("llama_bench.json");
  REQUIRE(json.observations.size() == 3);
  CHECK(json.version == "b6001");
  CHECK(json.observations[0].times.prompt_tokens_per_s == 8000.0);
  CHECK_FALSE(json.observations[0].times.tpot_ms);
  CHECK(json.observations[2].times.tpot_ms == 12.5);
  CHECK(json.observations[2].stratum.context_tokens == 4160.0);
  CHECK(warns(json, "W12"));
  const LogContents csv = read_sample("llama_bench.csv");
  CHECK(csv.format == "llama-bench-csv");
  REQUIRE(csv.observations.size() == 2);
  CHECK(csv.observations[1].times.tpot_ms == 12.5);
  const LogContents batched = read_sample("llama_batched_bench.jsonl");
  REQUIRE(batched.observations.size() == 2);
  CHECK(batched.observations[1].requests == 8.0);
  CHECK(batched.observations[1].times.iteration_ms == near(12.5));
}

TEST_CASE("ik_llama.cpp spec-bench: plain, positions and draft times, summaries once") {
  const LogContents contents = read_sample("ik_spec_bench.jsonl");
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].times.iteration_ms == near(20.0));
  const Observation& speculative = contents.observations[1];
  CHECK(speculative.gamma == 2);
  CHECK(counts_of(speculative).accepted_at == Counts{60, 40});
  CHECK(counts_of(speculative).drafted_at == Counts{100, 90});
  CHECK(speculative.times.draft_ms == near(3.0));
  CHECK(speculative.times.iteration_ms == near(20.0));
  CHECK(contents.warnings.empty());
}

TEST_CASE("SpecForge: the misspelled plain run is plain and counts once, a tree has no draft length") {
  const LogContents dashboard = read_sample("specforge_dashboard.json");
  REQUIRE(dashboard.observations.size() == 3);
  CHECK(dashboard.observations[0].decoding == Decoding::plain);
  CHECK(dashboard.observations[0].stratum.category == "gsm");
  CHECK(dashboard.observations[1].gamma == 3);
  CHECK(dashboard.observations[1].acceptance_length == 2.4);
  CHECK_FALSE(dashboard.observations[2].gamma);
  CHECK_FALSE(dashboard.observations[1].tree);
  CHECK(dashboard.observations[2].tree.value_or(logs::DraftTree{}).width == 4);
  CHECK(dashboard.settings.target == "target-9b");
  const LogContents eagle = read_sample("bench_eagle3.jsonl");
  REQUIRE(eagle.observations.size() == 2);
  CHECK(eagle.observations[0].decoding == Decoding::plain);
  CHECK(eagle.observations[1].acceptance_length == 2.6);
  CHECK(eagle.settings.draft == "lab/head");
}

TEST_CASE("aiperf: measured requests with their histogram, and the pooled one of a run") {
  const LogContents records = read_sample("aiperf_records.jsonl");
  REQUIRE(records.observations.size() == 2);
  CHECK(records.engine == "vllm");
  CHECK(records.observations[0].stratum.request == "q-1");
  CHECK(counts_of(records.observations[0]).accepted_at == Counts{7, 5, 3});
  CHECK(records.observations[0].times.ttft_ms == near(50.0));
  CHECK(records.observations[0].times.tpot_ms == 16.0);
  const LogContents run = read_sample("aiperf_run.json");
  CHECK(counts_of(run.observations.at(0)).accepted_at == Counts{14, 10, 6});
  CHECK(run.observations[0].times.output_tokens_per_s == 120.0);
  CHECK_FALSE(run.observations[0].gamma);
}

TEST_CASE("AIPerf: metrics of requests beside the histogram, whose rate tells the draft length") {
  const std::string others = R"( "request_throughput": {"unit": "requests/sec", "avg": 0.5},
 "spec_decode_acceptance_length": {"unit": "ratio", "avg": 2.7, "max": 4.0},
 )";
  const auto run_with = [&](const std::string& rate) {
    std::string text = sample("aiperf_run.json");
    text.insert(text.find('"'), others + rate);
    return posted_runs(text, "aiperf-run").at(0);
  };
  // 1.5 accepted drafts a step.
  for (const char* rate : {R"("overall_draft_acceptance_rate": {"unit": "%", "avg": 37.5}, )",
                           R"("overall_draft_acceptance_rate": {"unit": "ratio", "avg": 0.375}, )",
                           R"("spec_decode_overall_draft_acceptance_rate": {"unit": "%", "avg": 37.5}, )"}) {
    const auto run = run_with(rate);
    CHECK(counts_of(run).accepted_at == Counts{14, 10, 6});
    CHECK(run.gamma == 4);
  }
  // No step of two drafts accepts three; a rate of requests is no rate of all.
  CHECK_FALSE(run_with(R"("overall_draft_acceptance_rate": {"unit": "%", "avg": 75}, )").gamma);
  CHECK_FALSE(run_with(R"("spec_decode_draft_acceptance_rate": {"unit": "%", "avg": 37.5}, )").gamma);
}

TEST_CASE("Model-Optimizer: keys count emitted tokens, times are texts in seconds") {
  const LogContents rates = read_sample("acceptance_rate.json");
  CHECK(rates.observations.at(0).gamma == 3);
  CHECK(counts_of(rates.observations[0]).steps == 800);
  CHECK(counts_of(rates.observations[0]).accepted_at == Counts{500, 300, 100});
  CHECK(warns(rates, "W10"));  // 2.5 of requests, 2.125 of steps
  CHECK_FALSE(warns(rates, "W18"));
  const LogContents timing = read_sample("timing.json");
  CHECK(timing.observations.at(0).times.iteration_ms == near(25.0));
  CHECK(timing.observations[0].times.ttft_ms == near(120.0));
  const LogContents profile = read_sample("speculation_profile.json");
  CHECK(profile.settings.method == "eagle3");
  CHECK(profile.observations.at(0).gamma == 3);
  CHECK(counts_of(profile.observations[0]).accepted_at == Counts{500, 300, 100});
  CHECK(profile.warnings.empty());
}

TEST_CASE("GuideLLM: load and times, of speculation only the tokens of a chunk") {
  const LogContents contents = read_sample("guidellm.json");
  const Observation& run = contents.observations.at(0);
  CHECK(run.decoding == Decoding::unknown);
  CHECK(run.requests == 3.5);
  CHECK(run.times.request_rate_per_s == 2.0);
  CHECK(run.times.tpot_ms == 15.0);
  CHECK_FALSE(run.acceptance_length);
  const auto chunked = posted_runs(
      R"({"benchmarks": [{"metrics": {"inter_token_latency_ms": {"successful": {"mean": 15.0}},)"
      R"( "output_token_count": {"successful": {"mean": 90.0}}, "output_tokens_per_iteration": {"successful": {"mean": 1.8}},)"
      R"( "request_streaming_iterations_count": {"successful": {"mean": 51.0}}}}]})",
      "guidellm");
  CHECK(chunked.at(0).acceptance_length == 1.8);
  CHECK(chunked[0].stratum.output_tokens == 90.0);
}

TEST_CASE("answers of Spec-Bench and EAGLE: emitted tokens of steps, indices that count from 0, plain ones") {
  const LogContents spec_bench = read_sample("spec_bench.jsonl");
  REQUIRE(spec_bench.observations.size() == 2);
  CHECK(counts_of(spec_bench.observations[0]).steps == 7);
  CHECK(counts_of(spec_bench.observations[0]).accepted_at == Counts{6, 3, 2});
  CHECK(spec_bench.observations[0].trace.by_step == std::vector<std::int32_t>{2, 0, 3, 1, 1, 3, 1});
  CHECK(spec_bench.observations[0].stratum.category == "writing");
  CHECK(spec_bench.observations[1].decoding == Decoding::plain);
  // The settings of the evaluation are no part of the model's name.
  const auto target = [](const std::string& model) {
    return read_log(R"({"question_id": 1, "model_id": ")" + model +
                    R"(", "choices": [{"index": 0, "new_tokens": [4], "wall_time": [0.1], "accept_lengths": [2, 2]}]})")
        .settings.target;
  };
  CHECK(target("big-7b-eagle3-float16-temperature-0.0") == "big-7b-eagle3");
  CHECK(target("big-7b-vanilla-float16-temp-0.0") == "big-7b-vanilla");
  CHECK(target("big-7b-temp-1.0-v1.3") == "big-7b-temp-1.0-v1.3");
  const LogContents eagle = read_sample("eagle_answers.jsonl");
  REQUIRE(eagle.observations.size() == 2);
  CHECK(counts_of(eagle.observations[0]).steps == 200);
  CHECK(counts_of(eagle.observations[0]).accepted_tokens == 300);
  CHECK(eagle.observations[0].times.iteration_ms == near(25.0));
  CHECK(eagle.observations[1].decoding == Decoding::plain);
  CHECK(eagle.observations[1].times.iteration_ms == near(20.0));
}

TEST_CASE("recorded acceptance by position: what a step would accept from each token, one text a drafter") {
  const LogContents contents = read_sample("acceptance_traces.jsonl");
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].stratum.category == "eagle");
  CHECK(contents.observations[0].trace.by_position == std::vector<std::int32_t>{2, 0, 1, 0});
  CHECK(contents.observations[1].trace.by_position == std::vector<std::int32_t>{0, 0, 3});
  CHECK_FALSE(contents.observations[0].acceptance);
}

TEST_CASE("speculators: positions that were not drafted are none, a table of one's own says what it counts") {
  const LogContents acceptance = read_sample("speculators_acceptance.csv");
  CHECK(acceptance.observations.at(0).gamma == 2);
  CHECK(counts_of(acceptance.observations[0]).accepted_at == Counts{600, 300});
  CHECK(warns(acceptance, "W08"));
  const LogContents perf = read_sample("speculators_perf.csv");
  REQUIRE(perf.observations.size() == 2);
  CHECK(perf.observations[0].times.request_rate_per_s == 2.0);
  CHECK(counts_of(perf.observations[0]).accepted_tokens == 900);
  CHECK(perf.observations[1].requests == 1.0);
  CHECK(perf.observations[1].concurrency == 1.0);
  CHECK_FALSE(perf.observations[1].acceptance);
  CHECK(warns(perf, "W20"));
  CHECK_FALSE(warns(acceptance, "W20"));
  const LogContents own = read_sample("own.csv");
  CHECK(own.format == "csv");
  REQUIRE(own.observations.size() == 2);
  CHECK(counts_of(own.observations[0]).accepted_tokens == 90);
  CHECK(own.observations[0].times.iteration_ms == 12.5);
  CHECK(own.observations[1].decoding == Decoding::plain);
}

TEST_CASE("records of scripts are plain if their acceptance is null, for any stated draft length") {
  const LogContents contents = read_log(sample("benchmark_records.jsonl"));
  REQUIRE(contents.observations.size() == 2);
  const Observation& plain = contents.observations[0];
  CHECK(plain.decoding == Decoding::plain);
  CHECK_FALSE(plain.gamma);
  CHECK(plain.times.iteration_ms == 11.0);
  CHECK(plain.times.ttft_ms == 46.0);
  CHECK(plain.stratum.output_tokens == 300.0);
  const Observation& run = contents.observations[1];
  CHECK(run.gamma == 5);
  CHECK(run.requests == 8.0);
  CHECK(run.acceptance->steps == 12000);
  CHECK(run.acceptance->accepted_tokens == 36000);
  CHECK(run.acceptance->drafted_tokens == 60000);
  CHECK(run.times.iteration_ms == 16.0);
  CHECK(run.times.output_tokens_per_s == 1870.0);
  CHECK_FALSE(contents.observations[1].acceptance->steps_estimated);
}

TEST_CASE("a record of a script whose chunks hold one token has no time of iterations") {
  std::string text = sample("benchmark_records.jsonl");
  text.replace(text.find("{\"mean\": 16.0"), 13, "{\"mean\": 4.1");
  const LogContents contents = read_log(text);
  REQUIRE(contents.observations.size() == 2);
  CHECK_FALSE(contents.observations[1].times.iteration_ms);
  CHECK(warns(contents, "W07"));
}

TEST_CASE("a table of speeds alone: no draft length is plain, every row is one") {
  const LogContents contents = read_log(
      "gamma,requests,output_tokens_per_s\n"
      ",1,50\n"
      "2,1,70\n"
      "2,1,70\n");
  REQUIRE(contents.observations.size() == 3);
  CHECK(contents.observations[0].decoding == Decoding::plain);
  CHECK(contents.observations[1].decoding == Decoding::speculative);
  CHECK(contents.observations[1].gamma == 2);
  CHECK(contents.observations[2].times.output_tokens_per_s == 70.0);
  CHECK(contents.warnings.empty());
}

TEST_CASE("a table may hold a length, totals, drafters and the load that was set") {
  const LogContents contents = read_log(
      "gamma,drafted,accepted,acceptance_length,drafter,concurrency,offered_requests,failed_requests,adaptive\n"
      "3,,,2.5,mtp,8,,1,\n"
      "3,3000,1500,,eagle3,,500,0,true\n");
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].acceptance_length == 2.5);
  CHECK(contents.observations[0].drafter == "mtp");
  CHECK(contents.observations[0].concurrency == 8.0);
  CHECK(contents.observations[0].failed_requests == 1);
  CHECK(counts_of(contents.observations[1]).steps == 1000);
  CHECK(contents.observations[1].offered_requests == 500.0);
  CHECK(contents.observations[1].adaptive == true);
  CHECK(problem("gamma,acceptance_length,requests\n3,0.5,1\n").find("acceptance_length: 0.5") != std::string::npos);
  CHECK(problem("gamma,acceptance_length,adaptive\n3,1.5,perhaps\n").find("adaptive: perhaps") != std::string::npos);
}

TEST_CASE("a record of a script is known by any two of its keys") {
  const LogContents contents =
      read_log(R"({"num_speculative_tokens": 3, "accepted_length_tau": 2.5, "throughput_tok_s": 400.0})");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].decoding == Decoding::speculative);
  CHECK(contents.observations[0].acceptance_length == 2.5);
  CHECK_FALSE(contents.observations[0].requests);
}

TEST_CASE("aiperf's run has its load and its failures, medians where means are missing") {
  const LogContents contents = read_log(
      R"({"request_count": {"avg": 90, "unit": "requests"}, "error_request_count": {"avg": 10, "unit": "requests"},)"
      R"( "request_throughput": {"avg": 3.0, "unit": "requests/sec"}, "output_token_throughput": {"avg": 400.0, )"
      R"("unit": "tokens/sec"}, "inter_token_latency": {"p50": 10.0, "unit": "ms"},)"
      R"( "input_config": {"loadgen": {"concurrency": 4}}})");
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.concurrency == 4.0);
  CHECK(run.requests == near(4.0));
  CHECK(run.completed_requests == 90);
  CHECK(run.failed_requests == 10);
  CHECK(run.times.duration_s == near(30.0));
  CHECK(run.times.tpot_ms == 10.0);
  CHECK(warns(contents, "W19"));
  CHECK(warns(contents, "W20"));
}

TEST_CASE("aiperf's records have the decode time of each request") {
  const Observation request = read_sample("aiperf_records.jsonl").observations.at(0);
  CHECK(request.span == logs::Span::request);
  CHECK(request.times.duration_s == near(0.4));
  CHECK(request.times.iteration_ms == near(40.0));
}

TEST_CASE("GuideLLM: streams are the load, medians stand in for means, failures are counted") {
  const LogContents contents = read_log(
      R"({"benchmarks": [{"config": {"strategy": {"type_": "concurrent", "streams": 8}}, "metrics": )"
      R"({"inter_token_latency_ms": {"successful": {"median": 15.0}}, "requests_per_second": {"successful": {"mean": 2.0}}, )"
      R"("request_totals": {"successful": 90, "errored": 10}}}]})");
  REQUIRE(contents.observations.size() == 1);
  const Observation& run = contents.observations[0];
  CHECK(run.concurrency == 8.0);
  CHECK(run.times.tpot_ms == 15.0);
  CHECK(run.times.served_requests_per_s == 2.0);
  CHECK(run.failed_requests == 10);
  CHECK(warns(contents, "W19"));
  CHECK(warns(contents, "W20"));
}

}  // namespace foredraft::tests
