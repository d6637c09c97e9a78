// SPDX-License-Identifier: Apache-2.0
// User-defined distributions and rules: scenario.hpp, lossiness.hpp.
#include <catch2/catch.hpp>
#include <limits>
#include <memory>

#include "foredraft/lossiness.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"
#include "tests/sim/token/rules/rule_cases.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

/// three_contexts() with a rule of the registry as rows.
GivenDistributions with_rows_of(const VerificationRule& rule) {
  GivenDistributions given = tests::three_contexts();
  for (std::size_t k = 0; k < given.target.size(); ++k) {
    const PositionDistributions distributions{.target = given.target[k], .draft = given.draft[k]};
    const double statistic = rule.row_statistic(distributions);
    std::vector<double>& acceptance = given.acceptance.emplace_back(distributions.draft.size(), 0.0);
    for (std::size_t x = 0; x < distributions.draft.size(); ++x) {
      if (distributions.draft[x] == 0.0) continue;
      acceptance[x] = rule.acceptance(
          {.token = static_cast<Token>(x), .target = distributions.target[x], .draft = distributions.draft[x]},
          statistic);
    }
    rule.replacement(distributions, given.replacement.emplace_back(distributions.draft.size()));
    rule.bonus(distributions.target, given.bonus.emplace_back(distributions.draft.size()));
  }
  return given;
}

Scenario scenario_of(GivenDistributions given) {
  Scenario scenario;
  scenario.gamma = 3;
  TokenFidelity token;
  token.models = GivenModels{std::make_shared<const GivenDistributions>(std::move(given))};
  scenario.fidelity = token;
  return scenario;
}

TokenFidelity& token_of(Scenario& scenario) { return std::get<TokenFidelity>(scenario.fidelity); }

}  // namespace

TEST_CASE("a rule given as rows emits the tokens of the rule that the rows were written from") {
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    CAPTURE(entry.label());
    const auto rule = entry.make();
    if (rule->candidates(1).count > 1 || rule->verifies_blocks()) continue;  // not defined by rows
    tests::Simulation built_in = tests::simulation_of(tests::given(tests::three_contexts()), 3, 4096);
    built_in.token().rule = entry.rule();
    CHECK(tests::emitted_by(tests::simulation_of(tests::given(with_rows_of(*rule)), 3, 4096)) ==
          tests::emitted_by(built_in));
  }
}

TEST_CASE("the loss of a rule given as rows equals that of the rule they were written from") {
  for (const tests::RuleCase& entry : tests::rule_cases()) {
    CAPTURE(entry.label());
    const auto rule = entry.make();
    if (rule->candidates(1).count > 1) continue;
    Scenario named = scenario_of(tests::three_contexts());
    token_of(named).rule = entry.rule();
    const Lossiness expected = lossiness(named);
    const Lossiness found = lossiness(scenario_of(with_rows_of(*rule)));
    for (const auto quantity : {&Lossiness::acceptance, &Lossiness::acceptance_gain, &Lossiness::total_variation,
                                &Lossiness::kl_divergence, &Lossiness::top1_agreement, &Lossiness::top1_probability}) {
      CHECK((found.*quantity).mean == (expected.*quantity).mean);
    }
    CHECK(emitted_distributions(scenario_of(with_rows_of(*rule))) == emitted_distributions(named));
    CHECK((expected.total_variation.mean < tests::few_ulp) == entry.lossless);
  }
}

TEST_CASE("given distributions are simulated: acceptance is sum min(p, q), and the temperature is applied") {
  Scenario scenario = scenario_of(tests::three_contexts());
  const auto accepted = [&scenario] { return simulate(scenario, {.iterations = 200'000}, 1).estimates.per_token; };
  tests::check_estimate(accepted(), tests::three_contexts_alpha);
  CHECK(lossiness(scenario).acceptance.mean == Approx(tests::three_contexts_alpha).epsilon(tests::few_ulp));
  token_of(scenario).temperature = 0.0;  // the most probable tokens differ in contexts 0 and 1 and agree in none
  CHECK(lossiness(scenario).acceptance.mean == 0.0);
  CHECK(accepted().mean == 0.0);
}

TEST_CASE("the loss of a synthetic pair is that of its pool") {
  Scenario scenario;
  scenario.gamma = 3;
  TokenFidelity token;
  token.models = tests::small_pair();
  token.rule = TypicalAcceptance{};
  scenario.fidelity = token;
  const SyntheticPool pool(tests::small_pair(), 7);
  Scenario written = scenario_of(written_out(pool));
  token_of(written).rule = TypicalAcceptance{};
  CHECK(lossiness(scenario, 7).total_variation.mean == lossiness(written).total_variation.mean);
  CHECK(lossiness(scenario, 8).total_variation.mean != lossiness(written).total_variation.mean);
}

TEST_CASE("invalid distributions, invalid rules and an empty set of contexts are rejected") {
  const auto rejected = [](const Scenario& scenario, const std::string& message) {
    CHECK_THROWS_WITH(simulate(scenario, {.iterations = 10}), Catch::Contains(message));
    CHECK_THROWS_WITH(lossiness(scenario), Catch::Contains(message));
  };
  const GivenDistributions sound = with_rows_of(*make_rule(RejectionSampling{}));
  const auto changed = [&](auto change) {
    GivenDistributions given = sound;
    change(given);
    return scenario_of(std::move(given));
  };
  rejected(changed([](auto& given) { given.acceptance[1][2] = 1.5; }), "invalid acceptance[1][2]=1.5");
  rejected(changed([](auto& given) { given.acceptance[0][0] = std::numeric_limits<double>::quiet_NaN(); }),
           "invalid acceptance[0][0]=nan");
  rejected(changed([](auto& given) { given.acceptance.pop_back(); }), "invalid acceptance rows=2");
  rejected(changed([](auto& given) { given.acceptance.clear(); }), "invalid acceptance rows=0");
  rejected(changed([](auto& given) { given.replacement.clear(); }), "invalid replacement rows=0");
  rejected(changed([](auto& given) { given.replacement[2][0] += 0.5; }), "invalid sum of replacement[2]");
  rejected(changed([](auto& given) { given.bonus[0].pop_back(); }), "invalid bonus[0] length=4");
  rejected(changed([](auto& given) { given.draft[0][0] = -0.1; }), "invalid draft[0][0]=-0.1");
  Scenario heated = scenario_of(sound);
  token_of(heated).temperature = 0.5;
  rejected(heated, "invalid temperature=0.5 (must be 1 with a user-defined rule");
  Scenario none = scenario_of(sound);
  token_of(none).models = GivenModels{};
  rejected(none, "no distributions are given");
  Scenario copied = scenario_of(sound);
  copied.drafter = PromptLookup{};
  rejected(copied, "drafter: prompt_lookup needs text");
  CHECK_THROWS_WITH(lossiness(Scenario{}), Catch::StartsWith("invalid fidelity"));
}

}  // namespace foredraft::sim
