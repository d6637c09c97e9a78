// SPDX-License-Identifier: Apache-2.0
#include "answers/run_estimates.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/answers/advise_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using answers::ClusterRegistry;
using answers::RunEstimates;
using logs::Observation;

/// The estimates of observations of one setting and load.
RunEstimates estimated(const std::vector<Observation>& observations, ClusterRegistry& registry) {
  const answers::RunList runs = answers::runs_of(std::vector{log_as_is(observations)}, {});
  REQUIRE(runs.all.size() == 1);
  return answers::estimates_of(runs.all[0], "A", registry);
}

RunEstimates estimated(const std::vector<Observation>& observations) {
  ClusterRegistry registry;
  return estimated(observations, registry);
}

double value_of(const RunEstimates& run, std::string_view metric) {
  const analytic::ClusteredEstimate* found = run.estimate(metric);
  REQUIRE(found != nullptr);
  return found->value;
}

double relative_error(const analytic::ClusteredEstimate& estimate) {
  return analytic::uncertainty_of(estimate).standard_error / estimate.value;
}

/// A window of eight requests with this duration.
Observation served(double seconds, double output_tokens_per_s) {
  Observation window = plain(8, 1.0);
  window.times = {.duration_s = seconds, .output_tokens_per_s = output_tokens_per_s};
  return window;
}

/// Plain windows that took these times.
RunEstimates timed(const std::vector<double>& tpot_ms) {
  std::vector<Observation> windows;
  for (const double ms : tpot_ms) windows.push_back(plain(8, ms));
  return estimated(windows);
}

/// Requests with these names and different TPOTs, times `slower`.
std::vector<Observation> requests(const std::vector<std::string>& names, double slower) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Observation one = plain(1, slower * (5.0 + static_cast<double>(i * i % 7) + 0.01 * static_cast<double>(i % 3)));
    one.span = logs::Span::request;
    one.stratum.request = names[i];
    one.stratum.output_tokens = 101.0;
    all.push_back(one);
  }
  return all;
}

/// A whole run at 100 requests/s that serves this many.
Observation at_rate(double served_per_s, double output_tokens_per_s, double tpot_ms) {
  Observation run = plain(8, tpot_ms);
  run.span = logs::Span::run;
  run.times.request_rate_per_s = 100.0;
  run.times.served_requests_per_s = served_per_s;
  run.times.output_tokens_per_s = output_tokens_per_s;
  return run;
}

}  // namespace

TEST_CASE("times are total time over total tokens, with speculation and without") {
  const RunEstimates of_plain = estimated({served(10.0, 200.0), served(30.0, 100.0)});
  CHECK(value_of(of_plain, "tpot_ms") == Approx(1e3 * 8.0 * 40.0 / 5000.0));
  CHECK(value_of(of_plain, "output_tokens_per_s") == Approx(5000.0 / 40.0));
  const std::vector windows{speculative(3, 8, 12.0, 0.8, 1000), speculative(3, 8, 16.0, 0.4, 3000)};
  const RunEstimates run = estimated(windows);
  const double accepted =
      static_cast<double>(*windows[0].acceptance->accepted_tokens + *windows[1].acceptance->accepted_tokens);
  CHECK(value_of(run, "acceptance_length") == Approx(1.0 + accepted / 4000.0));
  CHECK(value_of(run, "tpot_ms") == Approx((12.0 * 1000.0 + 16.0 * 3000.0) / (4000.0 + accepted)));
  CHECK(value_of(run, "iteration_ms") == Approx(15.0));
  CHECK(value_of(run, "marginal[1]") == Approx((800.0 + 1200.0) / 4000.0));
}

TEST_CASE("up to three windows that agree have an assumed error, which no interval includes") {
  for (const std::size_t few : {1U, 2U, 3U}) {
    const analytic::ClusteredEstimate time = *timed(std::vector(few, 10.0)).estimate("tpot_ms");
    CHECK(analytic::is_assumed(time));
    CHECK(relative_error(time) == Approx(answers::single_run_error).epsilon(few_ulp));
    CHECK(std::isnan(answers::known_interval(time).low));
  }
  const analytic::ClusteredEstimate four = *timed(std::vector(4, 10.0)).estimate("tpot_ms");
  CHECK_FALSE(analytic::is_assumed(four));
  CHECK(relative_error(four) == Approx(analytic::rounding_share));
  // 8, 10, 12: a standard deviation of 2, and sqrt(3) less of the mean.
  const analytic::ClusteredEstimate scattered = *timed({10.0, 8.0, 12.0}).estimate("tpot_ms");
  CHECK(relative_error(scattered) == Approx(0.2 / std::sqrt(3.0)).epsilon(second_route));
  CHECK(answers::known_interval(scattered).low < 10.0);
}

TEST_CASE("the counts of a single run give the error of its acceptance, a printed length does not") {
  const RunEstimates counted = estimated({speculative(3, 8, 12.0, 0.8)});
  CHECK_FALSE(analytic::is_assumed(*counted.estimate("acceptance_length")));
  CHECK(analytic::is_assumed(*counted.estimate("iteration_ms")));
  CHECK(analytic::is_assumed(*counted.estimate("tpot_ms")));
  Observation printed = speculative(3, 8, 12.0, 0.8);
  printed.acceptance.reset();
  printed.acceptance_length = 2.5;
  const RunEstimates length = estimated({printed});
  CHECK(value_of(length, "acceptance_length") == 2.5);
  CHECK(analytic::is_assumed(*length.estimate("acceptance_length")));
}

TEST_CASE("printed lengths of requests are weighted by the steps of their tokens") {
  std::vector<Observation> both;
  for (const double length : {4.0, 2.0}) {
    both.push_back(speculative(3, 1, 12.0, 0.8));
    Observation& request = both.back();
    request.span = logs::Span::request;
    request.acceptance.reset();
    request.acceptance_length = length;
    request.times = {.tpot_ms = length == 4.0 ? 5.0 : 10.0};
    request.stratum.output_tokens = 1.0 + 100.0 * length * length;
  }
  const RunEstimates run = estimated(both);
  CHECK(value_of(run, "acceptance_length") == Approx(2000.0 / (400.0 + 200.0)));
  CHECK(value_of(run, "iteration_ms") == Approx(20.0));  // of both
}

TEST_CASE("requests of the same name are the same clusters, in any order of the log") {
  ClusterRegistry registry;
  const std::size_t number = registry.number_of({"1", "2"});
  CHECK(registry.number_of({"1", "2"}) == number);
  CHECK(registry.number_of({"1", "3"}) != number);
  CHECK(registry.number_of({}) != registry.number_of({}));

  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back(std::to_string(i));
  const RunEstimates one = estimated(requests(names, 1.0), registry);
  std::vector turned = requests(names, 1.1);
  std::ranges::reverse(turned);
  const RunEstimates slower = estimated(turned, registry);
  names.back() = "another";
  const RunEstimates apart = estimated(requests(names, 1.1), registry);
  const auto error = [&](const RunEstimates& other) {
    const auto ratio = answers::speedup_of({*one.estimate("tpot_ms"), *other.estimate("tpot_ms"), false});
    CHECK(ratio.value == Approx(1.0 / 1.1));
    return relative_error(ratio);
  };
  CHECK(error(slower) < 1e-9);
  CHECK(error(apart) > 0.01);
  CHECK(one.find("tpot_ms")->clusters == 30);
  CHECK(one.find("tpot_ms")->span == logs::Span::request);
}

TEST_CASE("a metric comes from the finest parts that hold it") {
  Observation run = speculative(3, 8, 20.0, 0.8, 5000);
  run.span = logs::Span::run;
  Observation window = speculative(3, 8, 12.0, 0.8);
  const RunEstimates both = estimated({window, window, run});
  CHECK(both.find("acceptance_length")->span == logs::Span::window);
  CHECK(value_of(both, "iteration_ms") == Approx(12.0));
  window.times = {};
  const RunEstimates mixed = estimated({window, window, run});
  CHECK(mixed.find("acceptance_length")->span == logs::Span::window);
  CHECK(mixed.find("tpot_ms")->span == logs::Span::run);
}

TEST_CASE("a counter of full drafts only gives no acceptance and no marginal") {
  Observation full = speculative(3, 8, 12.0, 1.0);
  full.times = {.tpot_ms = 4.0};
  const RunEstimates run = estimated({full, full});
  CHECK(run.estimate("acceptance_length") == nullptr);
  CHECK(run.estimate("iteration_ms") == nullptr);
  CHECK(run.estimate("marginal[1]") == nullptr);
  CHECK(run.unknown.at("acceptance_length").ends_with("(W13)"));
  CHECK(value_of(run, "tpot_ms") == 4.0);  // of the client
}

TEST_CASE("at a stated rate the throughput is that of the arrivals, unless the server falls behind") {
  const RunEstimates keeps_up = estimated({at_rate(99.0, 5000.0, 10.0)});
  CHECK(keeps_up.estimate("output_tokens_per_s") == nullptr);
  CHECK(keeps_up.unknown.at("output_tokens_per_s").ends_with("(W01)"));
  const RunEstimates overloaded = estimated({at_rate(50.0, 3000.0, 8.0)});
  CHECK(value_of(overloaded, "output_tokens_per_s") == 3000.0);
  const auto paces = answers::paces_of(keeps_up, overloaded);
  REQUIRE(paces);
  CHECK(paces->by_capacity);
  CHECK(answers::speedup_of(*paces).value == Approx(3000.0 / 5000.0));
  const auto times = answers::paces_of(keeps_up, keeps_up);
  REQUIRE(times);
  CHECK_FALSE(times->by_capacity);
}

TEST_CASE("throughputs are compared only if neither run has times and no rate is stated") {
  const auto throughput = [](std::optional<double> rate) {
    Observation run = plain(8, 1.0);
    run.span = logs::Span::run;
    run.requests.reset();
    run.times = {.output_tokens_per_s = 500.0, .request_rate_per_s = rate};
    return estimated({run});
  };
  const auto paces = answers::paces_of(throughput(std::nullopt), throughput(std::nullopt));
  REQUIRE(paces);
  CHECK(paces->run.value == Approx(1.0 / 500.0));
  CHECK_FALSE(answers::paces_of(throughput(2.0), throughput(2.0)));
  CHECK_FALSE(answers::paces_of(timed({10.0}), throughput(std::nullopt)));
}

TEST_CASE("an unknown speedup has a reason") {
  RunEstimates run = estimated({speculative(3, 8, 12.0, 0.8)});
  Observation no_times = plain(8, 1.0);
  no_times.times = {};
  answers::add_speedup(estimated({no_times}), run);
  CHECK(run.unknown.at("speedup") == "the plain run logged no times");
  answers::add_speedup(timed({10.0}), run);
  CHECK(value_of(run, "speedup") == Approx(10.0 * 2.952 / 12.0));
}

TEST_CASE("the price of tokens follows from the throughput of a run, and arrivals have none") {
  const answers::GpuPrice price{.per_hour = 3.6};
  const RunEstimates run = estimated({served(10.0, 1000.0)});
  CHECK(answers::cost_of(price, &run) == Approx(1.0));
  CHECK_FALSE(answers::cost_of(price, nullptr));
  const RunEstimates arrivals = estimated({at_rate(99.0, 5000.0, 10.0)});
  CHECK_FALSE(answers::cost_of(price, &arrivals));
}

}  // namespace foredraft::tests
