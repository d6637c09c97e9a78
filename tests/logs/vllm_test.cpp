// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

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

TEST_CASE("an engine line of another moment than the metrics after it is a window of its own") {
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

TEST_CASE("windows that begin or end with nothing running are distinguished from full ones") {
  const auto partial = [](const std::string& name) {
    std::vector<bool> all;
    for (const Observation& window : read_log(sample(name)).observations) all.push_back(window.partial.value_or(false));
    return all;
  };
  CHECK(partial("vllm_burst.log") == std::vector<bool>{true, false, false, false, false, false});
  CHECK(partial("vllm_ends_idle.log") == std::vector<bool>{true, false, false, false, false, false, true});
  const auto line = [](const std::string& clock, const std::string& running) {
    return "INFO 03-04 " + clock +
           " [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
           "throughput: 40.0 tokens/s, Running: " +
           running + " reqs, Waiting: 0 reqs\n";
  };
  const LogContents pause = read_log(line("10:00:00", "4") + line("10:00:10", "4") + line("10:00:20", "4") +
                                     line("10:05:00", "4") + line("10:05:10", "0") + line("10:05:20", "4"));
  REQUIRE(pause.observations.size() == 6);
  CHECK_FALSE(pause.observations[2].partial);
  CHECK(pause.observations[3].partial == true);
  CHECK(pause.observations[4].partial == true);
  CHECK(pause.observations[5].partial == true);
  CHECK(pause.observations[4].requests == 0.0);
}

TEST_CASE("windows of vLLM last as long as their lines are apart, ten seconds unless they tell") {
  const LogContents contents = read_log(sample("vllm_dynamic.log"));
  CHECK(*contents.observations.at(0).times.duration_s <= 6.0);  // not since the last draft, minutes ago
  CHECK(*contents.observations.at(1).times.duration_s == Approx(5.0).epsilon(0.01));
  CHECK(read_log(engine).observations.at(0).times.duration_s == 10.0);
  std::string many;
  for (int i = 0; i < 9000; ++i) {
    std::string line = engine;
    many +=
        line.replace(line.find("10:00:10"), 8, fmt::format("{:02}:{:02}:{:02}", i / 720 % 24, i / 12 % 60, i % 12 * 5));
  }
  double seconds = 0.0;
  for (const Observation& window : read_log(many).observations) seconds += window.times.duration_s.value_or(0.0);
  CHECK(seconds == Approx(9000 * 5.0).epsilon(0.001));  // pooled ones too
}

TEST_CASE("lines of vLLM that were picked from a longer log are windows of ten seconds if their tokens say so") {
  const auto window = [](int minute, double tokens_per_s, int steps, int accepted) {
    return fmt::format(
        "INFO 03-03 10:{:02}:00 [loggers.py:248] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation "
        "throughput: {:.1f} tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 9.0%, Prefix cache hit "
        "rate: 0.0%\n"
        "INFO 03-03 10:{:02}:00 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: {:.2f}, Accepted "
        "throughput: {:.2f} tokens/s, Drafted throughput: {:.2f} tokens/s, Accepted: {} tokens, Drafted: {} tokens, "
        "Per-position acceptance rate: 0.800, 0.600, 0.400, Avg Draft acceptance rate: 60.0%\n",
        minute, tokens_per_s, minute, 1.0 + static_cast<double>(accepted) / steps, accepted / 60.0, 3.0 * steps / 60.0,
        accepted, 3 * steps);
  };
  const auto seconds = [&](double first, double second) {
    std::vector<std::optional<double>> durations;
    const std::string log = window(1, first, 1000, 1800) + window(2, second, 1010, 1818) + window(3, 280.0, 1000, 1800);
    for (const Observation& one : read_log(log).observations) durations.push_back(one.times.duration_s);
    return durations;
  };
  using Durations = std::vector<std::optional<double>>;
  CHECK(seconds(280.0, 282.8) == Durations{10.0, 10.0, 10.0});
  CHECK(seconds(280.0, 140.0) == Durations{60.0, 60.0, 60.0});
}

TEST_CASE("windows of an n-gram drafter without a draft are steps of a speculating server") {
  const LogContents contents = read_log(sample("vllm_ngram.log"));
  REQUIRE(contents.observations.size() > 3);
  const Observation& drafted = contents.observations[0];
  CHECK(drafted.acceptance->steps == 50);
  CHECK(drafted.acceptance->generated_tokens == 100);
  CHECK_FALSE(drafted.adaptive);
  const Observation& none = contents.observations[1];
  CHECK(none.decoding == Decoding::speculative);
  CHECK(none.gamma == 3);
  CHECK(none.acceptance->steps == 0);
  CHECK(none.acceptance->generated_tokens == 50);
  CHECK(*none.times.iteration_ms == Approx(200.0).epsilon(few_ulp));
}

TEST_CASE("n-gram counters hold the steps that drafted, the generated tokens all of them") {
  std::string log = settings + engine +
                    metrics(
                        "Mean acceptance length: 2.00, Accepted throughput: 15.00 tokens/s, Drafted "
                        "throughput: 45.00 tokens/s, Accepted: 150 tokens, Drafted: 450 tokens, Per-position "
                        "acceptance rate: 0.500, 0.300, "
                        "0.200, Avg Draft acceptance rate: 33.3%");
  const Observation window = read_log(log).observations.at(0);
  CHECK(window.acceptance->steps == 150);
  CHECK(window.acceptance->generated_tokens == 750);  // 150 accepted, 150 steps with a draft, 450 without
  CHECK(*window.times.iteration_ms == Approx(1000.0 * 3.0 * 10.0 / 600.0).epsilon(few_ulp));
}

TEST_CASE("windows of vLLM name the method of their server, one after the other in one log") {
  const std::string second =
      "INFO [core.py:9] LLM engine (v0.8.5) SpeculativeConfig(method='eagle3', num_spec_tokens=3)\n";
  const std::string drafts = metrics("Draft acceptance rate: 50.0%, Accepted: 75 tokens, Drafted: 150 tokens");
  const LogContents contents = read_log(settings + engine + drafts + second + engine + drafts);
  REQUIRE(contents.observations.size() == 2);
  CHECK(contents.observations[0].drafter == "ngram");
  CHECK(contents.observations[1].drafter == "eagle3");
}

TEST_CASE("a schedule by load has the draft length of each window, a change within one is adaptive") {
  const LogContents contents = read_log(sample("vllm_dynamic.log"));
  REQUIRE(contents.observations.size() > 5);
  CHECK(contents.observations[0].adaptive == true);
  CHECK(contents.observations[1].gamma == 1);
  CHECK_FALSE(contents.observations[1].adaptive);
  CHECK(contents.observations[1].acceptance->accepted_at == Counts{149});
  CHECK(contents.observations[5].gamma == 3);
}

TEST_CASE("an engine that varies its drafts is adaptive, by its settings or by its windows") {
  const auto window = [](int drafted) {
    return engine + metrics(
                        "Mean acceptance length: 2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 20.00 "
                        "tokens/s, Accepted: 150 tokens, Drafted: " +
                        std::to_string(drafted) +
                        " tokens, Per-position acceptance rate: 0.800, 0.450, 0.250, 0.000, Avg Draft acceptance "
                        "rate: 70.0%");
  };
  const LogContents varied = read_log(window(331) + window(289) + window(300));
  for (const Observation& one : varied.observations) CHECK(one.adaptive == true);
  const std::string arguments =
      "INFO [api_utils.py:286] non-default args: {'model': 'target', 'speculative_config': {'method': 'dspark', "
      "'num_speculative_tokens': 4, 'enable_adaptive_verification': True}}\n"
      "INFO [core.py:9] LLM engine (v0.32.0) SpeculativeConfig(method='dspark', num_spec_tokens=4)\n";
  CHECK(read_log(arguments + window(300)).observations.at(0).adaptive == true);
  std::string off = arguments;
  off.replace(off.find("True"), 4, "False");
  CHECK_FALSE(read_log(off + window(300)).observations.at(0).adaptive);
}

TEST_CASE("a line of vLLM that is cut short has what stands in it whole, and nothing else") {
  const std::string log = engine + metrics(
                                       "Mean acceptance length: 2.46, Accepted throughput: 14.60 tokens/s, Drafted "
                                       "throughput: 30.00 tokens/s, Accepted: 146 tokens, Drafted: 300 tokens, "
                                       "Per-position acceptance rate: 0.790, 0.440, 0.230, Avg Draft acceptance "
                                       "rate: 48.7%");
  const Observation whole = read_log(log).observations.at(0);
  REQUIRE(whole.acceptance->accepted_at == Counts{79, 44, 23});
  const auto end_of = [&](const std::string& words) { return log.find(words) + words.size(); };
  for (std::size_t size = end_of("SpecDecoding"); size < log.size(); ++size) {
    const std::string cut = log.substr(0, size);
    INFO(cut.substr(engine.size()));
    const LogContents contents = read_log(cut);
    REQUIRE(contents.observations.size() == 1);
    const Observation& window = contents.observations[0];
    CHECK(window.times.output_tokens_per_s == 75.0);
    CHECK(window.acceptance.has_value() == (size >= end_of("2.46")));
    CHECK((window.gamma == 3) == (size >= end_of("throughput: 30.00 tokens/s")));
    if (!window.acceptance) continue;
    const bool counted = size >= end_of("Drafted: 300 tokens");
    CHECK(window.acceptance->steps_estimated == !counted);
    CHECK(window.acceptance->steps == (counted ? 100 : 305));  // of 750 tokens
    if (!counted) continue;
    CHECK(window.acceptance->accepted_tokens == 146);
    const Counts& positions = window.acceptance->accepted_at;
    CHECK(positions == (size >= end_of("0.230") ? Counts{79, 44, 23} : Counts{}));
  }
}

TEST_CASE("a line of vLLM that is cut in the middle of a log, or is alone, is read") {
  const std::string cut = metrics(
      "Mean acceptance length: 2.46, Accepted throughput: 14.60 tokens/s, Drafted "
      "throughput: 30.00 tokens/s, Accepted: 146 tokens, Drafted: 300 tokens, Per-pos");
  for (const std::string& log : {cut, cut + "INFO: 127.0.0.1 - \"POST /v1/completions HTTP/1.1\" 200 OK\n" + cut}) {
    const auto windows = posted_runs(log, "vllm");
    REQUIRE(windows.size() == (log == cut ? 1 : 2));
    for (const Observation& window : windows) {
      CHECK(window.gamma == 3);
      CHECK(window.acceptance->steps == 100);
    }
  }
}

TEST_CASE("a cut line of vLLM whose numbers do not tell K has that of the window before it") {
  const std::string whole = metrics(
      "Mean acceptance length: 2.46, Accepted: 146 tokens, Drafted: 300 tokens, "
      "Per-position acceptance rate: 0.790, 0.440, 0.230, Avg Draft acceptance rate: "
      "48.7%");
  for (const char* cut : {"Mean acceptance length: 1.00, Accepted throughput: 0.00 tokens/s, Drafted throughput: 3.00 "
                          "tokens/s, Accepted: 0 tokens, Drafted: 30 tokens, Per-pos",
                          "Mean acceptance length: 2.50, Acce"}) {
    const auto windows = posted_runs(whole + metrics(cut), "vllm");
    REQUIRE(windows.size() == 2);
    CHECK(windows[1].gamma == 3);
  }
}

TEST_CASE("metrics of vLLM that were quoted in part, or a number a line, are those of the line") {
  const std::string list =
      "SpecDecoding metrics:\n  Mean acceptance length: 3.40\n  Accepted throughput: 12.00 tokens/s\n  Drafted "
      "throughput: 25.00 tokens/s\n";
  const std::string counts = "  Accepted: 120 tokens\n  Drafted: 250 tokens\n";
  const std::string part = replaced(list, "Mean acceptance length: 3.40\n", "Mean acceptance length: 3.40,\n");
  for (const std::string& log : {part, list + counts, part + counts}) {
    INFO(log);
    const auto windows = posted_runs(log, "vllm");
    REQUIRE(windows.size() == 1);
    CHECK(windows[0].gamma == 5);
    CHECK(windows[0].acceptance.has_value() == (log.find("Accepted: ") != log.npos));
    if (windows[0].acceptance) CHECK(windows[0].acceptance->steps == 50);
    if (!windows[0].acceptance) CHECK(windows[0].acceptance_length == 3.4);
  }
}

TEST_CASE("counters of vLLM that contradict each other are rejected with their line") {
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

TEST_CASE("vLLM's old stage times are those of an iteration, with the counters before or after them") {
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

}  // namespace foredraft::tests
