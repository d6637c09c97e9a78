// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"

namespace foredraft::scenario {

TEST_CASE("a schedule gives every batch its gamma, the limits of a range included") {
  const std::vector<GammaRange> schedule{{1, 2, 5}, {3, 3, 2}, {4, 128, 0}};
  CHECK(gamma_by_batch(schedule, 6, Convention::bonus) == std::vector<std::int64_t>{5, 5, 5, 2, 0, 0, 0});
  CHECK(gamma_by_batch(schedule, 1, Convention::bonus) == std::vector<std::int64_t>{5, 5});
}

TEST_CASE("schedules with gaps, overlaps, missing batches and invalid gammas are rejected") {
  const auto rejected = [](const std::vector<GammaRange>& schedule, Convention convention) {
    CHECK_THROWS_AS(gamma_by_batch(schedule, 8, convention), DomainError);
  };
  rejected({}, Convention::bonus);
  rejected({{2, 8, 1}}, Convention::bonus);
  rejected({{1, 3, 1}, {5, 8, 1}}, Convention::bonus);
  rejected({{1, 3, 1}, {3, 8, 1}}, Convention::bonus);
  rejected({{1, 0, 1}, {1, 8, 1}}, Convention::bonus);
  rejected({{1, 7, 1}}, Convention::bonus);
  rejected({{1, 8, -1}}, Convention::bonus);
  rejected({{1, 8, 0}}, Convention::no_bonus);
}

TEST_CASE("lengths below the minimum, broken ones and spreads below it are rejected") {
  const auto problems = [](const TokenCount& prompt, const TokenCount& output) {
    std::string fields;
    const Scenario scenario{
        .fidelity =
            Server{.acceptance = Iid{0.7}, .arrivals = {.rate_per_s = 1.0}, .prompt = prompt, .output = output}};
    for (const FieldProblem& problem : problems_of(scenario)) fields += problem.field + " ";
    return fields;
  };
  const TokenCount none;
  const TokenCount one{.tokens = 1};
  CHECK(problems(none, one).empty());
  CHECK(problems({.tokens = 5, .spread = 5}, one).empty());
  CHECK(problems(none, {.tokens = 5, .spread = 4}).empty());
  CHECK(problems(none, {.tokens = 2.5, .geometric = true}).empty());
  for (const TokenCount& output :
       {TokenCount{.tokens = 0}, TokenCount{.tokens = std::nan("")}, TokenCount{.tokens = 2e9},
        TokenCount{.tokens = 2.5}, TokenCount{.tokens = 5, .spread = 5}}) {
    CHECK(problems(none, output) == "output_tokens ");
  }
  for (const TokenCount& prompt : {TokenCount{.tokens = 5, .spread = -1}, TokenCount{.tokens = 0.5, .geometric = true},
                                   TokenCount{.tokens = 5, .spread = 1, .geometric = true}}) {
    CHECK(problems(prompt, one) == "prompt_tokens ");
  }
}

TEST_CASE("broken engines, lognormal lengths and recordings are rejected") {
  const auto problem = [](const Server& server) {
    std::string fields;
    for (const FieldProblem& one : problems_of(Scenario{.fidelity = server})) fields += one.field + " ";
    return fields;
  };
  const Server sound{.acceptance = Iid{0.7}, .arrivals = {.rate_per_s = 1.0}, .output = {.tokens = 10}};
  CHECK(problem(sound).empty());
  Server server = sound;
  server.engine = {.host_us = 5.0, .prefill = Prefill::chunked, .pass_tokens = 1};
  CHECK(problem(server).empty());
  server.engine.pass_tokens = 0;
  CHECK(problem(server) == "engine ");
  server.engine = {.prefill = Prefill::chunked, .pass_tokens = 8};
  server.batching = Batching::ragged;
  CHECK(problem(server) == "engine ");
  for (const double us : {-1.0, std::nan(""), 2e9, HUGE_VAL}) {
    server = sound;
    server.engine.draft_host_request_us = us;
    CHECK(problem(server) == "engine ");
  }
  server = sound;
  for (const double p95 : {5.0, 10.0, 39.0, -3.0, std::nan("")}) {
    server.output.p95 = p95;
    CHECK(problem(server) == "output_p95 ");
  }
  server.output.p95 = 38.0;
  CHECK(problem(server).empty());
  server.output.spread = 1;
  CHECK(problem(server) == "output_p95 ");
  server = sound;
  server.arrivals = {.kind = ArrivalKind::recorded};
  CHECK(problem(server) == "arrivals.file ");
  const auto recorded = [&](std::vector<RecordedRequest> requests) {
    server.recorded = std::make_shared<const RequestRecording>(RequestRecording{std::move(requests)});
    return problem(server);
  };
  CHECK(recorded({{0.0, 0, 1}, {1.0, 5, 2}}).empty());
  for (const auto& requests : std::vector<std::vector<RecordedRequest>>{{},
                                                                        {{0.0, 5, 1}},
                                                                        {{1.0, 5, 1}, {0.5, 5, 1}},
                                                                        {{1.0, 5, 1}, {1.0, 5, 1}},
                                                                        {{0.0, -1, 1}, {1.0, 5, 1}},
                                                                        {{0.0, 5, 0}, {1.0, 5, 1}},
                                                                        {{0.0, 5, 1}, {HUGE_VAL, 5, 1}},
                                                                        {{std::nan(""), 5, 1}, {1.0, 5, 1}}}) {
    CHECK(recorded(requests) == "arrivals.file ");
  }
}

}  // namespace foredraft::scenario
