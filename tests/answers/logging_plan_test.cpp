// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/logging_plan.hpp"
#include "core/problems.hpp"

namespace foredraft::tests {
namespace {

using answers::logging_plan;
using answers::LoggingPlan;

std::vector<std::int64_t> gammas_of(const LoggingPlan& plan) {
  std::vector<std::int64_t> gammas;
  for (const answers::PlannedServer& server : plan.servers) gammas.push_back(server.gamma);
  return gammas;
}

std::vector<std::int64_t> loads_of(const LoggingPlan& plan) {
  std::vector<std::int64_t> loads;
  for (const answers::PlannedLoad& load : plan.loads) loads.push_back(load.concurrency);
  return loads;
}

using Numbers = std::vector<std::int64_t>;

std::vector<std::string> keys_of_problems(const answers::PlanQuestion& question) {
  ProblemList problems("test");
  check(question, problems);
  std::vector<std::string> keys;
  for (const Problem& problem : problems.problems()) keys.push_back(problem.key);
  return keys;
}

}  // namespace

TEST_CASE("a plan has a run without speculation and draft lengths on both sides of the current one") {
  CHECK(gammas_of(logging_plan({.engine = "vllm"})) == Numbers{0, 1, 5});
  CHECK(gammas_of(logging_plan({.engine = "vllm", .current_gamma = 3})) == Numbers{0, 1, 3, 5});
  for (std::int64_t current = 1; current <= answers::max_planned_gamma; ++current) {
    const Numbers gammas = gammas_of(logging_plan({.engine = "sglang", .current_gamma = current}));
    CHECK(gammas.front() == 0);
    CHECK(std::ranges::is_sorted(gammas));
    CHECK(std::ranges::adjacent_find(gammas) == gammas.end());
    const auto own = std::ranges::find(gammas, current);
    REQUIRE(own != gammas.end());
    REQUIRE(own + 1 != gammas.end());
    // At least half a draft length away: closer ones do not identify the cost of a token.
    CHECK(2 * (own[1] - current) >= current);
    if (current > 1) CHECK(2 * own[-1] <= current);
    CHECK((current == 1 || own[-1] > 0));
  }
}

TEST_CASE("one load of production is planned together with one request, several are taken as given") {
  CHECK(loads_of(logging_plan({.engine = "vllm"})) == Numbers{1, 16, 64});
  CHECK(loads_of(logging_plan({.engine = "llama.cpp"})) == Numbers{1, 4});
  CHECK(loads_of(logging_plan({.engine = "vllm", .concurrency = {8}})) == Numbers{1, 8});
  CHECK(loads_of(logging_plan({.engine = "vllm", .concurrency = {1}})) == Numbers{1});
  CHECK(loads_of(logging_plan({.engine = "vllm", .concurrency = {4, 32}})) == Numbers{4, 32});
}

TEST_CASE("every server runs once in each direction, at the same mean position") {
  const LoggingPlan plan = logging_plan({.engine = "trtllm", .current_gamma = 4});
  REQUIRE(plan.order.size() == 2 * plan.servers.size());
  for (const answers::PlannedServer& server : plan.servers) {
    const auto first = std::ranges::find(plan.order, server.name + "-1") - plan.order.begin();
    const auto second = std::ranges::find(plan.order, server.name + "-2") - plan.order.begin();
    CHECK(first + second + 1 == static_cast<std::ptrdiff_t>(plan.order.size()));
  }
}

TEST_CASE("requests of both rounds give the stated precision, and fill the batch several times over") {
  for (const answers::PlannedLoad& load : logging_plan({.engine = "vllm"}).loads) {
    const auto all = static_cast<double>(answers::planned_rounds * load.requests);
    CHECK(answers::planned_request_variation / std::sqrt(all) <= answers::planned_precision * (1.0 + 1e-12));
    CHECK(load.requests >= 4 * load.concurrency);
    const double ms = static_cast<double>(load.requests * answers::planned_output_tokens / load.concurrency) *
                      answers::planned_tpot_ms;
    CHECK(load.minutes >= ms / 60e3);
  }
  const LoggingPlan plan = logging_plan({.engine = "vllm", .concurrency = {1}});
  CHECK(plan.minutes == (plan.loads.at(0).minutes + answers::planned_start_minutes) * 6.0);
}

TEST_CASE("names of models cannot break out of a shell word or a document") {
  const std::string target = "a; rm -rf b";
  const auto is_quoted = [&](const std::string& command) {
    for (std::size_t at = command.find(target); at != std::string::npos; at = command.find(target, at + 1)) {
      if (command.substr(at - 1, target.size() + 2) != "'" + target + "'") return false;
    }
    return true;
  };
  for (const std::string& engine : answers::planned_engines()) {
    const LoggingPlan plan = logging_plan({.engine = engine, .target = target, .draft = "it's \"c\""});
    for (const answers::PlannedServer& server : plan.servers) {
      INFO(server.command);
      CHECK(server.command.find(target) != std::string::npos);
      CHECK(is_quoted(server.command));
      // 'it'\''s "c"' as a word, "it\u0027s \"c\"" within a quoted document.
      CHECK(server.command.find("it's") == std::string::npos);
    }
    for (const answers::PlannedLoad& load : plan.loads) CHECK(is_quoted(load.command));
  }
}

TEST_CASE("the request for a plan is checked as a whole") {
  CHECK(keys_of_problems({.engine = "vllm", .current_gamma = 3, .concurrency = {1, 64}}).empty());
  CHECK(keys_of_problems(
            {.engine = "vlm", .current_gamma = 0, .concurrency = {0}, .target = "a\x1b[2J", .draft = "b\n"}) ==
        std::vector<std::string>{"--plan", "--current-k", "--concurrency", "--target", "--draft"});
}

TEST_CASE("what is known of a server is filled into the command that plans its runs") {
  CHECK(answers::next_runs("vllm", 3, 8.2) == "foredraft advise --plan vllm --current-k 3 --concurrency 8");
  CHECK(answers::next_runs("tensorrt-llm", 4, std::nullopt) == "foredraft advise --plan trtllm --current-k 4");
  CHECK(answers::next_runs("", std::nullopt, 0.3) == "foredraft advise --plan ENGINE");
}

}  // namespace foredraft::tests
