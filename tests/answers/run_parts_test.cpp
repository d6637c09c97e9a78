// SPDX-License-Identifier: Apache-2.0
#include "answers/run_parts.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

#include "answers/runs.hpp"
#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::RunPart;
using answers::RunParts;
using logs::Observation;

/// A window of a server by its throughput.
Observation window_of(double requests, double output_tokens_per_s, double prompt_tokens_per_s = 0.0) {
  Observation window = plain(requests, 1.0);
  window.times = {
      .duration_s = 10.0, .output_tokens_per_s = output_tokens_per_s, .prompt_tokens_per_s = prompt_tokens_per_s};
  return window;
}

RunParts parts(const std::vector<Observation>& observations, bool decode_only = true) {
  return answers::parts_of(answers::placed(observations), decode_only);
}

std::vector<bool> timed(const std::vector<Observation>& observations) {
  std::vector<bool> all;
  for (const RunPart& part : parts(observations).parts) all.push_back(part.request_ms.has_value());
  return all;
}

double tpot_ms(const RunPart& part) { return part.request_ms.value() / part.timed_tokens.value(); }

}  // namespace

TEST_CASE("a time is the client's, else the engine's iterations, else the throughput") {
  Observation window = speculative(3, 8, 12.0, 0.5, 1000);
  window.times.tpot_ms = 5.0;
  window.times.output_tokens_per_s = 500.0;
  const double tokens = answers::length_of(window).value();
  CHECK(tokens == Approx(1.875));
  CHECK(tpot_ms(parts({window}).parts.at(0)) == Approx(5.0));
  window.times.tpot_ms.reset();
  CHECK(tpot_ms(parts({window}).parts.at(0)) == Approx(12.0 / tokens));
  window.times.iteration_ms.reset();
  CHECK(tpot_ms(parts({window}).parts.at(0)) == Approx(16.0));  // 8 requests share 500 tokens per second
  window.times.output_tokens_per_s.reset();
  CHECK_FALSE(parts({window}).parts.at(0).request_ms);
}

TEST_CASE("windows without speculation are weighted by their tokens: a slow one counts less than a fast one") {
  Observation fast = window_of(1, 80.0);
  Observation slow = window_of(1, 20.0);
  fast.times.iteration_ms = 12.5;  // as derived from the throughput
  slow.times.iteration_ms = 50.0;
  const RunParts all = parts({fast, slow});
  double request_ms = 0.0;
  double tokens = 0.0;
  for (const RunPart& part : all.parts) {
    request_ms += part.request_ms.value();
    tokens += part.timed_tokens.value();
  }
  // 1000 tokens in 20 s; the mean of both windows would be 31.25 ms.
  CHECK(request_ms / tokens == Approx(20.0));
}

TEST_CASE("throughput of a whole run at a stated rate is no time, that of a window is") {
  Observation run = window_of(8, 500.0);
  run.times.request_rate_per_s = 2.0;
  CHECK(parts({run}).parts.at(0).request_ms);
  run.span = logs::Span::run;
  CHECK_FALSE(parts({run}).parts.at(0).request_ms);
}

TEST_CASE("a request is timed by its tokens after the first one") {
  Observation request = plain(1, 10.0);
  request.span = logs::Span::request;
  request.stratum.output_tokens = 101.0;
  const RunPart part = parts({request}).parts.at(0);
  CHECK(part.timed_tokens == 100.0);
  CHECK(part.request_ms == 1000.0);
}

TEST_CASE("steps without a draft count as steps if the generated tokens show them") {
  Observation window = speculative(3, 8, 12.0, 0.5, 100);
  const double accepted = static_cast<double>(*window.acceptance->accepted_tokens);
  window.acceptance->generated_tokens = 100 + *window.acceptance->accepted_tokens + 300;
  CHECK(answers::length_of(window) == Approx(1.0 + accepted / 400.0));
  CHECK(parts({window}).parts.at(0).weight == 400.0);
  window.acceptance = logs::AcceptanceCounts{.steps = 0, .generated_tokens = 50};
  CHECK(answers::length_of(window) == 1.0);
  CHECK(parts({window}).parts.at(0).weight == 50.0);
}

TEST_CASE("windows in which the requests in flight changed lose their times and are counted") {
  const RunParts all = parts({window_of(8, 800.0), window_of(8, 800.0), window_of(16, 1200.0), window_of(16, 1600.0)});
  CHECK(all.left_out.unsteady == 1);
  CHECK_FALSE(all.parts.at(2).request_ms);
  CHECK(all.left_out.sum() == 1);
  CHECK(timed({window_of(8, 800.0), window_of(9, 820.0), window_of(8, 800.0)}) == std::vector<bool>{true, true, true});
  // Before an idle window the requests ran only part of the time.
  CHECK(timed({window_of(8, 800.0), window_of(8, 300.0), window_of(0, 0.0), window_of(0, 0.0)}) ==
        std::vector<bool>{true, false, false, false});
  // The tokens of an idle window came from the requests before it, which ran until then.
  CHECK(timed({window_of(4, 40.0), window_of(4, 41.0), window_of(4, 36.0), window_of(0, 19.0)}) ==
        std::vector<bool>{true, true, true, false});
  // The first window began before its requests did.
  CHECK(timed({window_of(8, 300.0), window_of(8, 800.0), window_of(8, 800.0)}) == std::vector<bool>{false, true, true});
}

TEST_CASE("if no window is steady all keep their times") {
  CHECK(timed({window_of(8, 300.0), window_of(0, 0.0)}) == std::vector<bool>{true, false});
  CHECK(parts({window_of(8, 300.0), window_of(0, 0.0)}).left_out.sum() == 0);
}

TEST_CASE("windows with far fewer iterations than others were partly idle and lose their times") {
  const RunParts all =
      parts({window_of(8, 800.0), window_of(8, 810.0), window_of(8, 400.0), window_of(8, 790.0), window_of(8, 800.0)});
  CHECK(all.left_out.partial == 1);
  CHECK_FALSE(all.parts.at(2).request_ms);
  // Scatter of that size is not idleness, and three windows do not determine the normal rate.
  CHECK(parts({window_of(8, 800.0), window_of(8, 600.0), window_of(8, 500.0), window_of(8, 900.0)}).left_out.partial ==
        0);
  CHECK(parts({window_of(8, 800.0), window_of(8, 800.0), window_of(8, 400.0)}).left_out.partial == 0);
}

TEST_CASE("a window that began idle, as its log shows, loses its time if it was slow") {
  const auto left_out = [](double output_tokens_per_s) {
    Observation began_idle = window_of(8, output_tokens_per_s);
    began_idle.partial = true;
    return parts({window_of(8, 800.0), window_of(8, 800.0), began_idle}).left_out.partial;
  };
  CHECK(left_out(750.0) == 1);
  CHECK(left_out(800.0) == 0);
}

TEST_CASE("a window that ended idle has no speed") {
  const RunParts all = parts({window_of(0, 36.5), window_of(1, 60.0)});
  CHECK_FALSE(all.parts.at(0).output_tokens_per_s);
  CHECK(all.parts.at(1).output_tokens_per_s == 60.0);
  CHECK(all.left_out.partial == 1);
}

TEST_CASE("windows of prompts lose their times if others only decode, and are counted") {
  const std::vector windows{window_of(8, 800.0), window_of(8, 750.0, 700.0), window_of(8, 400.0, 2000.0)};
  CHECK(parts(windows).left_out.prefill == 1);
  CHECK_FALSE(parts(windows).parts.at(2).request_ms);
  CHECK(parts(windows, false).left_out.prefill == 0);
  // Nor does one of prompts with hardly any iterations, beside any other.
  const std::vector few{window_of(8, 700.0, 1200.0), window_of(8, 10.0, 9000.0)};
  CHECK(parts(few, false).left_out.prefill == 1);
  CHECK_FALSE(parts(few, false).parts.at(1).request_ms);
  const auto separates = [](const std::vector<Observation>& observations) {
    return answers::separates_prefill(answers::placed(observations));
  };
  CHECK(separates(windows) == true);
  CHECK(separates({window_of(8, 800.0, 100.0), window_of(8, 400.0, 2000.0)}) == false);
  CHECK(separates({window_of(8, 800.0), window_of(8, 800.0, 100.0)}) == std::nullopt);
}

TEST_CASE("if only the rate of prompts was logged, their share is unknown and no window is omitted") {
  Observation window = plain(8, 10.0);
  window.times.prompt_tokens_per_s = 500.0;
  Observation decodes = window;
  decodes.times.prompt_tokens_per_s = 0.0;
  const answers::RunList runs = answers::runs_of(std::vector{log_as_is({window, window, decodes})}, {});
  REQUIRE(runs.all.size() == 1);
  CHECK_FALSE(runs.all[0].prompt_share);
  CHECK(runs.all[0].left_out.sum() == 0);
}

TEST_CASE("a run without windows that only decode keeps its prompts, and so does the run compared with it") {
  const auto speculating = [](double output, double prompts) {
    Observation window = speculative(3, 8, 1.0, 0.8);
    window.times = window_of(8, output, prompts).times;
    return window;
  };
  const std::vector with_decode{speculating(2000.0, 0.0), speculating(2000.0, 0.0), speculating(500.0, 2000.0)};
  const std::vector mixed{window_of(8, 800.0, 100.0), window_of(8, 300.0, 1000.0)};
  const std::vector decode{window_of(8, 800.0), window_of(8, 800.0), window_of(8, 300.0, 1000.0)};
  const auto left_out = [&](const std::vector<Observation>& of_plain) {
    std::size_t all = 0;
    const std::vector logs{log_as_is(with_decode, "a"), log_as_is(of_plain, "b")};
    for (const answers::Run& run : answers::runs_of(logs, {}).all) all += run.left_out.prefill;
    return all;
  };
  CHECK(left_out(decode) == 2);
  CHECK(left_out(mixed) == 0);
}

TEST_CASE("if every draft was accepted a part is marked, for any way of counting") {
  Observation window = speculative(3, 8, 12.0, 1.0, 100);
  CHECK(parts({window}).parts.at(0).all_accepted);
  window.acceptance->drafted_tokens.reset();
  CHECK(parts({window}).parts.at(0).all_accepted);
  CHECK_FALSE(parts({speculative(3, 8, 12.0, 0.9, 100)}).parts.at(0).all_accepted);
}

}  // namespace foredraft::tests
