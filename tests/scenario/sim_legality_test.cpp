// SPDX-License-Identifier: Apache-2.0
// Simulators check nothing that a scenario can say: each of these is rejected before one is made.
#include <algorithm>
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
namespace {

const double not_a_number = std::nan("");

/// A change of a sound scenario, and the parameter that is wrong then.
template <class Part>
struct IllegalChange {
  std::string field;
  void (*change)(Scenario& scenario, Part& part);
};

template <class Part>
void check_changes(const Scenario& sound, const std::vector<IllegalChange<Part>>& changes) {
  REQUIRE(scenario::problems_of(sound).empty());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Scenario scenario = sound;
    changes[i].change(scenario, std::get<Part>(scenario.fidelity));
    const std::vector<FieldProblem> problems = scenario::problems_of(scenario);
    CAPTURE(i, changes[i].field, problems.empty() ? "" : problems.front().field);
    CHECK(std::ranges::find(problems, changes[i].field, &FieldProblem::field) != problems.end());
    CHECK_THROWS_AS(check_scenario(scenario), DomainError);
  }
}

GivenModels given(GivenDistributions distributions) {
  return {std::make_shared<const GivenDistributions>(std::move(distributions))};
}

}  // namespace

TEST_CASE("what process fidelity cannot simulate is rejected, and the parameter is named") {
  using P = ProcessFidelity;
  check_changes<P>({.fidelity = P{.acceptance = Iid{0.5}}, .gamma = 3},
                   {{"alpha", [](Scenario&, P& p) { p.acceptance = Iid{1.5}; }},
                    {"alpha", [](Scenario&, P& p) { p.acceptance = Iid{not_a_number}; }},
                    {"gamma", [](Scenario& s, P&) { s.gamma = -1; }},
                    {"gamma",
                     [](Scenario& s, P&) {
                       s.gamma = 0;
                       s.convention = Convention::no_bonus;
                     }},
                    {"gamma",
                     [](Scenario&, P& p) {
                       p.acceptance = Positional{{0.9, 0.8}};
                     }},
                    {"process.conditional",
                     [](Scenario&, P& p) {
                       p.acceptance = Positional{{0.9, -0.1, 0.5}};
                     }},
                    {"process.conditional",
                     [](Scenario& s, P& p) {
                       s.gamma = 0;
                       p.acceptance = Positional{};
                     }},
                    {"process.a",
                     [](Scenario&, P& p) {
                       p.acceptance = BetaMixture{0.0, 1.0};
                     }},
                    {"process.b",
                     [](Scenario&, P& p) {
                       p.acceptance = BetaMixture{1.0, not_a_number};
                     }},
                    {"process.b",
                     [](Scenario&, P& p) {
                       p.acceptance = BetaMixture{1.0, 1e-305};
                     }},
                    {"process.a",
                     [](Scenario&, P& p) {
                       p.acceptance = Markov{1.0, 0.0};
                     }},
                    {"process.a",
                     [](Scenario&, P& p) {
                       p.acceptance = Markov{not_a_number, 0.5};
                     }},
                    {"sequence_length",
                     [](Scenario&, P& p) {
                       p.sequence_length = SequenceLength{0.5, true};
                     }},
                    {"sequence_length",
                     [](Scenario&, P& p) {
                       p.sequence_length = SequenceLength{10.5, false};
                     }},
                    {"sequence_length",
                     [](Scenario&, P& p) {
                       p.sequence_length = SequenceLength{not_a_number, true};
                     }},
                    {"process.a",
                     [](Scenario&, P& p) {
                       p.acceptance = Runs{1.0, 0.0, 0.6, 1.0};
                     }},
                    {"process.spread",
                     [](Scenario&, P& p) {
                       p.acceptance = Runs{0.5, 0.5, -0.1, 1.0};
                     }},
                    {"process.spread",
                     [](Scenario&, P& p) {
                       p.acceptance = Runs{0.5, 0.5, not_a_number, 1.0};
                     }},
                    {"process.rho",
                     [](Scenario&, P& p) {
                       p.acceptance = Runs{0.5, 0.5, 0.6, 0.0};
                     }},
                    {"gamma",
                     [](Scenario& s, P& p) {
                       s.gamma = 4097;
                       p.acceptance = Runs{0.5, 0.5};
                     }},
                    {"convention",
                     [](Scenario& s, P& p) {
                       s.convention = Convention::no_bonus;
                       p.acceptance = Runs{0.5, 0.5};
                     }},
                    {"sequence_length",
                     [](Scenario&, P& p) {
                       p = {Runs{0.5, 0.5}, ConstantGamma{}, SequenceLength{10.0, false}};
                     }},
                    {"policy", [](Scenario&, P& p) {
                       p = {Runs{0.5, 0.5}, Plus2Minus1{}, {}};
                     }}});
}

TEST_CASE("drafters and policies that cannot be simulated together are rejected") {
  using P = ProcessFidelity;
  check_changes<P>(
      {.fidelity = P{.acceptance = Iid{0.5}}, .gamma = 2, .cost = ConstantRatio{.c = 0.1}},
      {{"drafter", [](Scenario& s, P&) { s.drafter = PromptLookup{}; }},
       {"drafter", [](Scenario& s, P&) { s.drafter = NgramDrafter{}; }},
       {"drafter",
        [](Scenario& s, P& p) {
          s.drafter = BlockDrafter{.decay = 0.5};
          p.acceptance = Markov{0.5, 0.5};
        }},
       {"drafter.decay", [](Scenario& s, P&) { s.drafter = BlockDrafter{.decay = not_a_number}; }},
       {"drafter.accuracies",
        [](Scenario& s, P&) {
          s.drafter = Heads{.accuracies = {0.5, 1.5}};
        }},
       {"drafter.decay",
        [](Scenario& s, P&) {
          s.drafter = Heads{.decay = 0.5, .accuracies = {0.5, 0.5}};
        }},
       {"drafter.realign", [](Scenario& s, P&) { s.drafter = InputCopy{.edit_rate = 0.1, .realign = -1}; }},
       {"policy",
        [](Scenario& s, P& p) {
          s.drafter = InputCopy{};
          p.policy = Plus2Minus1{};
        }},
       {"drafter", [](Scenario& s, P&) { s.drafter = LookupFirst{}; }},
       {"drafter", [](Scenario& s, P&) { s.drafter = StagedLookup{}; }},
       {"drafter",
        [](Scenario& s, P& p) {
          s.drafter = StagedDrafter{};
          p.acceptance = Markov{0.5, 0.5};
        }},
       {"drafter",
        [](Scenario& s, P& p) {
          s.drafter = IndependentDrafts{};
          p.acceptance = BetaMixture{1.0, 1.0};
        }},
       {"policy",
        [](Scenario& s, P& p) {
          s.drafter = StagedDrafter{};
          p.policy = Plus2Minus1{};
        }},
       {"gamma",
        [](Scenario& s, P&) {
          s.drafter = StagedDrafter{};
          s.gamma = 0;
        }},
       {"gamma",
        [](Scenario& s, P&) {
          s.drafter = StagedDrafter{};
          s.gamma = max_staged_gamma + 1;
        }},
       {"drafter.inner_gamma", [](Scenario& s, P&) { s.drafter = StagedDrafter{.inner_gamma = -1}; }},
       {"drafter.inner_alpha", [](Scenario& s, P&) { s.drafter = StagedDrafter{.inner_alpha = 1.5}; }},
       {"drafter.inner_c", [](Scenario& s, P&) { s.drafter = StagedDrafter{.inner_c = not_a_number}; }},
       {"operations_ratio",
        [](Scenario& s, P&) {
          s.drafter = StagedDrafter{};
          s.operations_ratio = 0.1;
        }},
       {"drafter.drafts", [](Scenario& s, P&) { s.drafter = IndependentDrafts{.drafts = 0}; }},
       {"drafter.drafts",
        [](Scenario& s, P&) {
          s.drafter = IndependentDrafts{.drafts = 4096};
          s.gamma = 1000;
        }},
       {"gamma", [](Scenario& s, P&) { s.drafter = HorizontalCascade{{1.0}}; }},
       {"drafter.costs",
        [](Scenario& s, P&) {
          s.drafter = HorizontalCascade{{1.0, 1.5}};
        }},
       {"policy",
        [](Scenario&, P& p) {
          p.acceptance = Trace{.recording = std::make_shared<const Recording>(Recording{{{1}}})};
          p.policy = Plus2Minus1{};
        }},
       {"policy.start", [](Scenario&, P& p) { p.policy = Plus2Minus1{0}; }},
       {"gamma",
        [](Scenario& s, P& p) {
          s.gamma = 0;
          p.policy = Plus2Minus1{5};
        }},
       {"policy",
        [](Scenario&, P& p) {
          p = {Markov{0.5, 0.5}, ConfidenceThreshold{0.5, 4.0, 1.0}, {}};
        }},
       {"policy.concentration",
        [](Scenario&, P& p) {
          p.policy = ConfidenceThreshold{0.5, 0.0, 1.0};
        }},
       {"policy.threshold",
        [](Scenario&, P& p) {
          p.policy = ConfidenceThreshold{not_a_number, 4.0, 1.0};
        }},
       {"policy",
        [](Scenario&, P& p) {
          p = {Markov{0.5, 0.5}, OptimalStopping{}, {}};
        }},
       {"policy",
        [](Scenario& s, P& p) {
          s.drafter = BlockDrafter{};
          p.policy = OptimalStopping{};
        }},
       {"policy",
        [](Scenario&, P& p) {
          p = {Markov{0.5, 0.5}, RejectionProbability{0.5, 4.0, 1.0}, {}};
        }},
       {"policy",
        [](Scenario& s, P& p) {
          s.drafter = BlockDrafter{};
          p.policy = OptimalTokenStopping{4.0};
        }},
       {"policy",
        [](Scenario& s, P& p) {
          s.cost = ConstantRatio{};
          p.policy = OptimalTokenStopping{4.0};
        }},
       {"drafter",
        [](Scenario& s, P& p) {
          s.drafter = BlockDrafter{.decay = 0.5};
          p.policy = EntropyThreshold{0.5, 10, 4.0, 1.0};
        }},
       {"policy.alternatives",
        [](Scenario&, P& p) {
          p.policy = EntropyThreshold{0.5, 0, 4.0, 1.0};
        }},
       {"policy", [](Scenario&, P& p) { p.policy = AdaptiveEntropy{}; }},
       {"policy", [](Scenario&, P& p) { p.policy = DynamicThreshold{}; }},
       {"policy.first_threshold",
        [](Scenario&, P& p) {
          p = {Iid{0.5}, DynamicThreshold{1.5, 4.0, 1.0}, SequenceLength{10.0, false}};
        }},
       {"sequence_length",
        [](Scenario&, P& p) {
          p = {Iid{0.5}, DynamicThreshold{0.4, 4.0, 1.0}, SequenceLength{2.0 * max_remembered_tokens, false}};
        }},
       {"c", [](Scenario& s, P&) { s.cost = ConstantRatio{.c = -0.1}; }}});
}

TEST_CASE("what token fidelity cannot simulate is rejected, and the parameter is named") {
  using T = TokenFidelity;
  const GivenDistributions two{.target = {{0.5, 0.5}}, .draft = {{0.25, 0.75}}};
  check_changes<T>({.fidelity = T{.models = given(two)}, .gamma = 2},
                   {{"gamma", [](Scenario& s, T&) { s.gamma = -1; }},
                    {"temperature", [](Scenario&, T& t) { t.temperature = -1.0; }},
                    {"temperature", [](Scenario&, T& t) { t.temperature = not_a_number; }},
                    {"temperature", [](Scenario&, T& t) { t.temperature = 1e-9; }},
                    {"temperature", [](Scenario&, T& t) { t.temperature = 1e9; }},
                    {"rule.lenience", [](Scenario&, T& t) { t.rule = Lenient{.lenience = 0.0}; }},
                    {"rule.top_beta", [](Scenario&, T& t) { t.rule = TopBeta{.top_beta = 3}; }},
                    {"models.kind", [](Scenario&, T& t) { t.models = given({}); }},
                    {"models.kind", [](Scenario&, T& t) { t.models = given({.target = {{1.0}}}); }},
                    {"models.kind", [](Scenario&, T& t) { t.models = given({.target = {{}}, .draft = {{}}}); }},
                    {"models.kind",
                     [](Scenario&, T& t) {
                       t.models = given({.target = {{0.5, 0.5}}, .draft = {{1.0}}});
                     }},
                    {"models.kind",
                     [](Scenario&, T& t) {
                       t.models = given({.target = {{0.5, 0.4}}, .draft = {{0.5, 0.5}}});
                     }},
                    {"models.kind", [](Scenario&, T& t) {
                       t.models = given({.target = {{0.5, 0.5}}, .draft = {{not_a_number, 0.5}}});
                     }}});
  static const auto models = [](T& t) -> SyntheticModels& { return std::get<SyntheticModels>(t.models); };
  check_changes<T>({.fidelity = T{.models = SyntheticModels{.vocabulary = 60, .alpha = 0.7, .pool = 40}}, .gamma = 2},
                   {{"rule.top_beta", [](Scenario&, T& t) { t.rule = TopBeta{.top_beta = 61}; }},
                    {"models.vocabulary", [](Scenario&, T& t) { models(t).vocabulary = 1; }},
                    {"models.vocabulary", [](Scenario&, T& t) { models(t).vocabulary = 256'001; }},
                    {"models.pool", [](Scenario&, T& t) { models(t).pool = 0; }},
                    {"models.alpha", [](Scenario&, T& t) { models(t).alpha = 0.0; }},
                    {"models.alpha", [](Scenario&, T& t) { models(t).alpha = -0.5; }},
                    {"models.alpha", [](Scenario&, T& t) { models(t).alpha = 1.5; }},
                    {"models.alpha", [](Scenario&, T& t) { models(t).alpha = not_a_number; }},
                    {"models.parameter", [](Scenario&, T& t) { models(t).parameter = -1.0; }},
                    {"models.parameter", [](Scenario&, T& t) { models(t).parameter = not_a_number; }},
                    {"models.parameter",
                     [](Scenario&, T& t) {
                       models(t).target = TargetDistribution::zipf;
                       models(t).parameter = 100.5;
                     }},
                    {"models.parameter", [](Scenario&, T& t) {
                       models(t).target = TargetDistribution::dirichlet;
                       models(t).parameter = 1e-7;
                     }}});
  check_changes<T>({.fidelity = T{.models = NgramModels{}}, .gamma = 2, .drafter = PromptLookup{}},
                   {{"rule", [](Scenario&, T& t) { t.rule = Lenient{}; }},
                    {"rule", [](Scenario&, T& t) { t.rule = GreedyMatch{}; }},
                    {"temperature", [](Scenario&, T& t) { t.temperature = 0.7; }},
                    {"gamma", [](Scenario& s, T&) { s.gamma = -1; }},
                    {"drafter", [](Scenario&, T& t) { t.models = SyntheticModels{.alpha = 0.7}; }},
                    {"drafter.match", [](Scenario& s, T&) { s.drafter = PromptLookup{.match = 0}; }},
                    {"drafter.window", [](Scenario& s, T&) { s.drafter = PromptLookup{.window = 1}; }},
                    {"drafter.least", [](Scenario& s, T&) { s.drafter = LookupFirst{.match = 2, .least = 3}; }},
                    {"drafter.copies", [](Scenario& s, T&) { s.drafter = StagedLookup{.copies = 0}; }},
                    {"drafter", [](Scenario& s, T&) { s.drafter = StagedDrafter{}; }},
                    {"operations_ratio", [](Scenario& s, T&) {
                       s.drafter = LookupFirst{};
                       s.operations_ratio = 0.1;
                     }}});
}

TEST_CASE("what a server cannot simulate is rejected, and the parameter is named") {
  const Scenario sound{.fidelity = Server{.acceptance = Iid{0.5},
                                          .max_batch = 64,
                                          .arrivals = {.kind = ArrivalKind::closed, .clients = 1},
                                          .output = {.tokens = 5}},
                       .gamma = 2};
  check_changes<Server>(
      sound, {{"alpha", [](Scenario&, Server& v) { v.acceptance = Iid{not_a_number}; }},
              {"process",
               [](Scenario&, Server& v) {
                 v.acceptance = Markov{0.5, 0.5};
               }},
              {"gamma", [](Scenario&, Server& v) { v.acceptance = Positional{{0.5}}; }},
              {"overhead_us", [](Scenario&, Server& v) { v.overhead_us = -1.0; }},
              {"overhead_us", [](Scenario&, Server& v) { v.overhead_us = not_a_number; }},
              {"max_batch", [](Scenario&, Server& v) { v.max_batch = 0; }},
              {"gamma_schedule",
               [](Scenario&, Server& v) {
                 v.gamma_schedule = {{1, 63, 2}};
               }},
              {"arrivals.clients", [](Scenario&, Server& v) { v.arrivals.clients = 0; }},
              {"arrivals.rate_per_s", [](Scenario&, Server& v) { v.arrivals = {}; }},
              {"arrivals.rate_per_s",
               [](Scenario&, Server& v) { v.arrivals = {.kind = ArrivalKind::regular, .rate_per_s = not_a_number}; }},
              {"output_tokens", [](Scenario&, Server& v) { v.output.tokens = 0; }},
              {"prompt_tokens", [](Scenario&, Server& v) { v.prompt.tokens = -1; }},
              {"latency_goal_ms", [](Scenario&, Server& v) { v.latency_goal_us = -1.0; }},
              {"process",
               [](Scenario&, Server& v) {
                 v.acceptance = Runs{0.5, 0.5};
                 v.batching = Batching::lockstep;
               }},
              {"convention",
               [](Scenario& s, Server& v) {
                 v.acceptance = Runs{0.5, 0.5};
                 s.convention = Convention::no_bonus;
               }},
              {"drafter", [](Scenario& s, Server&) { s.drafter = InputCopy{}; }}});
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
