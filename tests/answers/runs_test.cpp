// SPDX-License-Identifier: Apache-2.0
#include "answers/runs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/answers/advise_testing.hpp"

namespace foredraft::tests {
namespace {

using answers::Run;
using answers::RunList;
using logs::Observation;

RunList runs_in(const std::vector<logs::ObservedLog>& logs, const std::vector<logs::ObservedLog>& plain_logs = {}) {
  return answers::runs_of(logs, plain_logs);
}

RunList runs_in(const std::vector<Observation>& observations) { return runs_in({log_as_is(observations)}); }

/// A run of a load generator.
Observation whole_run(double alpha = 0.7, std::int64_t steps = 20'000) {
  Observation run = speculative(3, 8, 12.0, alpha, steps);
  run.span = logs::Span::run;
  return run;
}

std::vector<std::string> loads_of(const RunList& runs) {
  std::vector<std::string> loads;
  for (const Run& run : runs.all) loads.push_back(answers::load_text(run));
  return loads;
}

/// Windows of one context with this iteration time.
std::vector<Observation> with_context(std::int64_t gamma, double context, double iteration_ms) {
  std::vector<Observation> windows;
  for (int i = 0; i < 3; ++i) {
    Observation one = gamma == 0 ? plain(8, iteration_ms) : speculative(gamma, 8, iteration_ms, 0.8);
    one.stratum.context_tokens = context * (1.0 + 0.1 * i);
    windows.push_back(one);
  }
  return windows;
}

std::vector<Observation> joined(const std::vector<std::vector<Observation>>& parts) {
  std::vector<Observation> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("drafters, models, engines and versions never share a run, requests of one setting do") {
  const std::vector windows{speculative(3, 8, 12.0, 0.8), speculative(3, 8, 12.0, 0.8)};
  CHECK(runs_in(windows).all.size() == 1);
  const auto differs = [&](const auto& change) {
    logs::ObservedLog first = log_as_is(windows, "a");
    logs::ObservedLog second = log_as_is(windows, "b");
    change(second.contents);
    return runs_in({first, second}).all.size() == 2;
  };
  CHECK_FALSE(differs([](auto&) {}));
  CHECK(differs([](auto& log) { log.settings.method = "eagle3"; }));
  CHECK(differs([](auto& log) { log.settings.draft = "acme/head"; }));
  CHECK(differs([](auto& log) { log.settings.target = "acme/target"; }));
  CHECK(differs([](auto& log) { log.engine = "sglang"; }));
  CHECK(differs([](auto& log) { log.version = "0.30.0"; }));
  CHECK(differs([](auto& log) {
    for (Observation& one : log.observations) one.adaptive = true;
  }));
}

TEST_CASE("the load of a run is that of the windows that were timed") {
  // 7 and 11 are nearest to 8 requests: the second 11 follows itself, the 7 follows 20.
  const auto of = [](double requests) { return plain(requests, 10.0 + requests); };
  const RunList runs = runs_in({of(11), of(11), of(20), of(20), of(7)});
  CHECK(loads_of(runs) == std::vector<std::string>{"11 requests", "20 requests"});
}

TEST_CASE("an observation's own drafter overrides that of its log") {
  Observation named = speculative(3, 8, 12.0, 0.8);
  named.drafter = "ngram";
  logs::ObservedLog log = log_as_is({speculative(3, 8, 12.0, 0.8), named});
  log.contents.settings.method = "eagle3";
  const RunList runs = runs_in({log});
  REQUIRE(runs.all.size() == 2);
  CHECK(runs.all[0].setting.drafter == "eagle3");
  CHECK(runs.all[1].setting.drafter == "ngram");
  CHECK(answers::setting_text(runs.all[1], runs.all) == "ngram, K = 3");
}

TEST_CASE("ways of sampling are separate loads, a single one is none") {
  Observation cold = speculative(3, 8, 12.0, 0.8);
  cold.stratum.temperature = 0.0;
  Observation warm = speculative(3, 8, 12.0, 0.6);
  warm.stratum.temperature = 0.7;
  const RunList runs = runs_in({cold, warm});
  REQUIRE(runs.all.size() == 2);
  CHECK(runs.all[0].load.sampling == "temperature 0");
  CHECK(runs.all[1].load.sampling == "temperature 0.7");
  CHECK(runs_in({cold, cold}).all.at(0).load.sampling == std::nullopt);
  // Sampling settings of plain runs alone separate nothing.
  Observation plain_cold = plain(8, 10.0);
  plain_cold.stratum.temperature = 0.0;
  CHECK(runs_in({cold, plain_cold, plain(8, 10.0)}).all.size() == 2);
}

TEST_CASE("a limit of the load generator is the load if it binds, else the requests in flight are") {
  const auto load = [](std::optional<double> limit, std::optional<double> running) {
    Observation run = whole_run();
    run.concurrency = limit;
    run.requests = running;
    return runs_in({run}).all.at(0).load.requests;
  };
  CHECK(load(64.0, 60.0) == 64.0);
  CHECK(load(64.0, std::nullopt) == 64.0);
  CHECK(load(64.0, 20.0) == 20.0);
  CHECK(load(std::nullopt, 20.4) == 20.0);
  CHECK(load(std::nullopt, std::nullopt) == std::nullopt);
}

TEST_CASE("requests sent at once and stated rates are loads, for any number in flight") {
  Observation at_once = whole_run();
  at_once.offered_requests = 500.0;
  Observation faster = whole_run();
  faster.offered_requests = 500.0;
  faster.requests = 30.0;
  CHECK(loads_of(runs_in({at_once, faster})) == std::vector<std::string>{"500 requests at once"});
  at_once.concurrency = 8.0;
  CHECK(loads_of(runs_in({at_once})) == std::vector<std::string>{"8 requests"});
  Observation paced = whole_run();
  paced.times.request_rate_per_s = 2.0;
  paced.concurrency = 8.0;
  CHECK(loads_of(runs_in({paced})) == std::vector<std::string>{"2 requests/s"});
}

TEST_CASE("windows are grouped by powers of two of their requests in flight, runs are not") {
  const std::vector windows{speculative(3, 7, 12.0, 0.8), speculative(3, 9, 12.0, 0.8), speculative(3, 16, 12.0, 0.8)};
  CHECK(runs_in(windows).all.size() == 2);
  Observation one = whole_run();
  Observation other = whole_run();
  one.requests = 7.0;
  other.requests = 9.0;
  CHECK(runs_in({one, other}).all.size() == 2);
}

TEST_CASE("contexts are separate loads if iterations differ between them, with speculation and without") {
  const std::vector alike = joined({with_context(3, 1000.0, 12.0), with_context(3, 30'000.0, 12.5)});
  CHECK(runs_in(alike).all.size() == 1);
  const std::vector apart = joined({with_context(3, 1000.0, 12.0), with_context(3, 30'000.0, 20.0),
                                    with_context(0, 1000.0, 10.0), with_context(0, 30'000.0, 11.0)});
  const RunList runs = runs_in(apart);
  CHECK(loads_of(runs) == std::vector<std::string>{"8 requests at 1.1k tokens", "8 requests at 33k tokens",
                                                   "8 requests at 1.1k tokens", "8 requests at 33k tokens"});
  CHECK(runs.all[0].is_plain());
  CHECK(runs.all[1].is_plain());
}

TEST_CASE("whole runs at several contexts are no repetitions, if each arm was run at all of them") {
  const auto run_of = [](std::int64_t gamma, double context, double iteration_ms) {
    Observation run = with_context(gamma, context, iteration_ms).front();
    run.span = logs::Span::run;
    return run;
  };
  const std::vector both{run_of(3, 500.0, 12.0), run_of(3, 8000.0, 12.5), run_of(0, 500.0, 9.0),
                         run_of(0, 8000.0, 9.2)};
  CHECK(runs_in(both).all.size() == 4);
  CHECK(runs_in({both[1], both[2], both[3]}).all.size() == 3);  // one arm at one of them only
  Observation third = run_of(0, 20'000.0, 9.9);
  CHECK(runs_in({both[0], both[1], both[2], both[3], third}).all.size() == 2);  // both at several, but others
  CHECK(runs_in({both[0], both[0], both[2], both[2]}).all.size() == 2);
}

TEST_CASE("a level of contexts begins after a gap of half, and short contexts are one") {
  using Levels = std::vector<double>;
  CHECK(answers::context_levels({4000.0, 1000.0, 1400.0, 1900.0}) == Levels{1000.0, 4000.0});
  CHECK(answers::context_levels({10.0, 100.0, 300.0}) == Levels{10.0});
  CHECK(answers::context_levels({}).empty());
  const Levels levels{1000.0, 4000.0};
  CHECK(answers::level_of(3999.0, levels) == 1000.0);
  CHECK(answers::level_of(4000.0, levels) == 4000.0);
  CHECK(answers::level_of(9000.0, levels) == 4000.0);
}

TEST_CASE("files that contradict each other are separate runs, files that agree are one") {
  const auto runs = [](double one, double other) {
    return runs_in({log_as_is({whole_run(one)}, "a"), log_as_is({whole_run(other)}, "b")});
  };
  CHECK(runs(0.7, 0.7).all.size() == 1);
  CHECK(runs(0.7, 0.705).all.size() == 1);  // significant but irrelevant
  const RunList apart = runs(0.7, 0.6);
  REQUIRE(apart.all.size() == 2);
  CHECK(apart.all[0].setting.file == "a:0");
  CHECK(apart.all[0].files == std::set<std::string>{"a"});
  CHECK(apart.all[1].files == std::set<std::string>{"b"});
  // Noise: 300 steps each.
  CHECK(runs_in({log_as_is({whole_run(0.7, 300)}, "a"), log_as_is({whole_run(0.6, 300)}, "b")}).all.size() == 1);
  // Windows of one file are one kind of traffic, even if they differ.
  CHECK(runs_in({speculative(3, 8, 12.0, 0.7, 20'000), speculative(3, 8, 12.0, 0.6, 20'000)}).all.size() == 1);
}

TEST_CASE("the order of files changes nothing") {
  logs::ObservedLog one = log_as_is({whole_run(0.7), speculative(1, 8, 11.0, 0.7)}, "one");
  logs::ObservedLog other = log_as_is({whole_run(0.6), speculative(1, 8, 11.0, 0.7, 500), plain(8, 10.0)}, "other");
  const RunList runs = runs_in({one, other});
  const RunList turned = runs_in({other, one});
  REQUIRE(runs.all.size() == turned.all.size());
  for (std::size_t i = 0; i < runs.all.size(); ++i) {
    CHECK(runs.all[i].setting == turned.all[i].setting);
    CHECK(runs.all[i].load == turned.all[i].load);
    CHECK(runs.all[i].steps == turned.all[i].steps);
    REQUIRE(runs.all[i].parts.size() == turned.all[i].parts.size());
    for (std::size_t k = 0; k < runs.all[i].parts.size(); ++k) {
      CHECK(runs.all[i].parts[k].weight == turned.all[i].parts[k].weight);
    }
  }
}

TEST_CASE("replayed requests come in the order of their files' names") {
  const auto recorded = [](const std::string& name, std::int32_t accepted) {
    Observation trace{.span = logs::Span::request, .decoding = logs::Decoding::speculative};
    trace.trace.by_position.assign(100, accepted);
    return log_as_is({trace}, name);
  };
  const std::vector logs{recorded("b", 1), recorded("a", 0)};
  const Run run = runs_in(logs).all.at(0);
  REQUIRE(run.parts.size() == 2);
  CHECK(run.parts[0].weight == 100.0);
  CHECK(run.parts[1].weight == 50.0);
}

TEST_CASE("observations that are neither plain nor speculative are left out, unless plain logs are given") {
  Observation unknown = speculative(3, 8, 12.0, 0.8);
  unknown.decoding = logs::Decoding::unknown;
  const RunList without = runs_in({unknown});
  CHECK(without.all.empty());
  REQUIRE(without.warnings.size() == 1);
  CHECK(without.warnings[0].code == "W09");
  const RunList with = runs_in({log_as_is({unknown})}, {log_as_is({unknown}, "p")});
  REQUIRE(with.all.size() == 2);
  CHECK(with.all[0].is_plain());
  CHECK(with.warnings.empty());
}

TEST_CASE("a run without a completed request is left out with a warning") {
  Observation failed = whole_run();
  failed.completed_requests = 0;
  const RunList runs = runs_in({failed, whole_run()});
  REQUIRE(runs.all.size() == 1);
  CHECK(runs.all[0].observations == 1);
  CHECK(runs.warnings.at(0).code == "W11");
}

TEST_CASE("requests of a file have the load of its whole run") {
  Observation run = whole_run();
  run.concurrency = 16.0;
  run.requests.reset();
  Observation request = speculative(3, 1, 12.0, 0.7);
  request.span = logs::Span::request;
  request.requests.reset();
  CHECK(runs_in({run, request}).all.size() == 1);
}

TEST_CASE("a rate exceeds the capacity if clearly fewer requests are served") {
  const auto overloaded = [](double served) {
    Observation run = whole_run();
    run.times.request_rate_per_s = 10.0;
    run.times.served_requests_per_s = served;
    return runs_in({run}).all.at(0).overloaded;
  };
  CHECK(overloaded(8.0));
  CHECK_FALSE(overloaded(9.5));
}

TEST_CASE("an unlogged draft length is inferred if all steps drafted equally many tokens") {
  const auto gamma = [](std::int64_t drafted_of_the_second) {
    Observation one = speculative(3, 8, 12.0, 0.7, 100);
    Observation other = one;
    one.gamma = other.gamma = std::nullopt;
    other.acceptance->drafted_tokens = drafted_of_the_second;
    return runs_in({one, other}).all.at(0).setting.gamma;
  };
  CHECK(gamma(300) == 3);
  CHECK(gamma(200) == std::nullopt);
  CHECK(gamma(299) == std::nullopt);
}

TEST_CASE("windows in which nothing was drafted have the draft length that follows from the others") {
  const logs::Observation counted = speculative(3, 1, 30.0, 0.7, 100);
  logs::Observation drafts = counted, nothing = counted;
  drafts.gamma = nothing.gamma = std::nullopt;
  nothing.acceptance = logs::AcceptanceCounts{.drafted_tokens = 0, .accepted_tokens = 0, .generated_tokens = 90};
  const RunList runs = runs_in({nothing, drafts});
  REQUIRE(runs.all.size() == 1);
  CHECK(runs.all[0].setting.gamma == 3);
}

TEST_CASE("a plain speed of llama-bench beside answers of a server is said to be of another tool") {
  const Observation reads{.span = logs::Span::run,
                          .decoding = logs::Decoding::plain,
                          .requests = 1.0,
                          .times = {.prompt_tokens_per_s = 900.0}};
  Observation decodes = reads;
  decodes.times = {.output_tokens_per_s = 40.0, .iteration_ms = 25.0, .tpot_ms = 25.0};
  Observation answer = speculative(3, 1, 30.0, 0.7, 400);
  answer.span = logs::Span::request;
  answer.times.tpot_ms = 15.0;
  answer.stratum.output_tokens = 800.0;
  const auto advice = [&](const std::string& format, const Observation& plain) {
    logs::ObservedLog log = log_as_is({reads, plain, answer});
    log.contents.format = format;
    return answers::advise({.logs = {log}});
  };
  const auto of_tools = [](const answers::Advice& given) {
    return std::ranges::count_if(given.warnings, [](const logs::LogWarning& one) {
      return one.code == "W09" && one.message.starts_with("two tools");
    });
  };
  const answers::Advice both = advice("llama-tables llama-server", decodes);
  CHECK(of_tools(both) == 1);
  REQUIRE(both.runs.size() == 2);
  CHECK(both.runs.at(0).run.observations == 1);  // not the test that reads a prompt
  CHECK(of_tools(advice("bench-serving", decodes)) == 0);
  // It generates few tokens, whatever the length of answers; steps at other contexts are others.
  Observation brief = decodes;
  brief.stratum.output_tokens = 128.0;
  answer.stratum.output_tokens = 6000.0;
  CHECK(of_tools(advice("llama-bench-csv llama-server", brief)) == 1);
  CHECK(advice("llama-bench-csv llama-server", brief).loads.at(0).arms_differ.empty());
  CHECK_FALSE(advice("bench-serving", brief).loads.at(0).arms_differ.empty());
  brief.stratum.context_tokens = 64.0;
  answer.stratum.context_tokens = 9000.0;
  CHECK_FALSE(advice("llama-bench-csv llama-server", brief).loads.at(0).arms_differ.empty());
  Observation unloaded = answer;
  unloaded.requests.reset();
  logs::ObservedLog bench = log_as_is({decodes});
  bench.contents.format = "llama-bench";
  const answers::Advice unknown = answers::advise({.logs = {log_as_is({unloaded})}, .plain = {bench}});
  CHECK(std::ranges::any_of(unknown.warnings, [](const logs::LogWarning& one) {
    return one.message.find("the plain run of another tool, one request") != std::string::npos;
  }));
  Observation of_server = decodes;
  of_server.span = logs::Span::request;
  CHECK(of_tools(advice("llama-tables llama-server", of_server)) == 0);
}

TEST_CASE("a run that turns out to be plain has no acceptance length, whatever its chunks hold") {
  const Observation chunked{.span = logs::Span::run, .acceptance_length = 1.7, .times = {.tpot_ms = 10.0}};
  const RunList runs = runs_in({log_as_is({chunked})}, {log_as_is({chunked})});
  REQUIRE(runs.all.size() == 2);
  const auto plain =
      std::ranges::find(runs.all, logs::Decoding::plain, [](const Run& run) { return run.setting.decoding; });
  const auto drafts =
      std::ranges::find(runs.all, logs::Decoding::speculative, [](const Run& run) { return run.setting.decoding; });
  REQUIRE(plain != runs.all.end());
  REQUIRE(drafts != runs.all.end());
  CHECK(plain->parts.at(0).tokens.value_or(1.0) == 1.0);
  CHECK(drafts->parts.at(0).tokens == 1.7);
}

TEST_CASE("a draft length that no step of any answer contradicts is inferred from tokens and drafts") {
  struct Answer {
    std::int64_t tokens, drafted, accepted;
  };
  const auto run = [](const std::vector<Answer>& answers) {
    std::vector<Observation> all;
    for (const Answer& one : answers) {
      all.push_back({.span = logs::Span::request, .decoding = logs::Decoding::speculative});
      all.back().acceptance = logs::AcceptanceCounts{.steps = one.tokens - one.accepted - 1,
                                                     .drafted_tokens = one.drafted,
                                                     .accepted_tokens = one.accepted,
                                                     .steps_estimated = true};
      all.back().stratum.output_tokens = static_cast<double>(one.tokens);
    }
    return runs_in(all).all.at(0);
  };
  const auto gamma = [&](const std::vector<Answer>& answers) { return run(answers).setting.gamma; };
  CHECK(gamma({{301, 400, 100}}) == 2);
  CHECK(run({{301, 402, 100}}).steps == 201.0);  // the first token is of a step, too
  CHECK(gamma({{301, 399, 100}}) == 2);          // the last draft is cut short
  CHECK(gamma({{301, 400, 100}, {301, 599, 100}}) == std::nullopt);
  CHECK(gamma({{301, 404, 100}}) == std::nullopt);  // more than 2 a step
  CHECK(gamma({{301, 392, 100}}) == std::nullopt);  // many drafts ended early
  CHECK(gamma({{41, 121, 30}}) == std::nullopt);    // of about 10 steps: 11, 12 or 13
}

TEST_CASE("runs are named by what distinguishes them") {
  Run run{.setting = {.decoding = logs::Decoding::speculative, .gamma = 3, .drafter = "eagle3"}};
  Run other = run;
  CHECK(answers::setting_text(run, std::vector{run, other}) == "K = 3");
  other.setting.drafter = "ngram";
  CHECK(answers::setting_text(run, std::vector{run, other}) == "eagle3, K = 3");
  run.setting.adaptive = true;
  CHECK(answers::setting_text(run, std::vector{run, other}) == "eagle3, adaptive up to K = 3");
  run.drafted = 2.0;
  CHECK(answers::setting_text(run, std::vector{run, other}) == "eagle3, adaptive, 2 of 3");
  run.setting.gamma = std::nullopt;
  CHECK(answers::setting_text(run, std::vector{run, other}) == "eagle3, adaptive");
  other.setting.gamma = std::nullopt;
  CHECK(answers::setting_text(other, std::vector{other}) == "K unknown");
  Run of_engine = other;
  of_engine.setting.engine = "vllm";
  CHECK(answers::setting_text(of_engine, std::vector{of_engine, other}) == "K unknown, vllm");
  CHECK(answers::setting_text(other, std::vector{of_engine, other}) == "K unknown");
  other.setting.tree = logs::DraftTree{.steps = 4, .width = 6, .tokens = 24};
  Run wider = other;
  wider.setting.tree->width = 8;
  CHECK(answers::setting_text(other, std::vector{other, other}) == "tree of 24, 4 deep");
  CHECK(answers::setting_text(other, std::vector{other, wider}) == "4 steps, topk 6, 24 draft tokens");
  CHECK(answers::drafter_text(other.setting, std::vector{other}) == "4 steps, topk 6, 24 draft tokens");
  CHECK(answers::setting_text(Run{}, {}) == "plain");
  CHECK(answers::token_count_text(512.0) == "512 tokens");
  CHECK(answers::token_count_text(40'000.0) == "40k tokens");
}

}  // namespace foredraft::tests
