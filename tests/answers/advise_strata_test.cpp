// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/comparison.hpp"
#include "app/texts/texts.hpp"
#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Advice;
using answers::StratumTokens;

/// `number` requests of 100 steps of three drafts, each accepted with `alpha`.
void add_requests(logs::ObservedLog& log, std::size_t number, double alpha, const logs::Stratum& stratum) {
  for (std::size_t i = 0; i < number; ++i) {
    logs::Observation request = speculative(3, 1, 12.0, alpha, 100);
    request.span = logs::Span::request;
    request.stratum = stratum;
    log.contents.observations.push_back(request);
  }
}

double length_of_requests(double alpha) {
  const logs::Observation request = speculative(3, 1, 12.0, alpha, 100);
  return 1.0 + static_cast<double>(*request.acceptance->accepted_tokens) / 100.0;
}

bool has_line(const Advice& advice, const std::string& line) {
  return ("\n" + app::to_text(advice, "")).find("\n" + line) != std::string::npos;
}

}  // namespace

TEST_CASE("kinds of prompts and contexts have an acceptance length of their own, the lowest first") {
  logs::ObservedLog log = log_of({});
  add_requests(log, 5, 0.8, {.category = "coding", .context_tokens = 300.0});
  add_requests(log, 4, 0.5, {.category = "writing", .context_tokens = 1500.0});
  add_requests(log, 1, 0.9, {.category = "rare", .context_tokens = 2048.0});  // fewer than 200 steps
  const Advice advice = answers::advise({.logs = {log}});
  REQUIRE(advice.strata.size() == 4);
  const auto is = [](const StratumTokens& one, const std::string& dimension, const std::string& name, double alpha) {
    CHECK(one.dimension == dimension);
    CHECK(one.name == name);
    CHECK(one.tokens.mean == Approx(length_of_requests(alpha)));
  };
  is(advice.strata[0], "category", "writing", 0.5);
  is(advice.strata[1], "category", "coding", 0.8);
  is(advice.strata[2], "context", "below 512", 0.8);
  is(advice.strata[3], "context", "1k to 2k", 0.5);
  CHECK(advice.strata[1].observations == 5);
  CHECK(advice.strata[1].steps == 500.0);
  CHECK(has_line(advice, "by category writing 1.88 +- "));
  CHECK(has_line(advice, "by context  below 512 2.95 +- "));
}

TEST_CASE("the plain run of requests is the nearest of those at several contexts, and of their kind of prompts") {
  logs::ObservedLog log = log_of({});
  const auto add_plain = [&](double context, double ms, const std::optional<std::string>& category) {
    logs::Observation run = plain(1, ms);
    run.span = logs::Span::run;
    run.stratum = {.category = category, .context_tokens = context};
    log.contents.observations.push_back(run);
  };
  add_requests(log, 5, 0.8, {.context_tokens = 2500.0});
  for (const double context : {1900.0, 3000.0, 9000.0}) add_plain(context, 10.0 + context / 6000.0, std::nullopt);
  const Advice advice = answers::advise({.logs = {log}});
  REQUIRE(advice.loads.size() == 1);
  REQUIRE(advice.loads[0].plain_ms);
  CHECK(advice.loads[0].plain_ms->mean == Approx(10.5));
  CHECK(std::ranges::any_of(advice.warnings, [](const logs::LogWarning& one) {
    return one.message == "of the plain runs the one at 3k tokens of context is compared, nearest to 2500";
  }));
  const answers::Comparison comparison = answers::compare({.reference = log});
  REQUIRE(comparison.runs.at(0).find("speedup") != nullptr);
  REQUIRE(advice.loads[0].speedup());
  CHECK(comparison.runs[0].find("speedup")->estimate.value == Approx(advice.loads[0].speedup()->value));
  // Of requests without a context none is the nearest.
  log.contents.observations.erase(log.contents.observations.begin(), log.contents.observations.begin() + 5);
  add_requests(log, 5, 0.8, {});
  const Advice unknown = answers::advise({.logs = {log}});
  REQUIRE(unknown.loads.at(0).plain_ms);
  CHECK(unknown.loads[0].plain_ms->mean == Approx(10.0 + 13.9 / 18.0));  // the mean of all
  CHECK(unknown.runs.size() == 2);

  logs::ObservedLog tasks = log_of({});
  for (const auto& [category, ms] : std::vector<std::pair<std::optional<std::string>, double>>{
           {std::nullopt, 10.0}, {"code", 14.0}, {"chat", 12.0}}) {
    for (const bool drafts : {false, true}) {
      logs::Observation run = drafts ? speculative(3, 1, ms, 0.8, 100) : plain(1, ms);
      run.span = logs::Span::run;
      run.stratum.category = category;
      tasks.contents.observations.push_back(run);
    }
  }
  const Advice by_task = answers::advise({.logs = {tasks}});
  REQUIRE(by_task.loads.size() == 3);
  for (const answers::LoadAdvice& load : by_task.loads) {
    REQUIRE(load.plain);
    CHECK(by_task.runs[*load.plain].run.load == load.load);
  }
}

TEST_CASE("one kind of prompts, or windows that mix them, give no table") {
  logs::ObservedLog log = log_of({});
  add_requests(log, 20, 0.8, {.reasoning = true, .category = "coding"});
  CHECK(answers::advise({.logs = {log}}).strata.empty());
  logs::ObservedLog windows = log_of({speculative(3, 1, 12.0, 0.8), speculative(3, 1, 12.0, 0.5)});
  windows.contents.observations.front().stratum.category = "a";
  windows.contents.observations.back().stratum.category = "b";
  CHECK(answers::advise({.logs = {windows}}).strata.empty());
}

TEST_CASE("the spread of requests is shown by its 10, 50 and 90 % quantiles") {
  logs::ObservedLog log = log_of({});
  for (int i = 0; i <= 10; ++i) add_requests(log, 1, 0.4 + 0.05 * i, {});
  const Advice advice = answers::advise({.logs = {log}});
  REQUIRE(advice.spread);
  CHECK(advice.spread->requests == 11);
  CHECK(advice.spread->tenth == Approx(length_of_requests(0.45)));
  CHECK(advice.spread->half == Approx(length_of_requests(0.65)));
  CHECK(advice.spread->nine_tenths == Approx(length_of_requests(0.85)));
  CHECK(has_line(advice, "spread      of 11 requests 10 % stay below 1.7"));
  logs::ObservedLog few = log_of({});
  add_requests(few, 9, 0.8, {});
  CHECK_FALSE(answers::advise({.logs = {few}}).spread);
  const nlohmann::ordered_json json = answers::to_json(advice, "");
  CHECK(json.at("spread").at("p50") == advice.spread->half);
}

TEST_CASE("windows with more and with fewer prompts show what prompts add to an iteration") {
  logs::ObservedLog log{.file = "a.log", .sha256 = "a", .contents = {}};
  for (int i = 0; i < 12; ++i) {
    const double rate = 500.0 * i;
    logs::Observation window = speculative(3, 8, 12.0 / (1.0 - 0.04 * rate / 1000.0), 0.8);
    window.times.prompt_tokens_per_s = rate;
    window.times.output_tokens_per_s = 10'000.0;
    log.contents.observations.push_back(window);
  }
  const Advice advice = answers::advise({.logs = {log}});
  REQUIRE(advice.loads.size() == 1);
  REQUIRE(advice.loads[0].prefill);
  CHECK(advice.loads[0].prefill->decode_ms.mean == Approx(12.0));
  CHECK(advice.loads[0].prefill->per_prompt_token_ms.mean == Approx(0.04));
  CHECK(advice.loads[0].prompt_share == Approx(2750.0 / 12'750.0));
  const nlohmann::ordered_json json = answers::to_json(advice, "");
  CHECK(json.at("loads").at(0).at("prefill").at("decode_ms") == advice.loads[0].prefill->decode_ms.mean);
}

}  // namespace foredraft::tests
