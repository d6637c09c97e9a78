// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/logs/logs_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using logs::Decoding;
using logs::LogContents;
using logs::Observation;

const std::string engine =
    "INFO 03-04 10:00:10 [loggers.py:259] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: "
    "75.0 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%\n";

std::string metrics(const std::string& text) {
  return "INFO 03-04 10:00:10 [metrics.py:101] SpecDecoding metrics: " + text + "\n";
}

const std::string settings =
    "INFO [core.py:9] LLM engine (v0.8.5) SpeculativeConfig(method='ngram', num_spec_tokens=3)\n";

}  // namespace

TEST_CASE("vLLM's engine line and its metrics of the same moment are one window, whichever engine wrote them") {
  const LogContents contents = read_log(sample("vllm_two_engines.log"));
  REQUIRE(contents.observations.size() == 3);
  const Observation& first = contents.observations[0];
  CHECK(first.line == 4);
  CHECK(first.span == logs::Span::window);
  CHECK(first.decoding == Decoding::speculative);
  CHECK(first.gamma == 4);
  CHECK(first.acceptance->steps == 400);
  CHECK(first.acceptance->drafted_tokens == 1600);
  CHECK(first.acceptance->accepted_tokens == 760);
  CHECK(first.acceptance->accepted_at == Counts{300, 220, 150, 90});
  CHECK(first.acceptance->accepted_at_rounding == 0.0);
  CHECK_FALSE(first.acceptance->steps_estimated);
  CHECK(first.requests == 2.0);
  CHECK(first.times.output_tokens_per_s == 116.0);
  CHECK(first.times.prompt_tokens_per_s == 12.5);
  CHECK(*first.times.iteration_ms == Approx(50.0).epsilon(few_ulp));
  CHECK(*first.times.duration_s == Approx(10.0).epsilon(few_ulp));
  const Observation& second = contents.observations[1];
  CHECK(second.acceptance->steps == 100);
  CHECK(*second.times.iteration_ms == Approx(100.0).epsilon(few_ulp));
  CHECK(contents.observations[2].waiting == 2.0);
}

TEST_CASE("an engine line of another moment than the metrics behind it is a window of its own") {
  std::string late = metrics("Draft acceptance rate: 50.0%, Accepted: 75 tokens, Drafted: 150 tokens");
  late.replace(late.find("10:00:10"), 8, "10:00:12");
  const LogContents contents = read_log(settings + engine + late);
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].times.output_tokens_per_s == 75.0);
  CHECK_FALSE(contents.observations[1].times.output_tokens_per_s);
}

TEST_CASE("vLLM's start says what the server was set up with") {
  const LogContents contents = read_log(sample("vllm_two_engines.log"));
  CHECK(contents.format == "vllm");
  CHECK(contents.engine == "vllm");
  CHECK(contents.version == "0.19.1");
  CHECK(contents.settings.method == "eagle3");
  CHECK(contents.settings.target == "acme/target-8b");
  CHECK(contents.settings.draft == "acme/draft-1b");
  CHECK(contents.settings.gamma == 4);
  CHECK(contents.settings.graph_sizes == Counts{1, 2, 4, 8, 16});
  CHECK(read_log("vLLM API server version 0.10.2 \n").version == "0.10.2");
}

TEST_CASE("colors and line ends of other systems change nothing that vLLM says") {
  const LogContents contents = read_log(sample("vllm_colors.log"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].acceptance->accepted_at == Counts{300, 220, 150, 90});
  CHECK(*contents.observations[0].times.iteration_ms == Approx(50.0).epsilon(few_ulp));
}

TEST_CASE("vLLM's windows are plain where the server never drafts, unknown where it does") {
  const LogContents plain = read_log(sample("vllm_plain.log"));
  REQUIRE(plain.observations.size() == 2);
  CHECK(plain.observations[0].decoding == Decoding::plain);
  CHECK_FALSE(plain.observations[0].acceptance);
  CHECK(*plain.observations[0].times.iteration_ms == Approx(40.0).epsilon(few_ulp));
  CHECK(warns(plain, "W11"));
  const LogContents mixed = read_log(sample("vllm_plain.log") + sample("vllm_two_engines.log") + engine);
  REQUIRE(mixed.observations.size() == 6);
  CHECK(mixed.observations[0].decoding == Decoding::plain);
  CHECK(mixed.observations[5].decoding == Decoding::unknown);
}

TEST_CASE("vLLM 0.8 logs neither length nor positions: the steps follow from its settings or not at all") {
  const std::string line = metrics("Draft acceptance rate: 50.0%, Accepted: 75 tokens, Drafted: 150 tokens");
  const LogContents known = read_log(settings + line);
  REQUIRE(known.observations.size() == 1);
  CHECK(known.observations[0].gamma == 3);
  CHECK(known.observations[0].acceptance->steps == 50);
  CHECK(known.observations[0].acceptance->accepted_at.empty());
  const LogContents unknown = read_log(line);
  CHECK_FALSE(unknown.observations[0].acceptance);
  CHECK(warns(unknown, "W08"));
}

TEST_CASE("vLLM 0.9 logs a length and positions") {
  const LogContents contents = read_log(
      metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 150 tokens, Drafted: 300 tokens, "
              "Per-position acceptance rate: 0.800, 0.450, 0.250"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].acceptance->steps == 100);
  CHECK(contents.observations[0].acceptance->accepted_at == Counts{80, 45, 25});
}

TEST_CASE("vLLM's positions beyond the current depth were not drafted") {
  const LogContents contents = read_log(
      metrics("Mean acceptance length: 2.25, Current speculative depth: 2, Accepted throughput: 12.50 tokens/s, "
              "Drafted throughput: 20.00 tokens/s, Accepted: 125 tokens, Drafted: 200 tokens, Per-position acceptance "
              "rate: 0.800, 0.450, 0.000, 0.000, Avg Draft acceptance rate: 62.5%"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 2);
  CHECK(contents.observations[0].acceptance->steps == 100);
  CHECK(contents.observations[0].acceptance->accepted_at == Counts{80, 45});
  CHECK(warns(contents, "W08"));
}

TEST_CASE("drafts of different lengths give estimated steps with their rounding") {
  const LogContents contents = read_log(metrics(
      "Mean acceptance length: 1.50, Accepted throughput: 100.00 tokens/s, Drafted throughput: 257.10 tokens/s, "
      "Accepted: 1000 tokens, Drafted: 2571 tokens, Per-position acceptance rate: 0.300, 0.150, 0.050, Avg "
      "Draft acceptance rate: 38.9%"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].gamma == 3);
  CHECK(contents.observations[0].acceptance->steps == 2000);
  CHECK(contents.observations[0].acceptance->steps_estimated);
  CHECK(contents.observations[0].acceptance->accepted_at_rounding >= 1.0);
}

TEST_CASE("vLLM's idle windows are left out, and no time is made of no request") {
  const std::string idle = metrics("Draft acceptance rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens");
  CHECK(read_log(idle).observations.empty());
  CHECK(warns(read_log(idle), "W11"));
  std::string none_running = engine;
  none_running.replace(none_running.find("Running: 3"), 10, "Running: 0");
  const LogContents contents = read_log(
      none_running + metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.00, Accepted: 100 tokens, "
                             "Drafted: 200 tokens, Per-position acceptance rate: 0.700, 0.300"));
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].requests == 0.0);
  CHECK_FALSE(contents.observations[0].times.iteration_ms);
}

TEST_CASE("lines of vLLM that are cut short are no windows") {
  const std::string log = sample("vllm_colors.log");
  const std::size_t begin = log.find("SpecDecoding");
  for (std::size_t size = begin; size < log.find('%', begin); ++size) {
    INFO(log.substr(begin, size - begin));
    const LogContents contents = read_log(log.substr(0, size));
    for (const Observation& window : contents.observations) REQUIRE_FALSE(window.acceptance);
  }
}

TEST_CASE("counters of vLLM that contradict each other are refused with their line") {
  CHECK(problem("text\n" + metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 301 tokens, "
                                   "Drafted: 300 tokens, Per-position acceptance rate: 0.800, 0.450, 0.250"))
            .find("some.log:2: accepted: 301 ") == 0);
  CHECK(problem(metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 150 tokens, Drafted: "
                        "300 tokens, Per-position acceptance rate: 0.450, 0.800, 0.250"))
            .find("some.log:1: position 2: ") == 0);
  CHECK(problem(metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 150 tokens, Drafted: "
                        "300 tokens, Per-position acceptance rate: 1.200, 0.300, 0.100"))
            .find("some.log:1: position 1: ") == 0);
}

TEST_CASE("positions that do not add up to the accepted tokens are warned of") {
  CHECK(warns(read_log(metrics("Draft acceptance rate: 50.0%, Mean acceptance length: 2.50, Accepted: 150 tokens, "
                               "Drafted: 300 tokens, Per-position acceptance rate: 0.900, 0.850, 0.750")),
              "W18"));
  CHECK_FALSE(warns(read_log(sample("vllm_two_engines.log")), "W18"));
}

TEST_CASE("throughput of accepted tokens alone, and windows of prefill, are warned of") {
  const std::string log = sample("vllm_colors.log");
  CHECK_FALSE(warns(read_log(log), "W04"));
  CHECK(warns(read_log(log.substr(log.find('\n') + 1)), "W04"));
  CHECK_FALSE(warns(read_log(log), "W12"));
  CHECK(warns(read_log(sample("vllm_two_engines.log")), "W12"));
}

TEST_CASE("lines that a container wraps into JSON are read") {
  const LogContents contents = read_log(
      "{\"log\":\"INFO 03-04 10:00:10 [metrics.py:101] SpecDecoding metrics: Draft acceptance rate: 50.0%, Mean "
      "acceptance length: 2.50, Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.800, 0.450, "
      "0.250\\n\",\"stream\":\"stderr\"}\n");
  REQUIRE(contents.observations.size() == 1);
  CHECK(contents.observations[0].acceptance->accepted_at == Counts{80, 45, 25});
}

TEST_CASE("vLLM's old counters are differences from line to line, and begin again with the server") {
  const LogContents contents = read_log(sample("vllm_v0.log"));
  CHECK(contents.format == "vllm-v0");
  REQUIRE(contents.observations.size() == 3);
  const auto steps_at = [&](std::size_t i) { return contents.observations[i].acceptance->steps; };
  CHECK(steps_at(0) == 1000);
  CHECK(steps_at(1) == 500);
  CHECK(steps_at(2) == 400);
  CHECK(contents.observations[0].acceptance->accepted_tokens == 700);
  CHECK(contents.observations[1].acceptance->accepted_tokens == 400);
  CHECK(contents.observations[2].gamma == 3);
  CHECK(warns(contents, "W05"));
}

TEST_CASE("vLLM's old stage times are those of an iteration, with the counters before or behind them") {
  const LogContents contents = read_log(sample("vllm_v0.log"));
  REQUIRE(contents.observations.size() == 3);
  CHECK(*contents.observations[0].times.draft_ms == Approx(5.0).epsilon(few_ulp));
  CHECK(*contents.observations[0].times.verification_ms == Approx(31.5).epsilon(few_ulp));
  CHECK_FALSE(contents.observations[1].times.draft_ms);
  CHECK(*contents.observations[2].times.draft_ms == Approx(9.0).epsilon(few_ulp));
  CHECK(contents.observations[0].requests == 4.0);
  CHECK(contents.observations[0].waiting == 3.0);
  CHECK(*contents.observations[0].times.iteration_ms == Approx(85.0).epsilon(few_ulp));
}

TEST_CASE("vLLM's old counters that no steps explain are left out with a warning") {
  const LogContents contents = read_log(
      "Speculative metrics: Draft acceptance rate: 0.5, System efficiency: 0.4, Number of speculative tokens: 3, "
      "Number "
      "of accepted tokens: 50, Number of draft tokens: 100, Number of emitted tokens: 80.\n");
  REQUIRE(contents.observations.size() == 1);
  CHECK_FALSE(contents.observations[0].acceptance);
  CHECK(warns(contents, "W18"));
}

TEST_CASE("a scrape gives the counters of all engines, and a series that comes again begins the next") {
  const LogContents contents = read_log(sample("prometheus.prom"));
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.engine == "vllm");
  const Observation& first = contents.observations[0];
  CHECK(first.span == logs::Span::run);
  CHECK(first.gamma == 3);
  CHECK(first.acceptance->steps == 3000);
  CHECK(first.acceptance->accepted_at == Counts{2400, 1350, 750});
  CHECK(first.requests == 9.0);
  CHECK(warns(contents, "W02"));
  const auto between = logs::difference(contents.observations[1], first);
  REQUIRE(between);
  CHECK(between->acceptance->steps == 6000);
  CHECK(between->acceptance->drafted_tokens == 18000);
  CHECK(between->acceptance->accepted_at == Counts{4800, 2700, 1500});
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
