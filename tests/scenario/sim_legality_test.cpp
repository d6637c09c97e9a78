// SPDX-License-Identifier: Apache-2.0
// Simulators do not check scenarios: each of these is rejected before a simulator is constructed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {
namespace {

const double not_a_number = std::nan("");

ProcessFidelity& process_of(Scenario& scenario) { return std::get<ProcessFidelity>(scenario.fidelity); }
TokenFidelity& token_of(Scenario& scenario) { return std::get<TokenFidelity>(scenario.fidelity); }
Server& server_of(Scenario& scenario) { return std::get<Server>(scenario.fidelity); }
SyntheticModels& models_of(Scenario& scenario) { return std::get<SyntheticModels>(token_of(scenario).models); }

struct Gamma {
  std::int64_t gamma;
};

void put(Scenario& scenario, Gamma part) { scenario.gamma = part.gamma; }
void put(Scenario& scenario, Convention part) { scenario.convention = part; }
void put(Scenario& scenario, Batching part) { server_of(scenario).batching = part; }
void put(Scenario& scenario, const Drafter& part) { scenario.drafter = part; }
void put(Scenario& scenario, const Cost& part) { scenario.cost = part; }
void put(Scenario& scenario, const AcceptanceProcess& part) { *acceptance_of(scenario) = part; }
void put(Scenario& scenario, const Policy& part) { process_of(scenario).policy = part; }
void put(Scenario& scenario, const SequenceLength& part) { process_of(scenario).sequence_length = part; }
void put(Scenario& scenario, const Rule& part) { token_of(scenario).rule = part; }
void put(Scenario& scenario, const Models& part) { token_of(scenario).models = part; }

using Change = std::function<void(Scenario&)>;

/// A change that replaces the parts of the same kinds by these.
Change with(const auto&... parts) {
  return [parts...](Scenario& scenario) { (put(scenario, parts), ...); };
}

/// A change of a valid scenario, and the parameter that it makes invalid.
using IllegalChange = std::pair<std::string, Change>;

void check_changes(const Scenario& sound, const std::vector<IllegalChange>& changes) {
  REQUIRE(scenario::problems_of(sound).empty());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [field, change] = changes[i];
    Scenario scenario = sound;
    change(scenario);
    const std::vector<FieldProblem> problems = scenario::problems_of(scenario);
    CAPTURE(i, field, problems.empty() ? "" : problems.front().field);
    CHECK(std::ranges::find(problems, field, &FieldProblem::field) != problems.end());
    CHECK_THROWS_AS(check_scenario(scenario), DomainError);
  }
}

GivenModels given(GivenDistributions distributions) {
  return {std::make_shared<const GivenDistributions>(std::move(distributions))};
}

}  // namespace

TEST_CASE("a scenario that process fidelity cannot simulate is rejected, and the parameter is named") {
  check_changes({.fidelity = ProcessFidelity{.acceptance = Iid{0.5}}, .gamma = 3},
                {{"alpha", with(Iid{1.5})},
                 {"alpha", with(Iid{not_a_number})},
                 {"gamma", with(Gamma{-1})},
                 {"gamma", with(Gamma{0}, Convention::no_bonus)},
                 {"gamma", with(Positional{{0.9, 0.8}})},
                 {"process.conditional", with(Positional{{0.9, -0.1, 0.5}})},
                 {"process.conditional", with(Gamma{0}, Positional{})},
                 {"process.a", with(BetaMixture{0.0, 1.0})},
                 {"process.b", with(BetaMixture{1.0, not_a_number})},
                 {"process.b", with(BetaMixture{1.0, 1e-305})},
                 {"process.a", with(Markov{1.0, 0.0})},
                 {"process.a", with(Markov{not_a_number, 0.5})},
                 {"sequence_length", with(SequenceLength{0.5, true})},
                 {"sequence_length", with(SequenceLength{10.5, false})},
                 {"sequence_length", with(SequenceLength{not_a_number, true})},
                 {"process.a", with(Runs{1.0, 0.0, 0.6, 1.0})},
                 {"process.spread", with(Runs{0.5, 0.5, -0.1, 1.0})},
                 {"process.spread", with(Runs{0.5, 0.5, not_a_number, 1.0})},
                 {"process.rho", with(Runs{0.5, 0.5, 0.6, 0.0})},
                 {"gamma", with(Gamma{4097}, Runs{0.5, 0.5})},
                 {"convention", with(Convention::no_bonus, Runs{0.5, 0.5})},
                 {"sequence_length", with(Runs{0.5, 0.5}, SequenceLength{10.0, false})},
                 {"policy", with(Runs{0.5, 0.5}, Plus2Minus1{})}});
}

TEST_CASE("drafters and policies that cannot be simulated together are rejected") {
  const auto staged_with_operations = [](Scenario& scenario) {
    scenario.drafter = StagedDrafter{};
    scenario.operations_ratio = 0.1;
  };
  check_changes(
      {.fidelity = ProcessFidelity{.acceptance = Iid{0.5}}, .gamma = 2, .cost = ConstantRatio{.c = 0.1}},
      {{"drafter", with(PromptLookup{})},
       {"drafter", with(NgramDrafter{})},
       {"drafter", with(BlockDrafter{.decay = 0.5}, Markov{0.5, 0.5})},
       {"drafter.decay", with(BlockDrafter{.decay = not_a_number})},
       {"drafter.accuracies", with(Heads{.accuracies = {0.5, 1.5}})},
       {"drafter.decay", with(Heads{.decay = 0.5, .accuracies = {0.5, 0.5}})},
       {"drafter.realign", with(InputCopy{.edit_rate = 0.1, .realign = -1})},
       {"policy", with(InputCopy{}, Plus2Minus1{})},
       {"drafter", with(LookupFirst{})},
       {"drafter", with(StagedLookup{})},
       {"drafter", with(StagedDrafter{}, Markov{0.5, 0.5})},
       {"drafter", with(IndependentDrafts{}, BetaMixture{1.0, 1.0})},
       {"policy", with(StagedDrafter{}, Plus2Minus1{})},
       {"gamma", with(StagedDrafter{}, Gamma{0})},
       {"gamma", with(StagedDrafter{}, Gamma{max_staged_gamma + 1})},
       {"drafter.inner_gamma", with(StagedDrafter{.inner_gamma = -1})},
       {"drafter.inner_alpha", with(StagedDrafter{.inner_alpha = 1.5})},
       {"drafter.inner_c", with(StagedDrafter{.inner_c = not_a_number})},
       {"operations_ratio", staged_with_operations},
       {"drafter.drafts", with(IndependentDrafts{.drafts = 0})},
       {"drafter.drafts", with(IndependentDrafts{.drafts = 4096}, Gamma{1000})},
       {"gamma", with(HorizontalCascade{{1.0}})},
       {"drafter.costs", with(HorizontalCascade{{1.0, 1.5}})},
       {"policy",
        with(Trace{.recording = std::make_shared<const Recording>(Recording{.sequences = {{1}}})}, Plus2Minus1{})},
       {"policy.start", with(Plus2Minus1{0})},
       {"gamma", with(Gamma{0}, Plus2Minus1{5})},
       {"policy", with(Markov{0.5, 0.5}, ConfidenceThreshold{0.5, 4.0, 1.0})},
       {"policy.concentration", with(ConfidenceThreshold{0.5, 0.0, 1.0})},
       {"policy.threshold", with(ConfidenceThreshold{not_a_number, 4.0, 1.0})},
       {"policy", with(Markov{0.5, 0.5}, OptimalStopping{})},
       {"policy", with(BlockDrafter{}, OptimalStopping{})},
       {"policy", with(Markov{0.5, 0.5}, RejectionProbability{0.5, 4.0, 1.0})},
       {"policy", with(BlockDrafter{}, OptimalTokenStopping{4.0})},
       {"policy", with(ConstantRatio{}, OptimalTokenStopping{4.0})},
       {"drafter", with(BlockDrafter{.decay = 0.5}, EntropyThreshold{0.5, 10, 4.0, 1.0})},
       {"policy.alternatives", with(EntropyThreshold{0.5, 0, 4.0, 1.0})},
       {"policy", with(AdaptiveEntropy{})},
       {"policy", with(DynamicThreshold{})},
       {"policy.first_threshold", with(DynamicThreshold{1.5, 4.0, 1.0}, SequenceLength{10.0, false})},
       {"sequence_length", with(DynamicThreshold{0.4, 4.0, 1.0}, SequenceLength{2.0 * max_remembered_tokens, false})},
       {"c", with(ConstantRatio{.c = -0.1})}});
}

TEST_CASE("a scenario that token fidelity cannot simulate is rejected, and the parameter is named") {
  const auto temperature = [](double of) { return [of](Scenario& scenario) { token_of(scenario).temperature = of; }; };
  const GivenDistributions two{.target = {{0.5, 0.5}}, .draft = {{0.25, 0.75}}};
  check_changes({.fidelity = TokenFidelity{.models = given(two)}, .gamma = 2},
                {{"gamma", with(Gamma{-1})},
                 {"temperature", temperature(-1.0)},
                 {"temperature", temperature(not_a_number)},
                 {"temperature", temperature(1e-9)},
                 {"temperature", temperature(1e9)},
                 {"rule.lenience", with(Lenient{.lenience = 0.0})},
                 {"rule.top_beta", with(TopBeta{.top_beta = 3})},
                 {"models.kind", with(given({}))},
                 {"models.kind", with(given({.target = {{1.0}}}))},
                 {"models.kind", with(given({.target = {{}}, .draft = {{}}}))},
                 {"models.kind", with(given({.target = {{0.5, 0.5}}, .draft = {{1.0}}}))},
                 {"models.kind", with(given({.target = {{0.5, 0.4}}, .draft = {{0.5, 0.5}}}))},
                 {"models.kind", with(given({.target = {{0.5, 0.5}}, .draft = {{not_a_number, 0.5}}}))}});
  const auto parameter = [](double of, TargetDistribution target = TargetDistribution::gaussian_logits) {
    return [of, target](Scenario& scenario) {
      models_of(scenario).target = target;
      models_of(scenario).parameter = of;
    };
  };
  const auto alpha = [](double of) { return [of](Scenario& scenario) { models_of(scenario).alpha = of; }; };
  check_changes(
      {.fidelity = TokenFidelity{.models = SyntheticModels{.vocabulary = 60, .alpha = 0.7, .pool = 40}}, .gamma = 2},
      {{"rule.top_beta", with(TopBeta{.top_beta = 61})},
       {"models.vocabulary", [](Scenario& scenario) { models_of(scenario).vocabulary = 1; }},
       {"models.vocabulary", [](Scenario& scenario) { models_of(scenario).vocabulary = 256'001; }},
       {"models.pool", [](Scenario& scenario) { models_of(scenario).pool = 0; }},
       {"models.alpha", alpha(0.0)},
       {"models.alpha", alpha(-0.5)},
       {"models.alpha", alpha(1.5)},
       {"models.alpha", alpha(not_a_number)},
       {"models.parameter", parameter(-1.0)},
       {"models.parameter", parameter(not_a_number)},
       {"models.parameter", parameter(100.5, TargetDistribution::zipf)},
       {"models.parameter", parameter(1e-7, TargetDistribution::dirichlet)}});
  const auto lookup_with_operations = [](Scenario& scenario) {
    scenario.drafter = LookupFirst{};
    scenario.operations_ratio = 0.1;
  };
  check_changes({.fidelity = TokenFidelity{.models = NgramModels{}}, .gamma = 2, .drafter = PromptLookup{}},
                {{"rule", with(Lenient{})},
                 {"rule", with(GreedyMatch{})},
                 {"temperature", temperature(0.7)},
                 {"gamma", with(Gamma{-1})},
                 {"drafter", with(SyntheticModels{.alpha = 0.7})},
                 {"drafter.match", with(PromptLookup{.match = 0})},
                 {"drafter.window", with(PromptLookup{.window = 1})},
                 {"drafter.least", with(LookupFirst{.match = 2, .least = 3})},
                 {"drafter.copies", with(StagedLookup{.copies = 0})},
                 {"drafter", with(StagedDrafter{})},
                 {"operations_ratio", lookup_with_operations}});
}

TEST_CASE("a scenario that a server cannot simulate is rejected, and the parameter is named") {
  const Scenario sound{.fidelity = Server{.acceptance = Iid{0.5},
                                          .max_batch = 64,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = 1},
                                          .output = {.tokens = 5}},
                       .gamma = 2};
  const auto arrivals = [](const Arrivals& of) {
    return [of](Scenario& scenario) { server_of(scenario).arrivals = of; };
  };
  check_changes(sound, {{"alpha", with(Iid{not_a_number})},
                        {"process", with(Markov{0.5, 0.5})},
                        {"gamma", with(Positional{{0.5}})},
                        {"overhead_us", [](Scenario& scenario) { server_of(scenario).overhead_us = -1.0; }},
                        {"overhead_us", [](Scenario& scenario) { server_of(scenario).overhead_us = not_a_number; }},
                        {"max_batch", [](Scenario& scenario) { server_of(scenario).max_batch = 0; }},
                        {"gamma_schedule",
                         [](Scenario& scenario) {
                           server_of(scenario).gamma_schedule = {{1, 63, 2}};
                         }},
                        {"arrivals.clients", arrivals({.kind = ArrivalKind::closed, .clients = 0})},
                        {"arrivals.rate_per_s", arrivals({})},
                        {"arrivals.rate_per_s", arrivals({.kind = ArrivalKind::regular, .rate_per_s = not_a_number})},
                        {"output_tokens", [](Scenario& scenario) { server_of(scenario).output.tokens = 0; }},
                        {"prompt_tokens", [](Scenario& scenario) { server_of(scenario).prompt.tokens = -1; }},
                        {"latency_goal_ms", [](Scenario& scenario) { server_of(scenario).latency_goal_us = -1.0; }},
                        {"process", with(Runs{0.5, 0.5}, Batching::lockstep)},
                        {"convention", with(Runs{0.5, 0.5}, Convention::no_bonus)},
                        {"drafter", with(InputCopy{})}});
}

TEST_CASE("acceptance and models that were named and not read are rejected") {
  const auto unread = [](const Fidelity& fidelity) {
    CHECK_THROWS_AS(check_read({.fidelity = fidelity, .gamma = 2}), DomainError);
  };
  unread(ProcessFidelity{.acceptance = Trace{.file = "a.csv"}});
  unread(ProcessFidelity{.acceptance = Observed{"a.log"}});
  unread(Server{.acceptance = Trace{.file = "a.csv"}});
  unread(Server{.acceptance = Observed{"a.log"}});
  unread(TokenFidelity{.models = NgramModels{}});
}

}  // namespace foredraft::scenario
