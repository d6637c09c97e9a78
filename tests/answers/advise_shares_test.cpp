// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Advice;
using answers::PredictedTimes;

Advice advice_for(const std::string& engine, const std::vector<logs::Observation>& windows) {
  logs::ObservedLog log = log_of(windows);
  log.contents.engine = engine;
  return answers::advise({.logs = {log}});
}

/// Half of the interval of the logarithm of the speedup at `gamma`.
double relative_error(const Advice& advice, std::int64_t gamma) {
  const answers::SpeedupRow& at = *row_at(advice.loads.at(0), gamma);
  return 0.5 * std::log(at.high / at.low);
}

}  // namespace

TEST_CASE("the shares of loads are those of all tokens of a log") {
  const Advice advice = advice_of(
      {speculative(3, 1, 12.0, 0.8, 3000), speculative(3, 64, 40.0, 0.8, 1000), plain(1, 10.0), plain(64, 20.0)});
  REQUIRE(advice.loads.size() == 2);
  CHECK(advice.loads[0].share == Approx(0.75).epsilon(0.01));
  CHECK(advice.loads[0].share + advice.loads[1].share == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("a schedule that gains a tenth at a load is worth it if it keeps the graphs, and not in vLLM") {
  const std::vector<logs::Observation> windows{speculative(2, 1, 12.0, 0.9),
                                               speculative(1, 1, 11.0, 0.9),
                                               speculative(2, 64, 34.5, 0.9),
                                               speculative(1, 64, 22.0, 0.9),
                                               plain(1, 10.0),
                                               plain(64, 20.0)};
  for (const auto& [engine, schedules] : {std::pair{"vllm", false}, {"sglang", true}}) {
    const Advice advice = advice_for(engine, windows);
    CAPTURE(engine);
    REQUIRE(advice.recommendation);
    CHECK(advice.recommendation->schedule.empty() != schedules);
  }
}

TEST_CASE("a predicted time is as uncertain as its verified tokens beyond the logged ones, up to twice") {
  PredictedTimes predicted{.evidence = "operators", .error = 0.0, .times = {}};
  for (std::int64_t gamma = 1; gamma <= 12; ++gamma) {
    predicted.times.push_back({.batch = 8.0, .gamma = gamma, .plain = 5.0, .verification = 6.0, .iteration = 6.0});
  }
  const auto advice_at = [&](double error) {
    predicted.error = error;
    return answers::advise({.logs = {log_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0)})}, .predicted = predicted});
  };
  constexpr double error = 0.1;
  constexpr double of_quantiles = 0.1;  // of 4,000 draws: known to 3 %
  const Advice exact = advice_at(0.0);
  const Advice rough = advice_at(error);
  for (const auto& [gamma, doublings] :
       {std::pair<std::int64_t, double>{3, 0.0}, {4, std::log2(1.25)}, {7, 1.0}, {12, 1.0}}) {
    const double more =
        std::sqrt(std::pow(relative_error(rough, gamma), 2) - std::pow(relative_error(exact, gamma), 2));
    CAPTURE(gamma, relative_error(rough, gamma), relative_error(exact, gamma));
    CHECK(more == Approx(1.96 * error * doublings).epsilon(of_quantiles).margin(1e-9));
  }
}

TEST_CASE("without a plain run no setting is advised that may be slower than the others") {
  const auto two_runs = [](std::int64_t gamma, double slow_ms, double fast_ms) {
    return std::vector{speculative(gamma, 1, slow_ms, 0.8), speculative(gamma, 1, fast_ms, 0.8)};
  };
  const auto advised = [&](double change) {
    std::vector<logs::Observation> all = two_runs(2, 20.0, 20.0 - change);
    for (const logs::Observation& one : two_runs(3, 20.0, 20.0 - change)) all.push_back(one);
    return answers::advise({.logs = {log_as_is(all)}}).recommendation.has_value();
  };
  CHECK(advised(0.2));
  CHECK_FALSE(advised(4.0));
}

TEST_CASE("speedups of single runs without times per token have no error that is known") {
  const auto run = [](logs::Decoding decoding, double tokens_per_s) {
    logs::Observation one{.span = logs::Span::run, .decoding = decoding};
    one.times.output_tokens_per_s = tokens_per_s;
    return one;
  };
  const Advice advice = answers::advise(
      {.logs = {log_as_is({run(logs::Decoding::plain, 100.0), run(logs::Decoding::speculative, 150.0)})}});
  CHECK_THAT(advice.evidence, Catch::Contains("single runs"));
}

TEST_CASE("without a plain run no setting is advised that another one beats on other prompts") {
  const auto run = [](std::int64_t gamma, const std::string& kind, double tpot_ms) {
    logs::Observation one{.span = logs::Span::run, .decoding = logs::Decoding::speculative, .gamma = gamma};
    one.stratum.category = kind;
    one.times.tpot_ms = tpot_ms;
    return one;
  };
  const auto advised = [&](double other_ms) {
    return answers::advise({.logs = {log_as_is({run(2, "chat", 10.0), run(4, "chat", 15.0), run(2, "code", 10.0),
                                                run(4, "code", other_ms)})}});
  };
  CHECK(advised(12.0).recommendation.has_value());
  const Advice differs = advised(6.0);
  CHECK_FALSE(differs.recommendation.has_value());
  CHECK_THAT(differs.action, Catch::Contains("K = 2 at unknown load of chat") && Catch::Contains("K = 4 at"));
}

TEST_CASE("draft lengths that no kind of prompts was run with are not predicted from the acceptance of all kinds") {
  const auto advised = [](double alpha_of_story) {
    std::vector<logs::Observation> runs;
    for (const bool code : {true, false}) {
      const double alpha = code ? 0.9 : alpha_of_story;
      for (const std::int64_t gamma : {0, 1, 2, 5}) {
        logs::Observation one =
            gamma == 0 ? plain(1.0, 10.0) : speculative(gamma, 1.0, 10.0 + static_cast<double>(gamma), alpha);
        one.span = logs::Span::run;
        one.requests = std::nullopt;
        one.stratum.category = code ? "code" : "story";
        runs.push_back(one);
      }
    }
    return answers::advise({.logs = {log_as_is(runs)}});
  };
  const auto guesses = [](const Advice& advice) {
    return std::ranges::any_of(advice.loads, [](const answers::LoadAdvice& load) {
      return std::ranges::any_of(
          load.by_gamma, [](const answers::SpeedupRow& row) { return row.time != answers::SpeedupRow::Time::logged; });
    });
  };
  CHECK(guesses(advised(0.9)));
  const Advice differs = advised(0.4);
  CHECK_FALSE(guesses(differs));
  REQUIRE(differs.recommendation);
  CHECK(
      (differs.recommendation->gamma == 1 || differs.recommendation->gamma == 2 || differs.recommendation->gamma == 5));
  for (const answers::LoadAdvice& load : differs.loads) CHECK(std::isnan(load.at_most));
}

TEST_CASE("many kinds of prompts: the settings that are faster than the recommended one are named with their loads") {
  const auto run = [](std::int64_t gamma, const std::string& kind, double tpot_ms) {
    logs::Observation one{.span = logs::Span::run,
                          .decoding = gamma == 0 ? logs::Decoding::plain : logs::Decoding::speculative};
    if (gamma > 0) one.gamma = gamma;
    one.stratum.category = kind;
    one.times.tpot_ms = tpot_ms;
    return one;
  };
  std::vector<logs::Observation> runs;
  for (const std::string kind : {"a", "b", "c", "d", "e"}) {
    runs.push_back(run(0, kind, 30.0));
    runs.push_back(run(2, kind, 20.0));
    runs.push_back(run(4, kind, kind == "e" ? 60.0 : 18.75));
  }
  CHECK_THAT(answers::advise({.logs = {log_as_is(runs)}}).action,
             Catch::Contains("Use K = 2: ") && Catch::Contains(" Faster: K = 4 at unknown load of a (1.60x), ") &&
                 Catch::Contains("unknown load of c (1.60x); others at 1 more."));
}

TEST_CASE(
    "the sign of single runs is said to be clear where the assumed error leaves it so, else at how many loads not") {
  const auto sign = [](const std::vector<double>& speedups) {
    std::vector<logs::Observation> runs;
    double requests = 1.0;
    for (const double speedup : speedups) {
      for (const bool drafts : {false, true}) {
        logs::Observation one = plain(requests, drafts ? 20.0 / speedup : 20.0);
        one.span = logs::Span::run;
        if (drafts) one.decoding = logs::Decoding::speculative;
        if (drafts) one.gamma = 2;
        runs.push_back(one);
      }
      requests *= 4.0;
    }
    return answers::sign_text(answers::advise({.logs = {log_as_is(runs)}}));
  };
  CHECK(sign({2.0}) == "sign clear if so");
  CHECK(sign({2.0, 0.7}) == "sign clear if so");
  CHECK(sign({1.1}) == "sign uncertain");
  CHECK(sign({2.0, 1.5, 1.05}) == "sign uncertain at 1 load");
  CHECK(sign({2.0, 1.0, 1.0, 1.0, 1.0}) == "sign uncertain at 4 loads");
  CHECK(answers::sign_text(advice_of({speculative(2, 1.0, 15.0, 0.8), plain(1.0, 10.0)})) == "sign certain");
  CHECK(answers::sign_text(advice_of({speculative(2, 1.0, 15.0, 0.8)})).empty());
  // Three windows whose times differ by a few percent.
  const auto scattered = [&](double least) {
    std::vector<logs::Observation> runs{plain(1.0, 10.0), plain(1.0, 10.1), plain(1.0, 10.2)};
    for (const double ms : {least, least + 0.3, least + 0.6}) runs.push_back(speculative(2, 1.0, ms, 0.8));
    return answers::sign_text(answers::advise({.logs = {log_as_is(runs)}}));
  };
  CHECK(scattered(20.0) == "sign clear at 95 %");
  CHECK(scattered(24.0) == "sign uncertain");
}

}  // namespace foredraft::tests
