// SPDX-License-Identifier: Apache-2.0
// A scenario from names and values: the constructor that files, command lines and programs use.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::scenario {
namespace {

std::string problems_from(const std::vector<Input>& inputs) {
  ProblemList problems("s");
  static_cast<void>(scenario_of(inputs, problems));
  return problems.text();
}

Scenario sound(const std::vector<Input>& inputs) {
  ProblemList problems("s");
  const Scenario scenario = scenario_of(inputs, problems);
  INFO(problems.text());
  REQUIRE(problems.empty());
  return scenario;
}

}  // namespace

TEST_CASE("names and values make a scenario, with defaults for missing ones") {
  const Scenario scenario = sound({{"alpha", 0.8}, {"gamma", std::int64_t{5}}, {"c", 0.05}});
  CHECK(std::get<Iid>(std::get<ProcessFidelity>(scenario.fidelity).acceptance).alpha == 0.8);
  CHECK(scenario.gamma == 5);
  CHECK(decoding_cost(scenario).value() == constant_ratio(0.05));
  CHECK(scenario.convention == Convention::bonus);
  CHECK(std::holds_alternative<AutoregressiveDrafter>(scenario.drafter));
}

TEST_CASE("the order of names means nothing, and a whole number may be written with a point") {
  const Scenario scenario = sound({{"process.b", 0.25},
                                   {"gamma", 3.0},
                                   {"process.a", 0.5},
                                   {"process", "markov"},
                                   {"policy.start", 2.0},
                                   {"policy", "heuristic"}});
  const auto& process = std::get<ProcessFidelity>(scenario.fidelity);
  CHECK(std::get<Markov>(process.acceptance).a == 0.5);
  CHECK(std::get<Markov>(process.acceptance).b == 0.25);
  CHECK(std::get<Plus2Minus1>(process.policy).start == 2);
}

TEST_CASE("a mean and a correlation replace the two parameters of a process, in any order") {
  const auto process = [](const char* name, const char* first, double one, const char* then, double other) {
    return std::get<ProcessFidelity>(
               sound({{"gamma", std::int64_t{3}}, {"process", name}, {first, one}, {then, other}}).fidelity)
        .acceptance;
  };
  for (const bool mean_first : {true, false}) {
    const auto of = [&](const char* name) {
      return mean_first ? process(name, "process.mean", 0.8, "process.correlation", 0.2)
                        : process(name, "process.correlation", 0.2, "process.mean", 0.8);
    };
    const auto beta = std::get<BetaMixture>(of("beta_mixture"));
    CHECK(beta.a == Approx(3.2));  // 0.8 of 1 / 0.2 - 1
    CHECK(beta.b == Approx(0.8));
    const auto markov = std::get<Markov>(of("markov"));
    CHECK(markov.a == Approx(0.84));
    CHECK(markov.b == Approx(0.64));
  }
}

TEST_CASE("impossible means and correlations, and those given with a and b, are rejected") {
  const auto problems = [](const char* name, double mean, double correlation) {
    return problems_from(
        {{"gamma", std::int64_t{3}}, {"process", name}, {"process.mean", mean}, {"process.correlation", correlation}});
  };
  CHECK(problems("markov", 0.8, -0.25).empty());
  CHECK_THAT(problems("markov", 0.8, -0.3),
             Catch::StartsWith("s: process.correlation: no process markov has mean 0.8 and correlation -0.3"));
  CHECK_THAT(problems("markov", 0.8, 1.0), Catch::Contains("no process markov has"));
  CHECK_THAT(problems("beta_mixture", 0.8, 0.0), Catch::Contains("no process beta_mixture has"));
  CHECK_THAT(problems("beta_mixture", 1.0, 0.5), Catch::Contains("no process beta_mixture has"));
  CHECK_THAT(problems_from({{"gamma", std::int64_t{3}}, {"process", "markov"}, {"process.mean", 0.5}}),
             Catch::StartsWith("s: process.correlation: missing"));
  CHECK_THAT(problems_from({{"gamma", std::int64_t{3}},
                            {"process", "markov"},
                            {"process.a", 0.5},
                            {"process.mean", 0.5},
                            {"process.correlation", 0.1}}),
             Catch::StartsWith("s: process.a: not used (process.mean is given instead)"));
}

TEST_CASE("every fidelity is reached by name") {
  const Scenario token = sound({{"fidelity", "token"},
                                {"gamma", std::int64_t{4}},
                                {"models.alpha", 0.7},
                                {"rule", "typical_acceptance"},
                                {"rule.epsilon", 0.3}});
  const auto& real_tokens = std::get<TokenFidelity>(token.fidelity);
  CHECK(std::get<TypicalAcceptance>(real_tokens.rule).epsilon == 0.3);
  CHECK(std::get<SyntheticModels>(real_tokens.models).alpha == 0.7);
  const Scenario server = sound({{"fidelity", "system"},
                                 {"alpha", 0.7},
                                 {"max_batch", std::int64_t{8}},
                                 {"gamma_schedule", Schedule{{1, 4, 3}, {5, 8, 0}}},
                                 {"arrivals.rate_per_s", 5.0},
                                 {"output_tokens", 100.0},
                                 {"target_step.weights_ms", 1.0},
                                 {"drafter_step.weights_ms", 0.1}});
  CHECK(std::get<Server>(server.fidelity).gamma_schedule.size() == 2);
  CHECK(std::get<Server>(server.fidelity).target_step.weights_us == 1000.0);
}

TEST_CASE("all problems are reported at once, each by its name, and none that follows from another") {
  CHECK(problems_from({{"alpha", 1.5}, {"gamma", 2.5}, {"c", "dear"}}) ==
        "s: alpha: invalid alpha=1.5 (must lie in [0, 1])\n"
        "s: gamma: wrong type (must be a whole number, is a number)\n"
        "s: c: wrong type (must be a number, is a string)");
  CHECK(problems_from({{"procss", "markov"}, {"gamma", std::int64_t{2}}}) ==
        "s: procss: unknown parameter - did you mean process?");
  CHECK(problems_from({{"drafter", "blok"}, {"drafter.decay", 0.5}}) ==
        "s: drafter: unknown drafter \"blok\" - did you mean block?");
  CHECK(problems_from({{"drafter", "pearl"}}) ==
        "s: drafter: unknown drafter \"pearl\" - PEARL overlaps drafting with verification, a stage of drafts beside "
        "each pass of the target: predict --overlap (docs/methods.md)");
  CHECK_THAT(
      problems_from({{"fidelity", "token"}, {"rule", "traversal-verification"}}),
      Catch::Contains("s: rule: unknown rule \"traversal-verification\" - traversal_verification is not modeled: "));
  CHECK(problems_from({{"alpha", 0.8}}) == "s: gamma: missing (drafted tokens per iteration)");
  CHECK(problems_from({{"alpha", 0.8}, {"gamma", std::int64_t{3}}, {"policy.bias", 2.0}}) ==
        "s: policy.bias: not used (policy constant has no such parameter) - remove it");
  CHECK_THAT(problems_from({{"alpha", 0.8}, {"alpha", 0.8}, {"gamma", std::int64_t{3}}}),
             Catch::Contains("alpha: given twice"));
}

}  // namespace foredraft::scenario
