// SPDX-License-Identifier: Apache-2.0
#include "sim/token/token_simulator.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr RunKey token_key{.seed = 23, .point = 1};

Tally run_once(const tests::Simulation& simulation, unsigned threads = 1) {
  return run(*tests::simulator_of(simulation, 5), token_key, threads);
}

/// 1 + alpha + ... + alpha^gamma.
double geometric_sum(double alpha, std::int64_t gamma) {
  double sum = 1.0;
  for (std::int64_t i = 0; i < gamma; ++i) sum = 1.0 + alpha * sum;
  return sum;
}

double deviation_in_se(const Estimate& estimate, double expected) {
  return std::abs(estimate.mean - expected) / estimate.standard_error;
}

GivenDistributions one_context(std::vector<double> p, std::vector<double> q) {
  return {.target = {std::move(p)}, .draft = {std::move(q)}};
}

}  // namespace

// 500,000 iterations: the standard error of alpha is about 0.0006, of the tokens about 0.001.
TEST_CASE("simulated acceptance is sum min(p, q), and tokens follow the geometric distribution at that alpha") {
  const tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), 4, 500'000);
  const auto simulator = tests::simulator_of(simulation, 5);
  CHECK(expected_acceptance(*simulator) == Approx(tests::three_contexts_alpha).epsilon(tests::few_ulp));
  const Tally tally = run(*simulator, token_key, 1);
  CHECK(tally.units.count() == 500'000);
  CHECK(deviation_in_se(acceptance(tally).per_token, tests::three_contexts_alpha) < tests::standard_errors);
  CHECK(deviation_in_se(tokens_per_iteration(tally), geometric_sum(tests::three_contexts_alpha, 4)) <
        tests::standard_errors);
  for (const Estimate& conditional : acceptance(tally).conditional) {
    CHECK(deviation_in_se(conditional, tests::three_contexts_alpha) < tests::standard_errors);
  }
}

TEST_CASE("a synthetic pair reports the requested alpha, and the simulation meets it") {
  const auto target =
      GENERATE(TargetDistribution::zipf, TargetDistribution::gaussian_logits, TargetDistribution::dirichlet);
  const auto draft = GENERATE(DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing);
  CAPTURE(target, draft);
  SyntheticModels pair = tests::small_pair();
  pair.target = target;
  pair.parameter = 1.2;
  pair.draft = draft;
  pair.alpha = 0.85;
  const auto simulator = tests::simulator_of(tests::simulation_of(pair, 3, 100'000), 5);
  CHECK(std::abs(expected_acceptance(*simulator) - 0.85) < tests::solved_root);
  const Tally tally = run(*simulator, token_key, 1);
  CHECK(deviation_in_se(acceptance(tally).per_token, 0.85) < tests::standard_errors);
  CHECK(deviation_in_se(tokens_per_iteration(tally), geometric_sum(0.85, 3)) < tests::standard_errors);
}

TEST_CASE("p = q accepts every draft, p and q on different tokens none") {
  const auto rows = GENERATE(Contexts::pooled, Contexts::fresh);
  SyntheticModels equal = tests::small_pair();
  equal.alpha = 1.0;
  equal.draft = GENERATE(DraftDistribution::noise, DraftDistribution::temperature, DraftDistribution::mixing);
  tests::Simulation simulation = tests::simulation_of(equal, 6, 5000);
  tests::contexts_of(simulation) = rows;
  simulation.token().temperature = 1.0;
  CHECK(run_once(simulation).units.sum(accepted) == 6 * 5000);

  const GivenDistributions disjoint = one_context({0.3, 0.0, 0.7, 0.0}, {0.0, 0.4, 0.0, 0.6});
  const Tally none = run_once(tests::simulation_of(tests::given(disjoint), 6, 5000));
  CHECK(none.units.sum(accepted) == 0);
  CHECK(none.units.sum(tested) == 5000);
}

TEST_CASE("at temperature 0 a draft is accepted if the argmaxes agree, ties going to the lowest index") {
  // Contexts 1 to 3 of p and q at temperature 0: tokens 0, 1, 4 against 4, 3, 1: no agreement. Then a tie of p at
  // tokens 1 and 2 with a tie of q at 1 and 2: both take 1.
  tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), 3, 3000);
  simulation.token().temperature = 0.0;
  simulation.token().rule = GENERATE(Rule(RejectionSampling{}), Rule(GreedyMatch{}));
  CHECK(run_once(simulation).units.sum(accepted) == 0);
  simulation.token().models = tests::given(one_context({0.2, 0.4, 0.4}, {0.1, 0.45, 0.45}));
  CHECK(run_once(simulation).units.sum(accepted) == 3 * 3000);
}

TEST_CASE("temperature sharpens p and q before the rule: alpha by hand") {
  // Temperature 1/2 squares and normalizes: p = (1, 4) / 5, q = (4, 1) / 5, sum min = 2/5.
  tests::Simulation simulation =
      tests::simulation_of(tests::given(one_context({1.0 / 3, 2.0 / 3}, {2.0 / 3, 1.0 / 3})), 2, 1000);
  simulation.token().temperature = 0.5;
  CHECK(expected_acceptance(*tests::simulator_of(simulation, 5)) == Approx(0.4).epsilon(tests::few_ulp));
}

TEST_CASE("both conventions count what they state, down to the smallest gamma") {
  const GivenDistributions always = one_context({0.5, 0.5}, {0.5, 0.5});
  tests::Simulation simulation = tests::simulation_of(tests::given(always), 3, 100);
  CHECK(run_once(simulation).units.sum(tokens) == 400);
  simulation.scenario.convention = Convention::no_bonus;
  CHECK(run_once(simulation).units.sum(tokens) == 300);
  simulation.scenario.gamma = 1;
  CHECK(run_once(simulation).units.sum(tokens) == 100);
  simulation.scenario.convention = Convention::bonus;
  simulation.scenario.gamma = 0;
  const Tally plain = run_once(simulation);
  CHECK(plain.units.sum(tokens) == 100);
  CHECK(plain.units.sum(drafted) == 0);
  simulation.scenario.gamma = 4;
  CHECK(run_once(simulation).units.sum(draft_passes) == 400);
  simulation.scenario.drafter = BlockDrafter{};
  CHECK(run_once(simulation).units.sum(draft_passes) == 100);
}

TEST_CASE("without a bonus token an iteration emits at most gamma tokens, with the same acceptances") {
  tests::Simulation simulation = tests::simulation_of(tests::given(tests::three_contexts()), 3, 20'000);
  const Tally bonus = run_once(simulation);
  simulation.scenario.convention = Convention::no_bonus;
  const Tally no_bonus = run_once(simulation);
  CHECK(no_bonus.accepted_at == bonus.accepted_at);
  CHECK(no_bonus.tokens_count.size() == 3);
  CHECK(no_bonus.tokens_count[2] == bonus.tokens_count[2] + bonus.tokens_count[3]);
}

TEST_CASE("threads and the order of blocks change nothing, but seeds and points do") {
  const auto contexts = GENERATE(Contexts::pooled, Contexts::fresh);
  tests::Simulation simulation =
      tests::simulation_of(tests::small_pair(), 4, contexts == Contexts::pooled ? 50'001 : 1001);
  tests::contexts_of(simulation) = contexts;
  const auto simulator = tests::simulator_of(simulation, 5);
  const Tally one = run(*simulator, token_key, 1);
  CHECK(run(*simulator, token_key, 2) == one);
  CHECK(run(*simulator, token_key, 7) == one);
  Tally backwards;
  for (std::uint64_t block = simulator->blocks(); block-- > 0;) backwards.merge(simulator->run_block(token_key, block));
  CHECK(backwards == one);
  CHECK(one.units.count() == static_cast<std::int64_t>(simulation.plan.iterations));
  CHECK_FALSE(run(*simulator, {.seed = token_key.seed + 1, .point = token_key.point}, 1) == one);
  CHECK_FALSE(run(*simulator, {.seed = token_key.seed, .point = token_key.point + 1}, 1) == one);
  CHECK_FALSE(simulator->run_block(token_key, 0) == simulator->run_block(token_key, 1));
}

TEST_CASE("emitted tokens equal counted tokens") {
  const auto contexts = GENERATE(Contexts::pooled, Contexts::fresh);
  tests::Simulation simulation = tests::simulation_of(tests::small_pair(), 4, 100);
  tests::contexts_of(simulation) = contexts;
  simulation.scenario.convention = GENERATE(Convention::bonus, Convention::no_bonus);
  const auto simulator = tests::simulator_of(simulation, 5);
  const auto& emitter = dynamic_cast<const TokenSimulator&>(*simulator);
  for (std::uint64_t block = 0; block < simulator->blocks(); ++block) {
    const Tally tally = simulator->run_block(token_key, block);
    std::vector<std::uint64_t> lengths(tally.tokens_count.size(), 0);
    for (const auto& sequence : emitter.emit_block(token_key, block)) {
      ++lengths.at(sequence.size() - 1);
      for (const EmittedToken& emitted : sequence) CHECK((emitted.token >= 0 && emitted.token < 60));
    }
    CHECK(lengths == tally.tokens_count);
  }
}

TEST_CASE("expected acceptance is NaN without a finite pool") {
  tests::Simulation simulation = tests::simulation_of(tests::small_pair(), 4, 100);
  tests::contexts_of(simulation) = Contexts::fresh;
  CHECK(std::isnan(expected_acceptance(*tests::simulator_of(simulation, 5))));
}

TEST_CASE("256,000 tokens are simulated like 2") {
  SyntheticModels pair = tests::small_pair();
  pair.vocabulary = GENERATE(2, 256'000);
  pair.pool = 1;
  const auto simulator = tests::simulator_of(tests::simulation_of(pair, 3, 50'000), 5);
  CHECK(std::abs(expected_acceptance(*simulator) - pair.alpha) < tests::solved_root);
  CHECK(deviation_in_se(acceptance(run(*simulator, token_key, 1)).per_token, pair.alpha) < tests::standard_errors);
}

TEST_CASE("a plan that counts nothing or too much is rejected in any contexts") {
  for (const Contexts contexts : {Contexts::pooled, Contexts::fresh}) {
    for (const std::uint64_t count : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
      tests::Simulation simulation = tests::simulation_of(tests::small_pair(), 2, count);
      tests::contexts_of(simulation) = contexts;
      CHECK_THROWS_AS(tests::simulator_of(simulation), DomainError);
    }
  }
}

TEST_CASE("the model registry is sorted and documented") {
  const std::vector<ModelEntry>& entries = model_registry();
  CHECK(std::is_sorted(entries.begin(), entries.end(),
                       [](const ModelEntry& a, const ModelEntry& b) { return a.name < b.name; }));
  for (const ModelEntry& entry : entries) CHECK_FALSE(entry.summary.empty());
}

}  // namespace foredraft::sim
