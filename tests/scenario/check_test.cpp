// SPDX-License-Identifier: Apache-2.0
// Which parts of a scenario can be combined: its check, over all pairs of members of the registries.
#include "scenario/check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "foredraft/scenario.hpp"
#include "scenario/resolve.hpp"
#include "tests/support/every_scenario.hpp"

namespace foredraft::scenario {
namespace {

std::vector<tests::Choice> everything_to_try() {
  std::vector<tests::Choice> all;
  for (auto&& choices :
       {tests::processes_to_try(), tests::drafters_to_try(), tests::policies_to_try(), tests::costs_to_try(),
        tests::rules_to_try(), tests::conventions_to_try(), tests::batchings_to_try()}) {
    all.insert(all.end(), choices.begin(), choices.end());
  }
  return all;
}

/// "process" of process.conditional, "cost" of c.
std::string family_of(const std::string& field) { return field == "c" ? "cost" : field.substr(0, field.find('.')); }

Scenario of_process(const AcceptanceProcess& process, std::int64_t gamma) {
  return {.fidelity = ProcessFidelity{.acceptance = process}, .gamma = gamma};
}

/// The fields of the problems, in order.
std::vector<std::string> fields_of(const Scenario& scenario) {
  std::vector<std::string> fields;
  for (const FieldProblem& problem : problems_of(scenario)) fields.push_back(problem.field);
  return fields;
}

}  // namespace

TEST_CASE("every pair of members fits together, or a problem names one of the two") {
  const std::vector<tests::Choice> choices = everything_to_try();
  for (const Scenario& sound : tests::scenarios_to_vary()) {
    CHECK(problems_of(sound).empty());
    for (const tests::Choice& one : choices) {
      for (const tests::Choice& other : choices) {
        if (one.family >= other.family) continue;
        Scenario scenario = sound;
        one.choose(scenario);
        other.choose(scenario);
        CAPTURE(sound.fidelity.index(), one.family, one.word, other.family, other.word);
        for (const FieldProblem& problem : problems_of(scenario)) {
          CAPTURE(problem.field, problem.text, problem.with);
          CHECK(find_parameter(problem.field) != nullptr);
          CHECK((problem.with.empty() || find_parameter(problem.with) != nullptr));
          CHECK_FALSE(problem.text.empty());
          const std::set<std::string> named{family_of(problem.field), family_of(problem.with)};
          CHECK((named.contains(one.family) || named.contains(other.family)));
        }
      }
    }
  }
}

TEST_CASE("every number outside its range is a problem of its parameter") {
  const auto check_family = [](const auto& registry, const auto& put) {
    for (const auto& member : registry) {
      for (const auto& parameter : member.parameters) {
        const bool whole = parameter.type == ValueType::integer;
        if (!whole && parameter.type != ValueType::real) continue;
        for (const double number : {parameter.range.minimum - 2.0, parameter.range.maximum * 2.0}) {
          if (contains(parameter.range, number) || (whole && parameter.range.maximum > 1e15)) continue;
          auto value = member.value;
          parameter.set(value, whole ? Value(static_cast<std::int64_t>(number)) : Value(number));
          if (parameter.range == flag_range) continue;  // stored as a truth value
          CAPTURE(member.name, parameter.name, number);
          const std::vector<std::string> fields = fields_of(put(value));
          CHECK(std::find(fields.begin(), fields.end(), parameter.name) != fields.end());
        }
      }
    }
  };
  check_family(processes(), [](const AcceptanceProcess& process) { return of_process(process, 0); });
  check_family(policies(), [](const Policy& policy) {
    return Scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.7}, .policy = policy}, .gamma = 3};
  });
  check_family(drafters(), [](const Drafter& drafter) {
    return Scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.7}}, .gamma = 3, .drafter = drafter};
  });
  check_family(costs(), [](const Cost& cost) {
    return Scenario{.fidelity = ProcessFidelity{.acceptance = Iid{0.7}}, .gamma = 3, .cost = cost};
  });
  check_family(rules(), [](const Rule& rule) {
    return Scenario{.fidelity = TokenFidelity{.rule = rule, .models = SyntheticModels{.alpha = 0.7}}, .gamma = 3};
  });
}

TEST_CASE("the limits of a draft length are those of the parts that use it") {
  const auto legal = [](Scenario scenario, std::int64_t longest) {
    scenario.gamma = longest;
    CHECK(problems_of(scenario).empty());
    scenario.gamma = longest + 1;
    CHECK(fields_of(scenario) == std::vector<std::string>{"gamma"});
  };
  Scenario scenario = of_process(Iid{0.7}, 1);
  legal(scenario, 1'000'000'000'000);
  scenario.convention = Convention::no_bonus;
  scenario.gamma = 0;
  CHECK(fields_of(scenario) == std::vector<std::string>{"gamma"});
  legal(of_process(Markov{0.7, 0.5}, 1), 1'000'000);
  legal(of_process(Runs{0.7, 0.5}, 1), max_runs_gamma);
  legal(of_process(Positional{.conditional = {0.9, 0.8}}, 1), 2);
  scenario = of_process(Iid{0.7}, 1);
  scenario.drafter = Heads{.accuracies = {0.9, 0.8, 0.7}};
  legal(scenario, 3);
  scenario = of_process(BetaMixture{2.0, 1.0}, 1);
  scenario.cost = ConstantRatio{.c = 0.1};
  std::get<ProcessFidelity>(scenario.fidelity).policy = Plus2Minus1{};
  legal(scenario, max_policy_gamma);
  std::get<ProcessFidelity>(scenario.fidelity).policy = OptimalStopping{};
  legal(scenario, max_known_alpha_gamma);
  scenario = {.fidelity = TokenFidelity{.models = SyntheticModels{.alpha = 0.7}}, .gamma = 1};
  legal(scenario, max_token_gamma);
  scenario = {.fidelity = TokenFidelity{.models = NgramModels{}}, .gamma = 1, .drafter = Heads{}};
  legal(scenario, max_ngram_heads);
}

TEST_CASE("a chain whose two states are absorbing has no mean") {
  for (const AcceptanceProcess& closed : std::vector<AcceptanceProcess>{Markov{1.0, 0.0}, Runs{1.0, 0.0}}) {
    CHECK(fields_of(of_process(closed, 3)) == std::vector<std::string>{"process.a"});
  }
  CHECK(fields_of(of_process(Markov{1.0, 0.1}, 3)).empty());
  CHECK(fields_of(of_process(Markov{0.9, 0.0}, 3)).empty());
}

TEST_CASE("a recording holds replayable values, and has its own sequences") {
  const auto fields = [](const Recording& recording) {
    return fields_of(of_process(Trace{.recording = std::make_shared<const Recording>(recording)}, 3));
  };
  const std::vector<std::string> wrong{"process.file"};
  CHECK(fields({.sequences = {{1, 0, -1}}}).empty());
  CHECK(fields({.sequences = {}, .accepted_from = {{0, 2}}}).empty());
  CHECK(fields({.sequences = {}}) == wrong);
  CHECK(fields({.sequences = {{1}, {}}}) == wrong);
  CHECK(fields({.sequences = {{1, 2}}}) == wrong);
  CHECK(fields({.sequences = {{-1, -1}}}) == wrong);
  CHECK(fields({.sequences = {}, .accepted_from = {{}}}) == wrong);
  CHECK(fields({.sequences = {}, .accepted_from = {{1, -1}}}) == wrong);
  Scenario scenario =
      of_process(Trace{.recording = std::make_shared<const Recording>(Recording{.sequences = {{1, 0}}})}, 3);
  std::get<ProcessFidelity>(scenario.fidelity).sequence_length = SequenceLength{.tokens = 10.0};
  CHECK(fields_of(scenario) == std::vector<std::string>{"sequence_length"});
}

TEST_CASE("n-gram models verify by rejection sampling, or greedily at temperature 0") {
  const auto fields = [](const Rule& rule, double temperature) {
    return fields_of(
        {.fidelity = TokenFidelity{.rule = rule, .temperature = temperature, .models = NgramModels{}}, .gamma = 3});
  };
  CHECK(fields(RejectionSampling{}, 1.0).empty());
  CHECK(fields(RejectionSampling{}, 0.0).empty());
  CHECK(fields(GreedyMatch{}, 0.0).empty());
  CHECK(fields(GreedyMatch{}, 1.0) == std::vector<std::string>{"rule"});
  CHECK(fields(TopBeta{}, 1.0) == std::vector<std::string>{"rule"});
  CHECK(fields(RejectionSampling{}, 0.5) == std::vector<std::string>{"temperature"});
}

TEST_CASE("all problems are thrown as one message, one per line") {
  Scenario scenario = of_process(Iid{1.5}, -1);
  scenario.drafter = NgramDrafter{};
  CHECK_THROWS_WITH(check_scenario(scenario),
                    "drafter: ngram_model does not draft in fidelity process (foredraft list drafters says where each "
                    "does) - set fidelity = \"token\"\ninvalid gamma=-1 (must be at least 0)\ninvalid alpha=1.5 (must "
                    "lie in [0, 1])");
}

namespace {

Axis axis(const char* name, const std::vector<Value>& values, std::int64_t line) {
  return {find_parameter(name), values, line};
}

std::string problems_with(Space space) {
  ProblemList problems("s");
  resolve_and_check(space, {}, problems);
  return problems.text();
}

}  // namespace

TEST_CASE("every combination of a sweep is checked, and a rule that several numbers break is reported once") {
  const Space rules{.axes = {axis("rule.scale_low", {-10.0, 12.0}, 3), axis("rule.scale_high", {15.0, 10.0}, 4)},
                    .fixed = {{find_parameter("fidelity"), "token", 6},
                              {find_parameter("rule"), "sigmoid_approximation", 7},
                              {find_parameter("models.alpha"), 0.8, 8},
                              {find_parameter("gamma"), std::int64_t{3}, 9}}};
  CHECK_THAT(problems_with(rules), Catch::StartsWith("s:3: axes.rule.scale_low: invalid rule.scale_low=12 (must be "
                                                     "below rule.scale_high=10 in 64 bits)"));
  std::vector<Value> gammas;
  std::vector<Value> alphas;
  for (std::int64_t i = 0; i < 1000; ++i) {
    gammas.emplace_back(i);
    alphas.emplace_back(static_cast<double>(i) / 1000.0);
  }
  Space many{.axes = {axis("gamma", gammas, 3), axis("alpha", alphas, 4)}};
  CHECK(problems_with(many).empty());
  many.fixed = {{find_parameter("convention"), "no_bonus", 6}};
  CHECK_THAT(problems_with(many), Catch::StartsWith("s:3: axes.gamma: invalid gamma=0 (must be at least 1 without"));
  many.axes = {axis("process.conditional", {std::vector{0.9, 0.8}}, 3), axis("gamma", gammas, 4)};
  many.fixed = {{find_parameter("process"), "positional", 6}};
  CHECK(problems_with(many) ==
        "s:4: axes.gamma: invalid gamma=999 (process.conditional has 2 entries) - keep gamma at or below 2, or give "
        "more entries");
}

TEST_CASE("a sweep over every parameter at once is checked quickly") {
  Space everything;
  for (const Parameter& parameter : parameters()) {
    Axis& added = everything.axes.emplace_back(Axis{&parameter, {}, 1});
    added.values.assign(parameter.choices.begin(), parameter.choices.end());
    if (parameter.type == ValueType::real) added.values = {0.25, 0.5, 0.75};
    if (parameter.type == ValueType::integer) added.values = {std::int64_t{1}, std::int64_t{2}};
  }
  CHECK_FALSE(problems_with(everything).empty());
}

}  // namespace foredraft::scenario
