// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analytic/answer/prediction.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::analytic {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double unlimited_value = std::numeric_limits<double>::infinity();

/// A valid scenario, except for the change of a case.
Scenario scenario_of(AcceptanceProcess acceptance, std::int64_t gamma, Convention convention = Convention::bonus) {
  return {.fidelity = ProcessFidelity{.acceptance = std::move(acceptance)},
          .gamma = gamma,
          .convention = convention,
          .cost = ConstantRatio{.c = 0.1}};
}

Scenario drafted_by(Drafter drafter) {
  Scenario scenario = scenario_of(Iid{0.8}, 5);
  scenario.drafter = std::move(drafter);
  return scenario;
}

Scenario of_length(double tokens, bool geometric) {
  Scenario scenario = scenario_of(Iid{0.8}, 5);
  std::get<ProcessFidelity>(scenario.fidelity).sequence_length = SequenceLength{tokens, geometric};
  return scenario;
}

Scenario costing(Cost cost) {
  Scenario scenario = scenario_of(Iid{0.8}, 5);
  scenario.cost = std::move(cost);
  return scenario;
}

struct Rejected {
  std::string name;  ///< the name in the message
  Scenario scenario;
};

std::vector<Rejected> rejected() {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  Scenario operations = scenario_of(Iid{0.8}, 5);
  operations.operations_ratio = nan;
  return {
      {"alpha", scenario_of(Iid{1.5}, 5)},
      {"alpha", scenario_of(Iid{nan}, 5)},
      {"alpha", scenario_of(Iid{-0.25}, 5)},
      {"gamma", scenario_of(Iid{0.5}, -1)},
      {"gamma", scenario_of(Iid{0.5}, 0, Convention::no_bonus)},
      {"gamma", scenario_of(Iid{0.5}, largest)},
      {"conditional", scenario_of(Positional{{0.5, nan}}, 2)},
      {"conditional", scenario_of(Positional{{1.5}}, 1)},
      {"conditional", scenario_of(Positional{}, 0)},
      {"marginal", scenario_of(Positional{.conditional = {0.5, 1.0}, .marginal = {0.5, 0.6}}, 1)},
      {"marginal", scenario_of(Positional{.conditional = {0.5}, .marginal = {1.5}}, 1)},
      {"gamma", scenario_of(Positional{{0.5, 0.4}}, 3)},
      {"gamma", scenario_of(Positional{{0.5}}, 0, Convention::no_bonus)},
      {"a=0", scenario_of(BetaMixture{0.0, 1.0}, 3)},
      {"b=nan", scenario_of(BetaMixture{1.0, nan}, 3)},
      {"b=1.5", scenario_of(Markov{0.5, 1.5}, 3)},
      {"decay", drafted_by(BlockDrafter{1.5})},
      {"decay", drafted_by(Heads{.decay = nan})},
      {"accuracies", drafted_by(Heads{.accuracies = {0.5, 1.5, 0.5, 0.5, 0.5}})},
      {"gamma", drafted_by(Heads{.accuracies = {0.5}})},
      {"recovery", drafted_by(MlpSpeculator{.decay = 0.9, .recovery = -0.5})},
      {"edit_rate", drafted_by(InputCopy{-0.1, 0})},
      {"realign", drafted_by(InputCopy{0.1, -1})},
      {"sequence_length", of_length(0.5, true)},
      {"sequence_length", of_length(nan, true)},
      {"tokens", of_length(2.5, false)},
      {"c=", costing(ConstantRatio{.c = nan})},
      {"c=", costing(ConstantRatio{.c = -1.0})},
      {"c=", costing(ConstantRatio{.c = unlimited_value})},
      {"verify", costing(MeasuredTimes{.step_ms = 1.0, .verify_ms = 0.0})},
      {"operations_ratio", operations},
  };
}

TEST_CASE("predict rejects each value out of range by name before any formula gets it") {
  CHECK_NOTHROW(foredraft::predict(scenario_of(Iid{0.8}, 5)));
  for (const Rejected& one : rejected()) {
    CAPTURE(one.name);
    CHECK_THROWS_AS(foredraft::predict(one.scenario), DomainError);
    CHECK_THROWS_WITH(foredraft::predict(one.scenario), Catch::Contains(one.name));
    CHECK_THROWS_AS(best_draft_length(one.scenario), DomainError);
  }
}

TEST_CASE("a draft length beyond the entries is rejected") {
  const Scenario scenario = scenario_of(Positional{{0.5, 0.4}}, 1);
  CHECK_NOTHROW(predict(scenario, 2));
  CHECK_THROWS_WITH(predict(scenario, 3), "invalid gamma=3 (must lie in 0 to 2)");
  CHECK_THROWS_AS(predict(scenario, -1), DomainError);
  CHECK_THROWS_AS(predict(scenario_of(Iid{0.5}, 1), -1), DomainError);
  CHECK_THROWS_AS(predict(scenario_of(Iid{0.5}, 1, Convention::no_bonus), 0), DomainError);
}

TEST_CASE("best_draft_length finds the best of predict for each kind of acceptance") {
  Scenario marginals = scenario_of(Positional{.conditional = {0.9, 0.8, 0.5}, .marginal = {0.9, 0.72, 0.36}}, 1);
  for (const Scenario& scenario :
       {scenario_of(Iid{0.8}, 5), marginals, scenario_of(BetaMixture{4.0, 1.0}, 5), scenario_of(Markov{0.8, 0.5}, 5),
        scenario_of(Runs{.a = 0.8, .b = 0.5, .spread = 1.0}, 5)}) {
    const BestDraftLength best = best_draft_length(scenario);
    REQUIRE(best.gamma);
    Scenario at_best = scenario;
    at_best.gamma = *best.gamma;
    const ClosedForm shown = foredraft::predict(at_best);
    CHECK(shown.speedup == best.speedup);
    if (std::isfinite(shown.best_gamma)) CHECK(shown.best_gamma == static_cast<double>(*best.gamma));
  }
}

}  // namespace
}  // namespace foredraft::analytic
