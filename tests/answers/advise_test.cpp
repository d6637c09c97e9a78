// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "answers/prediction.hpp"
#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Advice;

/// Sums of a few doubles.
constexpr double rounding = 1e-12;
/// The median of 4,000 draws with an error of a tenth at most: four standard errors.
constexpr double draws_median = 1e-2;

double tokens_at_three(double alpha) { return 1.0 + alpha + alpha * alpha + alpha * alpha * alpha; }

}  // namespace

TEST_CASE("a load at which nothing was drafted gives no information about the drafter") {
  // n-gram lookup: some drafts are short, so that no position is known; at 4 requests no draft was found.
  logs::Observation drafted = speculative(3, 1, 50.0, 0.9, 100);
  drafted.acceptance->drafted_tokens = 250;
  drafted.acceptance->generated_tokens = 160 + *drafted.acceptance->accepted_tokens;
  logs::Observation nothing = speculative(3, 4, 60.0, 0.0, 0);
  nothing.acceptance = logs::AcceptanceCounts{.steps = 0, .generated_tokens = 50};
  const answers::Advice advice = answers::advise({.logs = {log_as_is({drafted, drafted, nothing})}});
  CHECK(advice.fit() == nullptr);
  CHECK_THAT(advice.cause, !Catch::Contains("drafter fails"));
  CHECK(advice.runs.at(0).run.drafted_tokens == 500.0);  // of the steps that drafted
  CHECK(advice.runs.at(0).run.accepted_tokens == 2.0 * static_cast<double>(*drafted.acceptance->accepted_tokens));
}

TEST_CASE("a single logged draft length that gains is kept, and the next step is to log another one") {
  const Advice advice = advice_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0)});
  REQUIRE(advice.loads.size() == 1);
  REQUIRE(advice.loads[0].chain);
  CHECK(advice.loads[0].chain->speedup.mean == Approx(tokens_at_three(0.8) * 10.0 / 12.0).epsilon(counts_rounding));
  CHECK(advice.sign_certain);
  CHECK(advice.action.starts_with("Keep K = 3: 2.46x ("));
  REQUIRE(advice.recommendation);
  CHECK(advice.recommendation->gamma == 3);
  CHECK(advice.recommendation->value == Approx(advice.loads[0].chain->speedup.mean).epsilon(counts_rounding));
  CHECK(advice.recommendation->ties == std::vector<std::int64_t>{3});
  CHECK(advice.next.starts_with("log K = 1 too: "));
  CHECK(advice.curve()->by_gamma.size() == 12);
  CHECK(advice.concludes());
}

TEST_CASE("the chain of factors multiplied by the acceptance length is the measured speedup") {
  logs::Observation window = speculative(3, 8, 12.0, 0.8);
  window.times.draft_ms = 2.0;
  window.times.verification_ms = 9.5;
  const Advice advice = advice_of({window, plain(8, 10.0)});
  const analytic::SpeedupChain& chain = advice.loads.at(0).chain.value();
  double product = advice.loads[0].tokens->mean;
  double shares = 0.0;
  for (const analytic::ChainLink& link : chain.links) {
    product *= link.value;
    shares += link.share;
  }
  CHECK(chain.links.size() == 3);
  CHECK(product == Approx(chain.speedup.mean).epsilon(rounding));
  CHECK(product == Approx(chain.promised * advice.loads[0].plain_ms->mean / advice.loads[0].iteration_ms->mean));
  CHECK(shares == Approx(1.0).epsilon(rounding));
}

TEST_CASE("decode steps at two loads are compared at one draft length, which is named if several were logged") {
  // K = 3 leads at one request, K = 1 at 64: 1.1 and 1.5 decode steps of K = 1, not 1.5 of K = 1 and 1.2 of K = 3.
  const Advice advice = advice_of({speculative(1, 1, 11.0, 0.6), speculative(3, 1, 12.0, 0.6), plain(1, 10.0),
                                   speculative(1, 64, 30.0, 0.6), speculative(3, 64, 60.0, 0.6), plain(64, 20.0)});
  CHECK(advice.cause ==
        "at 64 requests verification is compute bound: an iteration of K = 1 costs 1.50 decode steps (1.10 at 1 "
        "request)");
  // No draft length was logged at both loads: more decode steps of a longer draft do not show an effect of the load.
  const Advice apart =
      advice_of({speculative(1, 1, 11.0, 0.6), plain(1, 10.0), speculative(3, 64, 30.0, 0.6), plain(64, 20.0)});
  CHECK_FALSE(names(apart, "verification"));
}

TEST_CASE("the drafts that are accepted are those of the iterations that draft") {
  // 400 of 2,000 drafts in 500 iterations; as many others draft nothing.
  const auto cause = [](std::int64_t generated) {
    logs::Observation window = speculative(4, 8, 24.0, 0.5, 500);
    window.acceptance = logs::AcceptanceCounts{.steps = 500,
                                               .drafted_tokens = 2000,
                                               .accepted_tokens = 400,
                                               .accepted_at = {250, 100, 40, 10},
                                               .generated_tokens = generated};
    return answers::advise({.logs = {log_as_is({window, plain(8, 10.0)})}}).cause;
  };
  CHECK(cause(1400) ==
        "0.80 of 4 drafts are accepted in the 50 % of iterations that draft, and an iteration costs 2.40 decode steps "
        "at 8 requests");
  CHECK(cause(900) == "0.80 of 4 drafts are accepted, and an iteration costs 2.40 decode steps at 8 requests");
}

TEST_CASE("a few windows are called few, not different") {
  std::vector<logs::Observation> windows;
  for (const double alpha : {0.78, 0.8, 0.82}) windows.push_back(speculative(2, 8, 12.0, alpha, 300));
  const Advice advice = answers::advise({.logs = {log_as_is(windows)}});
  CHECK(advice.action.ends_with("too few windows or requests for advice."));
  CHECK(advice.why_not.starts_with("fewer than five windows or requests do not show"));
  // An acceptance length is at least 1, however much two windows differ.
  const Advice apart =
      answers::advise({.logs = {log_as_is({speculative(2, 8, 12.0, 0.2, 300), speculative(2, 8, 12.0, 0.9, 300)})}});
  CHECK_THAT(apart.action, Catch::Contains("tokens per iteration, 1 to "));
  CHECK(answers::to_json(apart, "").at("tokens_per_iteration").at("ci95").at(0) == 1.0);
  // Nor where K is unknown, and one of them differs from nothing.
  const auto of_unknown_length = [&](std::size_t count) {
    std::vector<logs::Observation> some(count, windows.front());
    for (logs::Observation& one : some) {
      one.gamma = std::nullopt;
      one.acceptance->drafted_tokens = 550;
      one.acceptance->accepted_at.clear();
    }
    return answers::advise({.logs = {log_as_is(some)}}).action;
  };
  CHECK(of_unknown_length(1).ends_with("too few steps for advice."));
  CHECK(of_unknown_length(2).ends_with("too few windows or requests for advice."));
}

TEST_CASE("verification that grows with the load is named, and loads are never mixed") {
  const Advice advice =
      advice_of({speculative(3, 1, 12.0, 0.8), speculative(3, 64, 62.0, 0.8), plain(1, 10.0), plain(64, 20.0)});
  REQUIRE(advice.loads.size() == 2);
  CHECK(advice.loads[0].chain->speedup.mean > 2.4);
  CHECK(advice.loads[1].chain->speedup.mean < 1.0);
  CHECK(advice.causes.at(0) == "verification");
  CHECK(advice.action.starts_with("Keep K = 3: "));
  CHECK(advice.action.find("It loses: 0.95x at 64 requests.") != std::string::npos);
}

TEST_CASE("two draft lengths and a plain run give a recommendation with its interval and ties") {
  const Advice advice = advice_of({speculative(3, 8, 20.0, 0.8), speculative(1, 8, 11.0, 0.8), plain(8, 10.0)});
  REQUIRE(advice.recommendation);
  CHECK(advice.recommendation->gamma == 1);
  CHECK(advice.recommendation->low < advice.recommendation->value);
  CHECK(advice.recommendation->value < advice.recommendation->high);
  CHECK(advice.recommendation->value == Approx(1.8 * 10.0 / 11.0).epsilon(counts_rounding));
  CHECK(advice.action.starts_with("Use K = 1: 1.64x"));
  CHECK(advice.why_not.empty());
}

TEST_CASE("a schedule is given if it beats the best single draft length by more than it costs") {
  const auto windows = [](double iteration_at_64) {
    return std::vector<logs::Observation>{speculative(7, 1, 12.0, 0.9),
                                          speculative(1, 1, 11.0, 0.9),
                                          speculative(7, 64, iteration_at_64, 0.9),
                                          speculative(1, 64, 22.0, 0.9),
                                          plain(1, 10.0),
                                          plain(64, 20.0)};
  };
  const Advice steep = advice_of(windows(120.0));
  REQUIRE(steep.recommendation);
  CHECK(answers::schedule_json(steep.recommendation->schedule).dump() == "[[1,8,7],[9,64,1]]");
  const Advice flat = advice_of(windows(50.0));
  REQUIRE(flat.recommendation);
  CHECK(flat.recommendation->schedule.empty());
}

TEST_CASE("a drafter that fails at one position is named, and speculation is turned off at loads at which it loses") {
  logs::Observation window = speculative(3, 4, 14.0, 0.13, 5000);
  window.acceptance->accepted_at = {650, 15, 0};
  window.acceptance->accepted_tokens = 665;
  const Advice advice = advice_of({window, plain(4, 10.0)});
  CHECK(names(advice, "drafter_fault"));
  CHECK(advice.warns("W14"));
  CHECK(advice.action.starts_with("Turn speculation off: K = 3 gives 0.81x"));
  REQUIRE(advice.recommendation);
  CHECK(advice.recommendation->gamma == 0);
}

TEST_CASE("iterations longer than their tokens one by one are a fault of the engine") {
  const Advice advice = advice_of({speculative(3, 1, 120.0, 0.8), plain(1, 10.0)});
  CHECK(names(advice, "engine_fault"));
  CHECK(advice.warns("W15"));
  CHECK(advice.action.starts_with("Look at the engine first"));
  const Advice slow = advice_of({speculative(3, 1, 39.0, 0.8), plain(1, 10.0)});
  CHECK_FALSE(names(slow, "engine_fault"));
  std::vector<logs::Observation> by_rate{speculative(3, 1, 120.0, 0.8), plain(1, 10.0)};
  for (logs::Observation& one : by_rate) {
    one.requests = std::nullopt;
    one.times.request_rate_per_s = 8.0;
  }
  CHECK_FALSE(names(advice_of(by_rate), "engine_fault"));  // of how many requests at once?
}

TEST_CASE("without a plain run no speedup is claimed and the next step is named") {
  const Advice advice = advice_of({speculative(3, 8, 12.0, 0.8)});
  CHECK_FALSE(advice.loads.at(0).chain);
  CHECK_FALSE(advice.recommendation);
  CHECK(names(advice, "no_plain_arm"));
  CHECK(names(advice, "not_identified"));
  CHECK(advice.warns("W09"));
  CHECK(advice.action.find("it pays where an iteration takes less than 2.95 decode steps") != std::string::npos);
  CHECK(advice.why_not.starts_with("no plain run: log the same load without speculation"));
}

TEST_CASE("K = 1 alone leaves other draft lengths open: a range, not a value of the model") {
  const Advice advice = advice_of({speculative(1, 8, 12.0, 0.7), plain(8, 10.0)});
  REQUIRE(advice.fit() != nullptr);
  CHECK_FALSE(advice.fit()->model);
  const auto& by_gamma = advice.curve()->by_gamma;
  CHECK(by_gamma.at(2).source == analytic::TokensAtGamma::Source::left_open);
  CHECK(by_gamma[2].high - by_gamma[2].low > 1.0);
  CHECK(advice.next.starts_with("log K = 3 too: "));
}

TEST_CASE("too few steps give no conclusion, and slightly more give no advice") {
  const Advice none = answers::advise({.logs = {log_as_is({speculative(3, 8, 12.0, 0.8, 199)})}});
  CHECK_FALSE(none.concludes());
  CHECK(names(none, "too_few"));
  CHECK_FALSE(none.loads.at(0).chain);
  const Advice few = answers::advise({.logs = {log_as_is({speculative(3, 8, 12.0, 0.6, 210)})}});
  CHECK(few.concludes());
  CHECK(names(few, "too_few"));
  CHECK(few.action.find("too few steps for advice") != std::string::npos);
  CHECK(few.why_not.find("too few verification steps: about ") == 0);
}

TEST_CASE("windows that agree in all digits do not prevent advice") {
  const std::vector windows(10, speculative(3, 8, 12.0, 0.8));
  const Advice advice = answers::advise({.logs = {log_as_is(windows)}});
  CHECK_FALSE(names(advice, "too_few"));
  CHECK(advice.action.find("differ too much") == std::string::npos);
}

TEST_CASE("a counter of full drafts only gives no acceptance length and no speedup") {
  const Advice advice = advice_of({speculative(3, 8, 12.0, 1.0), plain(8, 10.0)});
  REQUIRE(advice.problem() != nullptr);
  CHECK_FALSE(advice.concludes());
  CHECK_FALSE(advice.tokens_observed);
  CHECK(names(advice, "counter_artefact"));
  CHECK(advice.warns("W13"));
  REQUIRE(advice.loads.size() == 1);
  CHECK_FALSE(advice.loads[0].tokens);
  CHECK_FALSE(advice.loads[0].chain);
  CHECK(advice.next.starts_with("acceptance could not be estimated: log a counter of all drafted tokens"));
}

TEST_CASE("a setting without a draft length pays only where it is faster") {
  const auto speculative_at = [](double requests, double tpot_ms) {
    logs::Observation one = plain(requests, tpot_ms);
    one.decoding = logs::Decoding::speculative;
    return one;
  };
  const Advice advice = advice_of({plain(1, 20.0), speculative_at(1, 10.0), plain(8, 20.0), speculative_at(8, 25.0)});
  CHECK(advice.action.find(" pays: 2.00x") != std::string::npos);
  CHECK(advice.action.find("at 1 request. It loses: 0.80x") != std::string::npos);
  const auto by = [&](const std::string& drafter, double requests, double tpot_ms) {
    logs::Observation one = speculative_at(requests, tpot_ms);
    one.drafter = drafter;
    return one;
  };
  const Advice two = advice_of({plain(1, 20.0), by("eagle", 1, 8.0), by("medusa", 1, 10.0), plain(8, 20.0),
                                by("eagle", 8, 16.0), by("medusa", 8, 12.5)});
  CHECK(two.action.starts_with("The fastest of each pays: 2.50x"));
}

TEST_CASE("where speculation is to be turned off, it is said where it pays") {
  const auto measured = [](double requests, double tpot_ms) {
    logs::Observation one = plain(requests, tpot_ms);
    one.decoding = logs::Decoding::speculative;
    return one;
  };
  logs::ObservedLog log = log_as_is({plain(1, 20.0), measured(1, 10.0), plain(8, 20.0), measured(8, 60.0)});
  for (logs::Observation& one : log.contents.observations) one.span = logs::Span::run;
  const Advice advice = answers::advise({.logs = {log}});
  CHECK(advice.action.starts_with("Turn speculation off"));
  CHECK(advice.action.find("It pays only here: 2.00x at 1 request") != std::string::npos);
}

TEST_CASE("the arrival rate, prefill, tiny windows, steps and separate texts each have their warning") {
  logs::ObservedLog log = log_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0)});
  log.contents.warnings.push_back({"W01", 1, "arrival rate"});
  CHECK(names(answers::advise({.logs = {log}}), "arrival_rate"));

  logs::Observation prompts = speculative(3, 8, 12.0, 0.8);
  prompts.times.prompt_tokens_per_s = 3000.0;
  prompts.times.output_tokens_per_s = 100.0;
  const Advice prefill = advice_of({prompts, plain(8, 10.0)});
  CHECK(prefill.warns("W12"));
  CHECK(names(prefill, "prefill"));

  const std::vector tiny(100, speculative(3, 8, 12.0, 0.8, 10));
  CHECK(answers::advise({.logs = {log_as_is(tiny)}}).warns("W11"));

  CHECK(advice_of({speculative(3, 8, 12.0, 0.8), speculative(1, 8, 15.0, 0.8)}).warns("W16"));
  CHECK_FALSE(advice_of({speculative(3, 8, 12.0, 0.8), speculative(1, 8, 12.0, 0.8)}).warns("W16"));
  logs::Observation unknown = speculative(3, 8, 15.0, 0.8);
  unknown.gamma.reset();
  CHECK_FALSE(advice_of({speculative(3, 8, 12.0, 0.8), unknown}).warns("W16"));
  CHECK(advice_of({speculative(3, 8, 12.0, 0.8), speculative(2, 8, 11.0, 0.4)}).warns("W17"));
  // Two logs whose acceptance no single text explains: each is one setting at two loads.
  const logs::ObservedLog one = log_of({speculative(1, 8, 12.0, 0.3), speculative(1, 64, 22.0, 0.3)});
  const logs::ObservedLog other = log_of({speculative(3, 8, 14.0, 0.8), speculative(3, 64, 30.0, 0.8)}, "b.log");
  CHECK_FALSE(answers::advise({.logs = {one, other}}).warns("W17"));
}

TEST_CASE("drafts of different lengths give acceptance as it was, not that of other draft lengths") {
  logs::Observation window = speculative(3, 8, 12.0, 0.8);
  window.acceptance->drafted_tokens = 2000;
  const Advice advice = advice_of({speculative(3, 8, 12.0, 0.8), window, plain(8, 10.0)});
  CHECK(advice.concludes());
  CHECK(advice.curve()->by_gamma.empty());
  CHECK(advice.loads.at(0).chain);
}

TEST_CASE("steps beyond the captured graphs are named") {
  logs::ObservedLog log = log_of({speculative(3, 64, 12.0, 0.8), plain(64, 10.0)});
  log.contents.settings.graph_sizes = {1, 2, 4, 256};
  CHECK_FALSE(names(answers::advise({.logs = {log}}), "cuda_graphs"));
  log.contents.settings.graph_sizes = {1, 2, 4, 255};
  CHECK(names(answers::advise({.logs = {log}}), "cuda_graphs"));
}

TEST_CASE("predicted times answer other draft lengths, scaled to the logged time") {
  answers::PredictedTimes predicted{.evidence = "operators", .error = 0.05};
  for (std::int64_t gamma = 1; gamma <= 12; ++gamma) {
    const auto drafts = static_cast<double>(gamma);
    predicted.times.push_back({.batch = 8.0,
                               .gamma = gamma,
                               .plain = 5.0,
                               .drafting = 0.2 * drafts,
                               .verification = 5.4,
                               .iteration = 5.4 + 0.2 * drafts});
  }
  const Advice advice =
      answers::advise({.logs = {log_of({speculative(3, 8, 12.0, 0.8), plain(8, 10.0)})}, .predicted = predicted});
  const auto& by_gamma = advice.loads.at(0).by_gamma;
  REQUIRE(by_gamma.size() == 12);
  const double tokens_at_five = advice.curve()->by_gamma[4].value;
  CHECK(by_gamma[2].value == Approx(advice.loads[0].chain->speedup.mean).epsilon(counts_rounding));
  CHECK(by_gamma[4].value == Approx(tokens_at_five * 10.0 / (12.0 * 6.4 / 6.0)).epsilon(draws_median));
  CHECK(by_gamma[4].high - by_gamma[4].low > by_gamma[2].high - by_gamma[2].low);
  CHECK(advice.recommendation);
  CHECK(advice.evidence.find("operators") != std::string::npos);
}

TEST_CASE("windows and a whole run of one load hold the same steps, which are counted once") {
  logs::Observation run = speculative(3, 8, 12.0, 0.8, 8000);
  run.span = logs::Span::run;
  logs::ObservedLog log = log_of({speculative(3, 8, 12.0, 0.8)});
  log.contents.observations.push_back(run);
  CHECK(answers::advise({.logs = {log}}).verification_steps == 8000.0);
}

TEST_CASE("counts without positions do not hide those that have them") {
  logs::Observation total = speculative(3, 64, 20.0, 0.8, 50'000);
  total.acceptance->accepted_at.clear();
  const Advice advice = advice_of({speculative(3, 8, 12.0, 0.8), total});
  const auto& by_gamma = advice.curve()->by_gamma;
  REQUIRE(by_gamma.size() == 12);
  CHECK(by_gamma[0].source == analytic::TokensAtGamma::Source::fitted);
  CHECK(by_gamma[4].source == analytic::TokensAtGamma::Source::fitted);
  CHECK(advice.loads.size() == 2);
}

TEST_CASE("steps whose accepted drafts were not counted are not too few of them") {
  logs::Observation steps{.span = logs::Span::run, .decoding = logs::Decoding::speculative};
  steps.acceptance = logs::AcceptanceCounts{.steps = 90};
  const Advice advice = answers::advise({.logs = {log_as_is({steps})}});
  CHECK_FALSE(names(advice, "too_few"));
  CHECK_THAT(advice.action, Catch::Contains("90 verification steps") && Catch::Contains("no accepted drafts"));
  CHECK_THAT(advice.next, Catch::Contains("accepted"));
}

TEST_CASE("runs of which nothing says whether they speculate do so beside those of --plain") {
  logs::Observation unknown = plain(1, 8.0);
  unknown.decoding = logs::Decoding::unknown;
  const answers::AdviceQuestion alone{.logs = {log_as_is({unknown})}};
  CHECK_THAT(answers::advise(alone).why_not, Catch::Contains("--plain"));
  answers::AdviceQuestion both = alone;
  both.plain = {log_as_is({plain(1, 10.0)}, "plain.log")};
  const Advice advice = answers::advise(both);
  CHECK(advice.loads.at(0).speedup()->value == Approx(1.25).epsilon(rounding));
  CHECK_THAT(advice.why_not, !Catch::Contains("--plain"));
}

TEST_CASE("runs that draft without an acceptance are asked for the log of their own server") {
  logs::Observation run{.span = logs::Span::run, .decoding = logs::Decoding::speculative, .gamma = 3};
  run.times.tpot_ms = 4.0;
  CHECK_THAT(answers::advise({.logs = {log_of({run})}}).why_not, !Catch::Contains("server that speculates"));
  CHECK_THAT(answers::advise({.logs = {log_of({plain(1.0, 4.0)})}}).why_not, Catch::Contains("server that speculates"));
}

TEST_CASE("an answer for several kinds of prompts says what each gains, and what each yields") {
  const auto of_kind = [](logs::Observation run, const std::string& kind) {
    run.span = logs::Span::run;
    run.stratum.category = kind;
    return run;
  };
  const std::vector<logs::Observation> runs{
      of_kind(speculative(2, 1, 12.0, 0.8), "chat"), of_kind(plain(1, 10.0), "chat"),
      of_kind(speculative(2, 1, 16.0, 0.8), "code"), of_kind(plain(1, 10.0), "code")};
  CHECK_THAT(answers::advise({.logs = {log_as_is(runs)}}).action,
             Catch::Contains("x at 1 request of chat") && Catch::Contains("x at 1 request of code") &&
                 !Catch::Contains("this traffic"));  // no mean of what may be two models
  CHECK_FALSE(names(answers::advise({.logs = {log_as_is(runs)}}), "verification"));  // 1.2 and 1.6 steps of one load
  logs::Observation printed{.span = logs::Span::run, .decoding = logs::Decoding::speculative, .acceptance_length = 3.5};
  logs::Observation other = of_kind(printed, "code");
  other.acceptance_length = 1.5;
  CHECK_THAT(answers::advise({.logs = {log_as_is({of_kind(printed, "chat"), other})}}).action,
             Catch::Contains("3.50") && Catch::Contains("1.50"));
}

TEST_CASE("the mean of all kinds of prompts is told before their range, of which it is no part") {
  std::vector<logs::Observation> runs;
  const auto add = [&](const std::string& kind, double iteration_ms) {
    for (logs::Observation run : {speculative(2, 1, iteration_ms, 0.8), plain(1, 10.0)}) {
      run.span = logs::Span::run;
      run.stratum.category = kind;
      runs.push_back(run);
    }
  };
  add("chat", 16.0);
  add("code", 12.0);
  add("law", 14.0);
  add("math", 13.0);
  add("Overall", 11.0);  // faster than each, so that it would be an end of the range
  const answers::Advice advice = answers::advise({.logs = {log_as_is(runs)}});
  CHECK_THAT(advice.action, Catch::Contains("x at 1 request of Overall, ") &&
                                Catch::Contains("x at 1 request of chat to ") &&
                                Catch::Contains("x at 1 request of code."));
  CHECK(advice.loads.front().name == "1 request of Overall");
  runs.resize(4);  // of two kinds
  add("total", 14.0);
  CHECK(answers::advise({.logs = {log_as_is(runs)}}).loads.front().name == "1 request of total");
}

TEST_CASE("more runs than are compared are an error") {
  std::vector<logs::Observation> runs(1025, plain(1, 10.0));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].span = logs::Span::run;
    runs[i].stratum.category = std::to_string(i);
  }
  CHECK_THROWS_WITH(answers::advise({.logs = {log_as_is(runs)}}), Catch::StartsWith("a.log: 1025 runs"));
}

TEST_CASE("no longer draft yields less than a logged one, whatever is left open") {
  logs::Observation request{.span = logs::Span::request, .decoding = logs::Decoding::speculative, .gamma = 2};
  request.acceptance = logs::AcceptanceCounts{.steps = 150, .drafted_tokens = 300, .accepted_tokens = 200};
  logs::Observation other = request;
  other.acceptance->accepted_tokens = 120;
  const Advice advice = answers::advise({.logs = {log_as_is({request, other})}});
  const auto& by_gamma = advice.curve()->by_gamma;
  REQUIRE(by_gamma.size() > 4);
  CHECK(by_gamma[2].source == analytic::TokensAtGamma::Source::left_open);
  CHECK(by_gamma[2].low >= by_gamma[1].value);
  CHECK(by_gamma[4].low >= by_gamma[1].value);
  CHECK(by_gamma[0].low < by_gamma[1].value);
}

TEST_CASE("loads beyond the first three are counted") {
  std::vector<logs::Observation> runs;
  for (const char* kind : {"a", "b", "c", "d", "e"}) {
    runs.push_back({.span = logs::Span::run, .decoding = logs::Decoding::speculative, .acceptance_length = 2.5});
    runs.back().stratum.category = kind;
  }
  CHECK_THAT(answers::advise({.logs = {log_as_is(runs)}}).action, Catch::Contains("2 more"));
}

TEST_CASE("how a table was read is told in two lines, up to a whole part") {
  const std::string part = "a heading = what its column means; ";
  std::string all;
  for (int i = 0; i < 9; ++i) all += part;
  const auto lines = answers::warning_lines(std::vector<logs::LogWarning>{{"W22", 1, all}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() <= 2 * 88);
  CHECK_THAT(lines[0], Catch::EndsWith("means; \xE2\x80\xA6"));
  const auto unread = answers::warning_lines(std::vector<logs::LogWarning>{{"W22", 1, all + "not read: tau"}});
  CHECK_THAT(unread.at(0), Catch::EndsWith("not read: tau"));
  const std::string words(400, 'a');
  CHECK(answers::warning_lines(std::vector<logs::LogWarning>{{"W22", 1, "b " + words}})[0].size() <= 2 * 88);
}

TEST_CASE("each thing that was left out is said, the first of other warnings, and how many there are more") {
  const auto lines = answers::warning_lines(std::vector<logs::LogWarning>{{"W02", 1, "a"},
                                                                          {"W18", 1, "b"},
                                                                          {"W02", 2, "c"},
                                                                          {"W18", 2, "d"},
                                                                          {"W18", 3, "d"},
                                                                          {"W18", 4, "e"},
                                                                          {"W18", 5, "f"},
                                                                          {"W18", 6, "g"}});
  CHECK(lines == std::vector<std::string>{"W02 a", "W18 b", "W18 d", "W18 e", "W18 2 more: --json has them"});
}

}  // namespace foredraft::tests
