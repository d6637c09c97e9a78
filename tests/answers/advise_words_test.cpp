// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/texts/texts.hpp"
#include "tests/answers/advise_testing.hpp"

/// What the first sentence of an advice says about loads that were measured one by one.
namespace foredraft::tests {
namespace {

using answers::Advice;
using logs::Observation;

constexpr double plain_ms = 10.0;

/// A run of a load generator; `gamma` 0: without speculation.
Observation run_of(std::int64_t gamma, double requests, double speedup, const std::string& drafter = "") {
  Observation run = plain(requests, plain_ms / speedup);
  run.span = logs::Span::run;
  if (gamma == 0) return run;
  run.decoding = logs::Decoding::speculative;
  run.gamma = gamma;
  if (!drafter.empty()) run.drafter = drafter;
  return run;
}

Observation at_once(Observation run) {
  run.offered_requests = std::exchange(run.requests, std::nullopt);
  return run;
}

std::string action_of(const std::vector<Observation>& runs) {
  return answers::advise({.logs = {log_as_is(runs)}}).action;
}

}  // namespace

TEST_CASE("each load has the drafter that is clearly the fastest there") {
  const auto action = [](double other_at_2) {
    std::vector<Observation> runs;
    for (const auto& [requests, tree, heads] :
         {std::tuple{2.0, other_at_2, 1.50}, {6.0, other_at_2, 1.45}, {40.0, 0.85, 1.30}}) {
      runs.push_back(run_of(0, requests, 1.0));
      runs.push_back(run_of(4, requests, tree, "tree"));
      runs.push_back(run_of(1, requests, heads, "heads"));
    }
    return action_of(runs);
  };
  CHECK(action(1.90) ==
        "Use tree at K = 4 at 2 requests (1.90x), at 6 requests (1.90x); heads at K = 1 at 40 requests (1.30x); at all "
        "of them heads at K = 1 gives 1.30x at 40 requests to 1.50x at 2 requests.");
  // What single runs may differ by for no reason is no reason to change the drafter.
  CHECK(action(1.52).starts_with("Use heads at K = 1: 1.50x at 2 requests"));
}

TEST_CASE("no setting is kept for a load at which it loses") {
  const auto action = [](double at_many) {
    return action_of(
        {at_once(run_of(0, 300, 1.0)), at_once(run_of(5, 300, at_many)), run_of(0, 3, 1.0), run_of(5, 3, 1.7)});
  };
  CHECK(action(0.85) == "Use K = 5 at 3 requests (1.70x); off at 300 requests at once (K = 5: 0.85x).");
  CHECK(action(0.98).starts_with("Keep K = 5: "));
  CHECK(action(1.20).starts_with("Keep K = 5: "));
  // Kinds of prompts come mixed: one setting serves all of them.
  std::vector<Observation> kinds{run_of(0, 3, 1.0), run_of(5, 3, 0.85), run_of(0, 3, 1.0), run_of(5, 3, 1.7)};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].stratum.category = i < 2 ? "prose" : "code";
  CHECK(action_of(kinds).starts_with("Keep K = 5: "));
}

TEST_CASE("a schedule names the loads that were measured, not where between them it changes") {
  std::vector<Observation> runs;
  for (const auto& [requests, longer, shorter] :
       {std::tuple{1.0, 2.2, 1.6}, {2.0, 2.1, 1.6}, {10.0, 1.1, 1.4}, {50.0, 0.6, 0.8}}) {
    runs.push_back(run_of(0, requests, 1.0));
    runs.push_back(run_of(6, requests, longer));
    runs.push_back(run_of(2, requests, shorter));
  }
  CHECK(action_of(runs).starts_with(
      "Use K = 6 up to 2 requests (2.20x at 1 request), K = 2 at 10 requests (1.40x), off from 50 requests; "));
}

TEST_CASE("drafters without a speed are each named with their acceptance") {
  Observation one = speculative(4, 8, 12.0, 0.5), two = speculative(2, 8, 12.0, 0.7);
  one.times = two.times = {};
  one.drafter = "first";
  two.drafter = "second";
  CHECK(advice_of({one, two}).action ==
        "second at K = 2 yields 2.19 tokens per iteration, first at K = 4 1.94: each pays where its iteration takes "
        "fewer decode steps than that; no speedup was read.");
  // The lines below name them too.
  two = speculative(4, 8, 12.0, 0.7);
  two.times = {};
  two.drafter = "second";
  const auto text = [](const std::vector<Observation>& windows) { return app::to_text(advice_of(windows), ""); };
  CHECK(text({one, two}).find("34 % of drafts accepted") == std::string::npos);
  CHECK(text({one, two}).find("of drafts accepted (first), ") != std::string::npos);
  CHECK(text({one, two}).find("first 1: 1.51, 2: 1.76, 3: 1.88, 4: 1.94, 5: ") != std::string::npos);
  CHECK(text({one, two}).find("second 1: 1.72, 2: 2.21, 3: 2.54, 4: 2.77 (logged), 5: ") != std::string::npos);
  CHECK(text({one}).find("by K, model acceptance length 1: 1.51, 2: 1.76, ") != std::string::npos);
}

TEST_CASE("speeds that compare nothing are told all the same") {
  constexpr std::string_view nothing = "No conclusion: neither acceptance nor the speeds of both arms were read.";
  std::vector<Observation> answers{run_of(0, 1, 0.25), run_of(0, 1, 0.3)};
  for (Observation& one : answers) one.decoding = logs::Decoding::unknown;
  CHECK(action_of(answers) == std::string(nothing) + " Read but not compared: 25, 30 tokens/s of a request.");
  answers.pop_back();
  CHECK(action_of(answers) == std::string(nothing) + " Read but not compared: 25 tokens/s of a request.");
  answers[0].decoding = logs::Decoding::plain;
  CHECK(action_of(answers) == std::string(nothing) + " Read but not compared: 25 tokens/s of a request.");
  // Both arms, but at other loads.
  std::vector<Observation> uneven{run_of(0, 64, 0.2), run_of(0, 1, 0.25)};
  uneven[0].decoding = logs::Decoding::speculative;
  uneven[1].decoding = logs::Decoding::plain;
  CHECK(action_of(uneven) ==
        "No conclusion: the speeds with and without speculation are not of equal conditions, 64 requests against 1 "
        "request. Read but not compared: 25, 20 tokens/s of a request at 1, 64 requests.");
  CHECK(advice_of(uneven).why_not ==
        "the plain run differs (64 requests against 1 request): log it under equal conditions");
  // Of many the ends, of all requests if nothing is said of one.
  answers.assign(5, Observation{.span = logs::Span::run});
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i].times.output_tokens_per_s = 200.0 + static_cast<double>(i);
  CHECK(action_of(answers) ==
        std::string(nothing) + " Read but not compared: 5 from 200 to 204 tokens/s of all requests together.");
  // Of a load each they are told by load; how much longer a step gets only if each is one of a token.
  std::vector<Observation> loads{run_of(0, 4, 0.1), run_of(0, 1, 0.25), run_of(0, 2, 0.2)};
  const auto by_load = [&](logs::Decoding decoding) {
    for (Observation& one : loads) one.decoding = decoding;
    for (Observation& one : loads) one.times.iteration_ms = one.times.tpot_ms;
    return action_of(loads).substr(nothing.size());
  };
  const std::string speeds = " Read but not compared: 25, 20, 10 tokens/s of a request at 1, 2, 4 requests";
  CHECK(by_load(logs::Decoding::unknown) == speeds + ".");
  CHECK(by_load(logs::Decoding::plain) == speeds + "; a step takes 1.25, 2.50 times as long as at 1.");
  loads.push_back(run_of(0, 4, 0.2));
  CHECK(by_load(logs::Decoding::plain) == " Read but not compared: 4 from 10 to 25 tokens/s of a request.");
  // Times of whole answers are no speeds, and what the table has is not said twice.
  logs::ObservedLog log = log_as_is({run_of(0, 1, 0.25)});
  log.contents.warnings.push_back({"W12", 1, "the times are of whole answers: without their tokens"});
  CHECK(answers::advise({.logs = {log}}).action == nothing);
  CHECK(action_of({run_of(3, 1, 2.0)}) == nothing);
}

}  // namespace foredraft::tests
