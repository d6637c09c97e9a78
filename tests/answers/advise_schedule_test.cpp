// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "answers/engine_settings.hpp"
#include "answers/prediction.hpp"
#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Advice;
using answers::SpeedupRow;
using logs::Observation;
using Gammas = std::vector<std::int64_t>;
using Time = SpeedupRow::Time;

}  // namespace

TEST_CASE("one draft length for all loads has the harmonic mean of its speedups, by time") {
  const Advice advice =
      advice_of({with_speedup(3, 1, 2.0, 10.0), with_speedup(3, 64, 1.1, 20.0), plain(1, 10.0), plain(64, 20.0)});
  CHECK(choice_of(advice).gamma == 3);
  CHECK(choice_of(advice).schedule.empty());
  CHECK(choice_of(advice).value == Approx((10.0 + 20.0) / (10.0 / 2.0 + 20.0 / 1.1)).epsilon(of_draws));
}

TEST_CASE("a schedule turns speculation off above a load at which it loses enough, with the boundary halfway") {
  const auto choice = [](double at_64) {
    return choice_of(
        advice_of({with_speedup(3, 1, 2.5, 10.0), with_speedup(3, 64, at_64, 20.0), plain(1, 10.0), plain(64, 20.0)}));
  };
  CHECK(answers::schedule_json(choice(0.6).schedule).dump() == "[[1,8,3],[9,64,0]]");
  CHECK(choice(0.6).gamma == 0);
  CHECK(choice(0.95).schedule.empty());  // it costs more in vLLM
  CHECK(choice(0.95).gamma == 3);
  // Loads of an experiment have no mean.
  const Advice runs =
      answers::advise({.logs = {log_as_is({whole(with_speedup(3, 1, 2.5, 10.0)), whole(with_speedup(3, 64, 0.8, 20.0)),
                                           whole(plain(1, 10.0)), whole(plain(64, 20.0))})}});
  CHECK(runs.action.ends_with("fixed, K = 3 gives 2.50x at 1 request, 0.80x at 64 requests."));
}

TEST_CASE("a schedule has no draft length between those that were logged at its load") {
  // Speedups at K = 1 and 3, by load.
  const auto advice_for = [](const std::vector<std::array<double, 3>>& speedups) {
    std::vector<Observation> runs;
    for (const auto& [requests, one, three] : speedups) {
      runs.push_back(whole(plain(requests, 10.0)));
      runs.push_back(whole(with_speedup(1, requests, one, 10.0)));
      runs.push_back(whole(with_speedup(3, requests, three, 10.0)));
    }
    return answers::advise({.logs = {log_as_is(runs)}});
  };
  const Advice advice = advice_for({{1.0, 1.4, 2.1}, {16.0, 1.35, 1.36}, {64.0, 1.1, 0.7}});
  REQUIRE_FALSE(choice_of(advice).schedule.empty());
  for (const GammaRange& range : choice_of(advice).schedule) CHECK((range.gamma == 1 || range.gamma == 3));
  CHECK(advice.action.find("(not logged)") == std::string::npos);
  // The one draft length for all loads beside it may be between those that were logged, and says so.
  const Advice between = advice_for({{1.0, 1.3, 2.2}, {64.0, 1.2, 0.871}});
  REQUIRE_FALSE(choice_of(between).schedule.empty());
  CHECK(choice_of(between).gamma == 2);
  CHECK(between.action.find("; fixed, K = 2 (not logged) gives ") != std::string::npos);
}

TEST_CASE("a gain at any load is enough for a schedule, however small its share of the traffic") {
  std::vector<Observation> windows{with_speedup(3, 1, 1.5, 10.0), with_speedup(3, 64, 0.7, 20.0), plain(1, 10.0),
                                   plain(64, 20.0)};
  windows[0].acceptance = speculative(3, 1, 1.0, 0.8, 100'000).acceptance;
  const Advice advice = advice_of(windows);
  CHECK(advice.loads.at(0).share > 0.98);
  CHECK(choice_of(advice).gamma == 3);
  CHECK(answers::schedule_json(choice_of(advice).schedule).dump() == "[[1,8,3],[9,64,0]]");
}

TEST_CASE("wide tails from few windows are not a gain of a schedule") {
  std::vector<logs::ObservedLog> logs;
  for (const auto& [requests, speedup] : {std::pair{1.0, 2.5}, {64.0, 0.95}}) {
    logs.push_back(log_of({with_speedup(3, requests, speedup, 10.0), plain(requests, 10.0)}, std::to_string(requests)));
    std::erase_if(logs.back().contents.observations, [kept = std::map<logs::Decoding, int>()](const auto& one) mutable {
      return ++kept[one.decoding] > 4;
    });
  }
  const Advice advice = answers::advise({.logs = logs});
  CHECK(choice_of(advice).gamma == 3);
  CHECK(choice_of(advice).schedule.empty());  // it would gain 5 % at 64 requests, and cost more in vLLM
}

TEST_CASE("beyond the logged loads the ratio of two settings is that at the nearest one") {
  // K = 3 is a tenth faster than K = 1 where both were logged; at 64 requests only K = 1 was.
  const Advice advice = advice_of({with_speedup(1, 8, 1.5, 10.0), with_speedup(3, 8, 1.65, 10.0), plain(8, 10.0),
                                   with_speedup(1, 64, 1.2, 20.0), plain(64, 20.0)});
  REQUIRE(advice.loads.size() == 2);
  const SpeedupRow& outside = *row_at(advice.loads[1], 3);
  CHECK(outside.time == Time::extrapolated);
  CHECK(outside.value == Approx(1.2 * 1.1).epsilon(0.02));
  // Three doublings of the load, one of the verified tokens, 8 % each.
  CHECK(std::log(outside.high / outside.low) == Approx(2.0 * 1.96 * 0.24).epsilon(0.05));
  CHECK(std::isnan(outside.p_best));
  CHECK(std::isnan(outside.expected_loss));
  CHECK_FALSE(outside.chosen);
  // It is neither recommended nor scheduled, even if fast.
  CHECK(choice_of(advice).gamma == 1);
  for (const GammaRange& range : choice_of(advice).schedule) CHECK((range.gamma != 3 || range.to_batch < 64));
}

TEST_CASE("the error beyond the logged loads grows with the distance, and with the changes seen between loads") {
  const auto width_at = [](double requests, double at_32) {
    const Advice advice = advice_of({with_speedup(3, 8, 1.6, 10.0), plain(8, 10.0), with_speedup(3, 32, at_32, 10.0),
                                     plain(32, 10.0), with_speedup(1, requests, 1.1, 20.0), plain(requests, 20.0)});
    const SpeedupRow& outside = *row_at(advice.loads.back(), 3);
    CHECK(outside.time == Time::extrapolated);
    CHECK(outside.value == Approx(at_32).epsilon(0.02));
    return std::log(outside.high / outside.low) / (2.0 * 1.96);
  };
  // Nothing else was logged at 8 and 32 requests: over no speculation, a quarter of the verified tokens.
  CHECK(width_at(64, 1.6) == Approx(0.16).epsilon(0.1));
  CHECK(width_at(128, 1.6) == Approx(0.32).epsilon(0.1));
  // Halved between 8 and 32 requests: by ln 2 / 2 a doubling.
  CHECK(width_at(64, 0.8) == Approx(0.35).epsilon(0.1));
}

TEST_CASE("loads of several samplings get no schedule") {
  std::vector<Observation> windows;
  for (const double temperature : {0.0, 1.0}) {
    for (const auto& [requests, speedup] : {std::pair{4.0, 2.5}, {64.0, 0.6}}) {
      for (Observation one : {with_speedup(3, requests, speedup - 0.1 * temperature, 10.0), plain(requests, 10.0)}) {
        one.stratum.temperature = temperature;
        windows.push_back(one);
      }
    }
  }
  const Advice advice = advice_of(windows);
  REQUIRE(advice.loads.size() == 4);
  CHECK(choice_of(advice).schedule.empty());
  // Two loads of the same requests have one alert, at the acceptance length below which neither pays.
  const auto alerts = answers::settings_question(advice, "").break_even;
  REQUIRE(alerts.size() == 2);
  CHECK(alerts[0].requests < alerts[1].requests);
  CHECK(alerts[0].tokens == Approx(*with_speedup(3, 4.0, 2.5, 10.0).times.iteration_ms / 10.0));
}

TEST_CASE("loads without a number of requests get no schedule") {
  std::vector<Observation> windows;
  for (const auto& [rate, speedup] : {std::pair{1.0, 2.5}, {8.0, 0.6}}) {
    for (Observation one : {with_speedup(3, 8, speedup, 10.0), plain(8, 10.0)}) {
      one.times.request_rate_per_s = rate;
      windows.push_back(one);
    }
  }
  const Advice advice = advice_of(windows);
  REQUIRE(advice.loads.size() == 2);
  CHECK(choice_of(advice).schedule.empty());
  CHECK(choice_of(advice).gamma == 0);
}

TEST_CASE("without a plain run throughputs alone tell the fastest draft length") {
  std::vector<Observation> runs;
  for (const auto& [gamma, tokens_per_s] : {std::pair{3, 300.0}, {5, 400.0}}) {
    Observation one = with_speedup(gamma, 8, 1.0, 10.0);
    one.span = logs::Span::run;
    one.requests = std::nullopt;
    one.times = {.output_tokens_per_s = tokens_per_s};
    runs.push_back(one);
  }
  const Advice advice = advice_of(runs);
  CHECK(choice_of(advice).gamma == 5);
  CHECK_FALSE(choice_of(advice).over_plain);
  CHECK(advice.action.find("1.33x") != std::string::npos);
}

TEST_CASE("throughputs at an unknown load are compared beside times of another load that compare nothing") {
  const auto at_unknown_load = [](Observation one, double tokens_per_s) {
    one.span = logs::Span::run;
    one.requests = std::nullopt;
    one.times = {.output_tokens_per_s = tokens_per_s};
    return one;
  };
  std::vector<Observation> runs = {at_unknown_load(plain(1, 1.0), 100.0),
                                   at_unknown_load(with_speedup(3, 8, 1.0, 10.0), 250.0),
                                   with_speedup(3, 1, 1.2, 10.0)};
  runs[2].span = logs::Span::run;
  const auto speedups = [](const Advice& advice) {
    std::vector<double> values;
    for (const answers::LoadAdvice& load : advice.loads) {
      for (const answers::LoggedRun& run : load.logged) values.push_back(run.speedup ? run.speedup->value : 0.0);
    }
    return values;
  };
  CHECK(speedups(answers::advise({.logs = {log_as_is(runs)}})) == std::vector{2.5, 0.0});
  // A plain run at that load says more.
  runs.push_back(plain(1, 10.0));
  runs[3].span = logs::Span::run;
  const std::vector<double> timed = speedups(answers::advise({.logs = {log_as_is(runs)}}));
  REQUIRE(timed.size() == 1);
  CHECK(timed[0] == Approx(1.2));
}

TEST_CASE("loads of an experiment have their own speedups, those of traffic a mean") {
  const auto action = [](bool as_runs) {
    std::vector<Observation> runs = {with_speedup(3, 1, 2.0, 10.0), with_speedup(3, 16, 1.4, 20.0), plain(1, 10.0),
                                     plain(16, 20.0)};
    for (Observation& run : runs) run.span = as_runs ? logs::Span::run : logs::Span::window;
    return advice_of(runs).action;
  };
  CHECK(action(true) == "Keep K = 3: 2.00x at 1 request, 1.40x at 16 requests.");
  const std::vector<Observation> two = {
      whole(with_speedup(3, 1, 1.95, 10.0)), whole(with_speedup(5, 1, 2.0, 10.0)),  whole(plain(1, 10.0)),
      whole(with_speedup(3, 16, 1.4, 20.0)), whole(with_speedup(5, 16, 1.2, 20.0)), whole(plain(16, 20.0))};
  CHECK(answers::advise({.logs = {log_as_is(two)}}).action ==
        "Use K = 3: 1.95x at 1 request (K = 5: 2.00x), 1.40x at 16 requests.");
  std::vector<Observation> many = two;
  for (const double requests : {2.0, 4.0}) {
    many.push_back(whole(with_speedup(3, requests, 1.8, 10.0)));
    many.push_back(whole(plain(requests, 10.0)));
  }
  CHECK(answers::advise({.logs = {log_as_is(many)}}).action ==
        "Use K = 3: 1.40x at 16 requests to 1.95x at 1 request. Faster: K = 5 at 1 request (2.00x).");
  CHECK_THAT(action(false), Catch::EndsWith(") for this traffic."));
  // Without an interval its loads are told, and what loses always.
  const auto single = [](double at_16) {
    std::vector<Observation> all = log_of({with_speedup(3, 16, at_16, 20.0), plain(16, 20.0)}).contents.observations;
    all.insert(all.end(), {whole(with_speedup(3, 1, 2.0, 10.0)), whole(plain(1, 10.0))});
    return answers::advise({.logs = {log_as_is(all)}}).action;
  };
  CHECK_THAT(single(1.4), Catch::EndsWith(" for this traffic: 2.00x at 1 request, 1.40x at 16 requests."));
  CHECK_THAT(single(0.98), Catch::EndsWith(" for this traffic. It loses: 0.98x at 16 requests."));
}

}  // namespace foredraft::tests
