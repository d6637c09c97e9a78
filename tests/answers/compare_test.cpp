// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "answers/comparison.hpp"
#include "app/texts/texts.hpp"
#include "core/random_stream.hpp"
#include "tests/answers/advise_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::tests {
namespace {

using answers::compare;
using answers::Comparison;
using answers::MetricDifference;
using answers::Requirement;
using answers::RequirementVerdict;

constexpr std::int64_t written_gamma = 3;

/// The requests of a generated log and their acceptance.
struct WrittenLog {
  std::uint64_t seed;
  std::size_t requests = 40;
  double easier = 0.0;      ///< added to the acceptance rate of each draft
  std::uint64_t texts = 0;  ///< equal numbers mean the same requests
  bool named = true;
};

/// Requests of 20 to 100 steps; each has an acceptance rate of its own, uniform in [0.3, 0.8].
logs::ObservedLog written(const WrittenLog& asked, const std::string& name) {
  logs::ObservedLog log{.file = name, .sha256 = name, .contents = {}};
  for (std::size_t i = 0; i < asked.requests; ++i) {
    RandomStream text(asked.texts, {Purpose::accept, 0, i});
    const double alpha = 0.3 + 0.5 * text.uniform() + asked.easier;
    const auto steps = static_cast<std::int64_t>(20.0 + 80.0 * text.uniform());
    RandomStream draws(asked.seed, {Purpose::accept, 1, i});
    logs::AcceptanceCounts counts{
        .steps = steps, .drafted_tokens = steps * written_gamma, .accepted_tokens = 0, .accepted_at = {0, 0, 0}};
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::size_t at = 0; at < 3 && draws.uniform() < alpha; ++at) {
        ++counts.accepted_at[at];
        ++*counts.accepted_tokens;
      }
    }
    logs::Observation request{
        .span = logs::Span::request, .decoding = logs::Decoding::speculative, .gamma = written_gamma};
    request.acceptance = counts;
    if (asked.named) request.stratum.request = std::to_string(i);
    log.contents.observations.push_back(request);
  }
  return log;
}

/// Expected tokens per step over all requests: accepted drafts are weighted by steps, which do not depend on alpha.
double true_length(double easier) {
  constexpr int cells = 10'000;
  double sum = 0.0;
  for (int i = 0; i < cells; ++i) {
    const double alpha = 0.3 + 0.5 * (i + 0.5) / cells + easier;
    sum += 1.0 + alpha + alpha * alpha + alpha * alpha * alpha;
  }
  return sum / cells;
}

const MetricDifference& difference(const Comparison& comparison, std::string_view metric) {
  const auto& metrics = comparison.compared.at(0).metrics;
  return *std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.metric == metric; });
}

Requirement require(const std::string& text) {
  return std::get<Requirement>(answers::parse_requirement(text, "--require"));
}

Comparison compared(const std::vector<logs::Observation>& reference, const std::vector<logs::Observation>& candidate,
                    const std::vector<logs::Observation>& plain_windows = {},
                    const std::vector<std::string>& requirements = {}) {
  answers::ComparisonQuestion question{.reference = log_of(reference, "a"), .candidate = log_of(candidate, "b")};
  if (!plain_windows.empty()) question.plain = {log_of(plain_windows, "p")};
  for (const std::string& one : requirements) question.requirements.push_back(require(one));
  return compare(question);
}

}  // namespace

TEST_CASE("intervals of the acceptance length and of a difference hold their level", "[long]") {
  // Intervals that miss are binomial(1000, 0.05): 5 standard errors are 34. Intervals from independent steps would miss
  // a quarter, because the acceptance rates of requests differ.
  constexpr int samples = 1000;
  constexpr double easier = 0.05;
  const double length = true_length(0.0);
  const double gain = true_length(easier) - length;
  int missed_length = 0;
  int missed_gain = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const Comparison comparison =
        compare({.reference = written({.seed = 4 * i, .texts = 4 * i + 2}, "a"),
                 .candidate = written({.seed = 4 * i + 1, .easier = easier, .texts = 4 * i + 3, .named = false}, "b")});
    const Interval of_length = analytic::interval_of(comparison.runs.at(0).find("acceptance_length")->estimate);
    const MetricDifference& found = difference(comparison, "acceptance_length");
    missed_length += of_length.low > length || of_length.high < length ? 1 : 0;
    missed_gain += found.difference_ci95.low > gain || found.difference_ci95.high < gain ? 1 : 0;
    CHECK_FALSE(found.paired);
  }
  const double error = std::sqrt(samples * 0.05 * 0.95);
  CHECK(std::abs(missed_length - 0.05 * samples) < standard_errors * error);
  CHECK(std::abs(missed_gain - 0.05 * samples) < standard_errors * error);
}

TEST_CASE("the same requests are compared in pairs: the interval holds its level and is shorter", "[long]") {
  constexpr int samples = 400;
  constexpr double easier = 0.05;
  int missed = 0;
  int shown_paired = 0;
  int shown_apart = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const logs::ObservedLog a = written({.seed = 3 * i, .texts = 3 * i + 2}, "a");
    logs::ObservedLog b = written({.seed = 3 * i + 1, .easier = easier, .texts = 3 * i + 2}, "b");
    const Comparison paired = compare({.reference = a, .candidate = b});
    const MetricDifference& found = difference(paired, "acceptance_length");
    REQUIRE(found.paired);
    const double gain = true_length(easier) - true_length(0.0);
    missed += found.difference_ci95.low > gain || found.difference_ci95.high < gain ? 1 : 0;
    shown_paired += found.shown ? 1 : 0;
    b.contents.observations.front().stratum.request = "another";
    const Comparison apart = compare({.reference = a, .candidate = b});
    CHECK_FALSE(difference(apart, "acceptance_length").paired);
    shown_apart += difference(apart, "acceptance_length").shown ? 1 : 0;
  }
  CHECK(std::abs(missed - 0.05 * samples) < standard_errors * std::sqrt(samples * 0.05 * 0.95));
  CHECK(shown_paired > 3 * shown_apart);
}

TEST_CASE("a change of the smallest detectable size is detected in four of five comparisons", "[long]") {
  constexpr int samples = 400;
  constexpr double easier = 0.05;
  double smallest = 0.0;
  int shown = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const Comparison same = compare({.reference = written({.seed = 3 * i, .requests = 20, .texts = i}, "a"),
                                     .candidate = written({.seed = 3 * i + 1, .requests = 20, .texts = i}, "b")});
    smallest += difference(same, "acceptance_length").smallest_detectable / samples;
    const Comparison other =
        compare({.reference = written({.seed = 3 * i, .requests = 20, .texts = i}, "a"),
                 .candidate = written({.seed = 3 * i + 2, .requests = 20, .easier = easier, .texts = i}, "b")});
    shown += difference(other, "acceptance_length").shown ? 1 : 0;
  }
  const double gain = true_length(easier) - true_length(0.0);
  // The normal power for a gain in units of the smallest detectable change, which is 2.8 standard errors.
  const double power = 0.5 * std::erfc((normal_quantile(0.95) - 2.8 * gain / smallest) / std::sqrt(2.0));
  CHECK(shown / static_cast<double>(samples) == Approx(power).margin(0.1));
}

TEST_CASE("a longer acceptance and a shorter time are reported with their sizes, and speedups share the plain run") {
  const Comparison comparison =
      compared({speculative(3, 8, 12.0, 0.7)}, {speculative(3, 8, 11.0, 0.8)}, {plain(8, 10.0)},
               {"speedup>=2", "acceptance_length>2.5", "acceptance_length<=2.952", "iteration_ms<11.2",
                "marginal[1]>=0.7", "marginal[4]>=0.1", "tpot_ms<=1"});
  const MetricDifference& length = difference(comparison, "acceptance_length");
  CHECK(length.difference == Approx(2.952 - 2.533));
  CHECK(length.shown);
  CHECK(length.ratio == Approx(2.952 / 2.533));
  const MetricDifference& speedup = difference(comparison, "speedup");
  CHECK(speedup.ratio == Approx(2.952 / 11.0 * 12.0 / 2.533));
  CHECK(speedup.ratio == Approx(1.0 / difference(comparison, "tpot_ms").ratio));
  CHECK(speedup.ratio_ci95.low == Approx(1.0 / difference(comparison, "tpot_ms").ratio_ci95.high));
  CHECK(comparison.answer.starts_with("Requirements: 1 not met, 2 not shown, 4 met. B accepts 0.4190 more tokens"));
  using Met = RequirementVerdict::Outcome;
  std::vector<Met> outcomes;
  for (const RequirementVerdict& verdict : comparison.verdicts) outcomes.push_back(verdict.outcome);
  CHECK(outcomes ==
        std::vector<Met>{Met::met, Met::met, Met::not_shown, Met::met, Met::met, Met::not_shown, Met::not_met});
  CHECK_FALSE(comparison.meets_requirements());
  CHECK(comparison.concludes());
}

TEST_CASE("equal runs show no difference, and the smallest detectable one is reported") {
  const Comparison comparison =
      compare({.reference = written({.seed = 1, .texts = 1}, "a"), .candidate = written({.seed = 2, .texts = 1}, "b")});
  CHECK(comparison.answer.starts_with("No difference in acceptance length between B and A is shown: "));
  CHECK(comparison.answer.find(" or more would have been seen.") != std::string::npos);
  REQUIRE(comparison.ranking.size() == 2);
  CHECK(comparison.ranking[1].tied);
}

TEST_CASE("runs that differ in temperature, load, category or context are named and not compared") {
  const auto why = [](const logs::Observation& one, const logs::Observation& other) {
    const Comparison comparison = compared({one}, {other});
    CHECK(comparison.compared.empty());
    CHECK_FALSE(comparison.concludes());
    REQUIRE(comparison.not_compared.size() == 1);
    CHECK(comparison.answer == "Nothing is compared: " + comparison.not_compared[0].why + ".");
    REQUIRE(comparison.ranking.size() == 2);
    CHECK(comparison.ranking[0].group != comparison.ranking[1].group);
    return comparison.not_compared[0].why;
  };
  logs::Observation cold = speculative(3, 8, 12.0, 0.7);
  logs::Observation warm = cold;
  cold.stratum.temperature = 0.0;
  warm.stratum.temperature = 0.7;
  CHECK(why(cold, warm) == "temperature 0 against 0.7");
  CHECK(why(speculative(3, 8, 12.0, 0.7), speculative(3, 64, 12.0, 0.7)) == "8 requests against 64 requests");
  logs::Observation code = speculative(3, 8, 12.0, 0.7);
  logs::Observation chat = code;
  code.stratum.category = "code";
  chat.stratum.category = "chat";
  CHECK(why(code, chat) == "category code against chat");
  logs::Observation brief = speculative(3, 8, 12.0, 0.7);
  logs::Observation full = brief;
  brief.stratum.context_tokens = 1000.0;
  full.stratum.context_tokens = 8000.0;
  CHECK(why(brief, full) == "context 1000 against 8000 tokens");
}

TEST_CASE("the fewer requests at once, the more their lengths may differ") {
  const auto differs = [](double requests, double context) {
    logs::Observation one = speculative(3, requests, 12.0, 0.7), other = one;
    one.stratum.context_tokens = 200.0;
    other.stratum.context_tokens = context;
    return !compared({one}, {other}).not_compared.empty();
  };
  CHECK_FALSE(differs(1, 1200.0));
  CHECK(differs(1, 1300.0));
  CHECK_FALSE(differs(2, 700.0));
  CHECK(differs(2, 720.0));
  CHECK_FALSE(differs(8, 450.0));
  CHECK(differs(8, 460.0));
}

TEST_CASE("another target model is not compared, neither with a run nor with a plain run") {
  answers::ComparisonQuestion question{.reference = log_of({speculative(3, 8, 12.0, 0.7)}, "a"),
                                       .candidate = log_of({speculative(3, 8, 11.0, 0.8)}, "b"),
                                       .plain = {log_of({plain(8, 10.0)}, "p")}};
  std::get<logs::ObservedLog>(question.reference).contents.settings.target = "acme/small";
  question.candidate->contents.settings.target = "acme/large";
  question.plain[0].contents.settings.target = "acme/large";
  const Comparison comparison = compare(question);
  CHECK(comparison.compared.empty());
  CHECK(comparison.not_compared.at(0).why == "target small against large");
  CHECK(comparison.runs.at(0).unknown.at("speedup") == "the plain run differs: target small against large");
  CHECK(comparison.runs.at(1).find("speedup") != nullptr);
}

TEST_CASE("a plain log that speculates, or of another load, gives no speedup, and the requirement is unproven") {
  const Comparison speculates = compared({speculative(3, 8, 12.0, 0.7)}, {speculative(3, 8, 12.0, 0.8)},
                                         {speculative(3, 8, 10.0, 0.5)}, {"speedup>=1"});
  CHECK(speculates.runs.at(1).find("speedup") == nullptr);
  CHECK(std::any_of(speculates.warnings.begin(), speculates.warnings.end(),
                    [](const logs::LogWarning& one) { return one.code == "W09"; }));
  CHECK(speculates.verdicts.at(0).outcome == RequirementVerdict::Outcome::not_shown);
  CHECK_FALSE(speculates.verdicts[0].why.empty());
  const Comparison elsewhere =
      compared({speculative(3, 8, 12.0, 0.7)}, {speculative(3, 8, 12.0, 0.8)}, {plain(64, 10.0)});
  CHECK(elsewhere.runs.at(0).unknown.at("speedup") == "the plain run differs: 8 requests against 64 requests");
}

TEST_CASE("times of unknown loads are compared with a warning") {
  logs::Observation unknown = speculative(3, 8, 12.0, 0.7);
  unknown.requests.reset();
  const auto warned = [](const Comparison& comparison) {
    return std::any_of(comparison.warnings.begin(), comparison.warnings.end(), [](const logs::LogWarning& one) {
      return one.code == "W09" && one.message.starts_with("the concurrency was not logged");
    });
  };
  CHECK(warned(compared({unknown}, {unknown})));
  CHECK_FALSE(warned(compared({speculative(3, 8, 12.0, 0.7)}, {speculative(3, 8, 12.0, 0.7)})));
  // As advise: beside a plain run of one request it is one of one request.
  const Comparison alone = compared({unknown}, {unknown}, {plain(1, 10.0)});
  CHECK(alone.runs.at(0).find("speedup") != nullptr);
  CHECK(warned(alone));
  CHECK(compared({unknown}, {unknown}, {plain(2, 10.0)}).runs.at(0).find("speedup") == nullptr);
}

TEST_CASE("a counter of full drafts only gives no acceptance") {
  logs::Observation full = speculative(3, 8, 12.0, 1.0);
  const Comparison comparison =
      compared({speculative(3, 8, 12.0, 0.7)}, {full}, {plain(8, 10.0)}, {"acceptance_length>=3", "speedup>=2"});
  CHECK(comparison.runs.at(1).find("acceptance_length") == nullptr);
  CHECK(comparison.verdicts.at(0).outcome == RequirementVerdict::Outcome::not_shown);
  CHECK(comparison.verdicts.at(1).outcome == RequirementVerdict::Outcome::not_shown);
  CHECK(std::any_of(comparison.warnings.begin(), comparison.warnings.end(),
                    [](const logs::LogWarning& one) { return one.code == "W13"; }));
}

TEST_CASE("throughput at a stated request rate is the arrival rate: it is neither compared nor required") {
  logs::Observation paced = speculative(3, 8, 12.0, 0.7);
  paced.times.request_rate_per_s = 2.0;
  paced.times.output_tokens_per_s = 500.0;
  const Comparison comparison = compared({paced}, {paced}, {}, {"output_tokens_per_s>=1"});
  CHECK(comparison.runs.at(0).find("output_tokens_per_s") == nullptr);
  CHECK(comparison.verdicts.at(0).outcome == RequirementVerdict::Outcome::not_shown);
}

TEST_CASE("a relative requirement is judged by the ratio to the run of A and its interval") {
  const std::vector loads{speculative(3, 1, 12.0, 0.7), speculative(3, 8, 12.0, 0.7)};
  const std::vector faster{speculative(3, 1, 11.0, 0.9), speculative(3, 8, 14.0, 0.7)};
  const Comparison comparison =
      compared(loads, faster, {}, {"acceptance_length>=1.1x", "tpot<=1.02x", "iteration_ms>=0.92x", "speedup>=0.1x"});
  REQUIRE(comparison.verdicts.size() == 8);
  using Judged = RequirementVerdict::Outcome;
  std::vector<Judged> outcomes;
  for (const RequirementVerdict& verdict : comparison.verdicts) outcomes.push_back(verdict.outcome);
  CHECK(outcomes == std::vector{Judged::met, Judged::not_met, Judged::met, Judged::not_met, Judged::not_shown,
                                Judged::met, Judged::not_shown, Judged::not_shown});
  const MetricDifference& length = difference(comparison, "acceptance_length");
  CHECK(comparison.verdicts[0].value == length.ratio);
  CHECK(comparison.verdicts[0].ci95->low == length.ratio_ci95.low);
  CHECK(comparison.verdicts[0].ci95->high == length.ratio_ci95.high);
  CHECK(comparison.verdicts[0].run == "B, K = 3, 1 request");
  CHECK(comparison.verdicts[0].reference == "A, K = 3, 1 request");
  CHECK(comparison.verdicts[1].reference == "A, K = 3, 8 requests");
  CHECK_FALSE(comparison.verdicts[6].why.empty());
  CHECK(app::to_text(comparison).find(") times A\n") != std::string::npos);
}

TEST_CASE("a paired comparison can meet a relative requirement that an unpaired one leaves unproven") {
  // The intervals of the ratio begin at 0.983 and at 0.931.
  const logs::ObservedLog a = written({.seed = 1, .texts = 1}, "a");
  logs::ObservedLog b = written({.seed = 2, .texts = 1}, "b");
  const auto outcome = [&] {
    return compare({.reference = a, .candidate = b, .requirements = {require("acceptance_length>=0.95x")}})
        .verdicts.at(0)
        .outcome;
  };
  CHECK(outcome() == RequirementVerdict::Outcome::met);
  b.contents.observations.front().stratum.request = "another";
  CHECK(outcome() == RequirementVerdict::Outcome::not_shown);
}

TEST_CASE("a relative requirement of a run that is not compared with A is unproven, with the reason") {
  const Comparison comparison =
      compared({speculative(3, 8, 12.0, 0.7)}, {speculative(3, 64, 12.0, 0.7)}, {}, {"acceptance_length>=0.1x"});
  REQUIRE(comparison.verdicts.size() == 1);
  CHECK(comparison.verdicts[0].outcome == RequirementVerdict::Outcome::not_shown);
  CHECK(comparison.verdicts[0].why == "not compared with A: 8 requests against 64 requests");
}

TEST_CASE("windows without requests in flight may lack what others of their log show") {
  logs::Observation idle = speculative(3, 8, 12.0, 0.7);
  idle.requests = 0.0;
  idle.times = {};
  const std::vector busy{speculative(3, 8, 12.0, 0.7), speculative(3, 8, 12.0, 0.7)};
  std::vector ends_idle = busy;
  ends_idle.push_back(idle);
  const Comparison comparison =
      compared(busy, ends_idle, {plain(8, 10.0)}, {"speedup>=0.5", "acceptance_length>=1.5", "tpot<=1.5x"});
  CHECK(comparison.meets_requirements());
  const auto verdicts_of = [&](const std::string& text) {
    return std::ranges::count_if(comparison.verdicts, [&](const auto& one) { return one.requirement.text == text; });
  };
  CHECK(verdicts_of("speedup>=0.5") == 1);
  CHECK(verdicts_of("acceptance_length>=1.5") == 2);  // counted in both
  CHECK(verdicts_of("tpot<=1.5x") == 1);
  CHECK_FALSE(compared(busy, ends_idle, {}, {"speedup>=0.5"}).meets_requirements());
  const Comparison only_idle = compared(busy, {idle}, {plain(8, 10.0)}, {"speedup>=0.5"});
  REQUIRE(only_idle.verdicts.size() == 1);
  CHECK(only_idle.verdicts[0].outcome == RequirementVerdict::Outcome::not_shown);
}

TEST_CASE("every run of the candidate must meet a requirement, and each is named") {
  const std::vector loads{speculative(3, 1, 12.0, 0.8), speculative(3, 64, 60.0, 0.8)};
  const Comparison comparison = compared(loads, loads, {plain(1, 10.0), plain(64, 20.0)}, {"speedup>=1.05"});
  REQUIRE(comparison.verdicts.size() == 2);
  CHECK(comparison.verdicts[0].run == "B, K = 3, 1 request");
  CHECK(comparison.verdicts[0].outcome == RequirementVerdict::Outcome::met);
  CHECK(comparison.verdicts[1].run == "B, K = 3, 64 requests");
  CHECK(comparison.verdicts[1].outcome == RequirementVerdict::Outcome::not_met);
  CHECK(comparison.compared.size() == 2);
}

TEST_CASE("without B the runs of A are compared with its first of the same load and ranked") {
  const Comparison comparison =
      compare({.reference = log_of({speculative(1, 8, 10.0, 0.8), speculative(3, 8, 12.0, 0.8),
                                    speculative(5, 8, 30.0, 0.8), plain(8, 9.0)})});
  REQUIRE(comparison.compared.size() == 2);
  for (const auto& one : comparison.compared) CHECK(comparison.runs[one.reference].run.setting.gamma == 1);
  REQUIRE(comparison.ranking.size() == 3);
  CHECK(comparison.runs[comparison.ranking[0].run].run.setting.gamma == 3);
  CHECK(comparison.runs[comparison.ranking[2].run].run.setting.gamma == 5);
  CHECK(comparison.ranking[0].metric == "speedup");
  const Comparison alone = compare({.reference = log_of({speculative(3, 8, 12.0, 0.8)})});
  CHECK(alone.answer.starts_with("A, K = 3, 8 requests yields 2.9"));
  CHECK(alone.concludes());
}

TEST_CASE("drafters that one log recorded by text position are compared request by request") {
  logs::ObservedLog log{.file = "t", .sha256 = "t", .contents = {}};
  for (std::size_t i = 0; i < 10; ++i) {
    for (const std::string drafter : {"eagle", "ngram"}) {
      logs::Observation trace{.span = logs::Span::request, .decoding = logs::Decoding::speculative};
      RandomStream draws(i, {Purpose::accept, drafter == "eagle" ? 0U : 1U, 0});
      for (int at = 0; at < 100; ++at) {
        const double accepted = (drafter == "eagle" ? 4.0 : 2.0) * draws.uniform();
        trace.trace.by_position.push_back(static_cast<std::int32_t>(accepted));
      }
      trace.stratum.request = std::to_string(i);
      trace.stratum.category = drafter;
      log.contents.observations.push_back(trace);
    }
  }
  const Comparison comparison = compare({.reference = log});
  CHECK(comparison.runs.size() == 24);
  const auto of_drafters = std::find_if(comparison.compared.begin(), comparison.compared.end(), [&](const auto& one) {
    return comparison.runs[one.candidate].name == "A, ngram, K = 3";
  });
  REQUIRE(of_drafters != comparison.compared.end());
  CHECK(comparison.runs[of_drafters->reference].name == "A, eagle, K = 3");
  CHECK(of_drafters->metrics.at(0).paired);
  CHECK(of_drafters->metrics[0].shown);
}

TEST_CASE("counts of a single run have a known error, its times do not") {
  const auto single = [](double alpha) { return log_as_is({speculative(3, 8, 12.0, alpha)}); };
  const Comparison comparison =
      compare({.reference = single(0.7), .candidate = single(0.9), .requirements = {require("tpot<=2x")}});
  const MetricDifference& length = difference(comparison, "acceptance_length");
  CHECK(length.shown);
  CHECK_FALSE(length.paired);
  const auto error = [&](std::size_t run) { return comparison.runs.at(run).run.tokens->standard_error; };
  const double half = normal_quantile(0.95) * std::hypot(error(0), error(1));
  CHECK(length.difference_ci95.high - length.difference == Approx(half));
  const MetricDifference& iteration = difference(comparison, "tpot_ms");
  CHECK(iteration.ratio == Approx(length.reference / length.candidate));
  CHECK(std::isnan(iteration.ratio_ci95.low));
  CHECK(std::isnan(iteration.difference_ci95.high));
  CHECK(std::isnan(iteration.smallest_detectable));
  CHECK_FALSE(iteration.shown);
  CHECK(comparison.verdicts.at(0).outcome == RequirementVerdict::Outcome::not_shown);
  CHECK(app::to_text(comparison).find("whose error is not known") != std::string::npos);
}

TEST_CASE("requirements are read with or without blanks, and errors name what is wrong") {
  const Requirement blanks = require(" speedup  >= 1.05");
  CHECK(blanks.text == "speedup>=1.05");
  CHECK(blanks.threshold == 1.05);
  CHECK(require("marginal[12]<80%").threshold == 0.8);
  CHECK(require("acceptance_length>2").relation == Requirement::Relation::above);
  CHECK(require("tpot_ms<=2").relation == Requirement::Relation::at_most);
  CHECK_FALSE(require("tpot_ms<=2").relative);
  const Requirement relative = require("tpot <= 102%x");
  CHECK(relative.metric == "tpot_ms");
  CHECK(relative.threshold == 1.02);
  CHECK(relative.relative);
  for (const std::string wrong :
       {"", "speedup", "speedup=1", ">=1", "speedup>=", "speedup>=nan", "speedup>=1,2", "sped>=1", "marginal[0]>=1",
        "marginal[01]>=1", "speedup>=x", "speedup>=0x", "speedup>=1xx", "speedup>=-1x", "marginal[9999]>=1",
        "marginal[1>=1", "speedup=>1", "speedup>>1"}) {
    INFO(wrong);
    CHECK(std::holds_alternative<Problem>(answers::parse_requirement(wrong, "--require")));
  }
}

TEST_CASE("of two logs, one of plain decoding only is compared by its times") {
  const std::vector<logs::Observation> slow{plain(8, 10.0), plain(8, 10.2), plain(8, 9.8), plain(8, 10.1)};
  const std::vector<logs::Observation> fast{plain(8, 8.0), plain(8, 8.2), plain(8, 7.8), plain(8, 8.1)};
  const Comparison two = compared(slow, fast);
  CHECK(difference(two, "tpot_ms").difference == Approx(-2.0));
  CHECK(two.answer.starts_with("The TPOT of B is 20"));
  CHECK(two.runs.at(0).name == "A, plain, 8 requests");
  CHECK(two.runs.at(0).find("speedup") == nullptr);

  const std::vector<logs::Observation> drafted{speculative(3, 8, 12.0, 0.7), speculative(3, 8, 12.0, 0.7)};
  const Comparison mixed = compared(slow, drafted);
  CHECK(mixed.runs.at(0).unknown.contains("acceptance_length"));
  CHECK(mixed.compared.at(0).metrics.front().metric == "iteration_ms");
  CHECK(mixed.runs.at(1).find("speedup")->estimate.value == Approx(1.0 / difference(mixed, "tpot_ms").ratio));
}

TEST_CASE("a single log of plain decoding is an error that says which option takes it") {
  const answers::ComparisonQuestion question{.reference = log_of({plain(8, 10.0)}, "a.log")};
  CHECK_THROWS_WITH(compare(question), Catch::Contains("a.log: no speculative decoding") && Catch::Contains("--plain"));
}

TEST_CASE("tokens cost the price of all GPUs over the tokens of an hour, with speculation and without") {
  const auto with_throughput = [](logs::Observation window, double tokens_per_s) {
    window.times.output_tokens_per_s = tokens_per_s;
    return window;
  };
  answers::ComparisonQuestion question{
      .reference = log_of({with_throughput(speculative(3, 8, 20.0, 0.7), 1000.0), speculative(3, 64, 20.0, 0.7)}, "a"),
      .plain = {log_of({with_throughput(plain(8, 12.0), 500.0)}, "p")}};
  CHECK(compare(question).costs.empty());
  question.gpu_price = answers::GpuPrice{.per_hour = 3.6, .gpus = 2};
  const Comparison comparison = compare(question);
  REQUIRE(comparison.costs.size() == 2);
  // 7.2 an hour are 0.002 a second, in which 1000 or 500 tokens are generated.
  CHECK(*comparison.costs[0].own == Approx(2.0));
  CHECK(*comparison.costs[0].plain == Approx(4.0));
  CHECK_FALSE(comparison.costs[1].own);
  CHECK_FALSE(comparison.costs[1].plain);
}

}  // namespace foredraft::tests
