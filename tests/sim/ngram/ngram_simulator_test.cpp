// SPDX-License-Identifier: Apache-2.0

#include <boost/math/distributions/chi_squared.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/intervals.hpp"
#include "sim/estimates.hpp"
#include "sim/ngram/acceptance_study.hpp"
#include "sim/ngram/speculation.hpp"
#include "sim/token/models/model_pair.hpp"
#include "tests/sim/ngram/exact_chain.hpp"
#include "tests/sim/ngram/generated_text.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

using tests::Simulation;
using tests::simulator_of;

/// Replaces the models of a simulation.
void train(Simulation& simulation, std::shared_ptr<const ngram::Model> target, ngram::Drafter drafter) {
  std::get<NgramModels>(simulation.token().models).trained =
      std::make_shared<const TrainedModels>(TrainedModels{std::move(target), std::move(drafter)});
}

const TrainedModels& trained(const Simulation& simulation) {
  return *std::get<NgramModels>(std::get<TokenFidelity>(simulation.scenario.fidelity).models).trained;
}

/// With the same target.
void draft_by(Simulation& simulation, ngram::Drafter drafter) {
  train(simulation, trained(simulation).target, std::move(drafter));
}

Simulation small_simulation(double temperature, std::int64_t gamma, std::uint64_t iteration_count) {
  Simulation simulation{
      .scenario = {.fidelity = TokenFidelity{.temperature = temperature, .models = NgramModels{}}, .gamma = gamma},
      .plan = {.iterations = iteration_count}};
  train(simulation,
        ngram::Model::train(tests::generated_documents(tests::generated_vocabulary, 100, 1),
                            tests::generated_vocabulary, 2),
        ngram::ngram_drafter(ngram::Model::train(tests::generated_documents(tests::generated_vocabulary, 4, 2),
                                                 tests::generated_vocabulary, 2)));
  return simulation;
}

tests::ExactChain exact_chain(const Simulation& simulation) {
  return {*trained(simulation).target, *trained(simulation).drafter->models.front()};
}

tests::ExactIterations exactly(const Simulation& simulation) {
  return tests::exact_iterations(*trained(simulation).target, *trained(simulation).drafter, simulation.scenario.gamma,
                                 simulation.scenario.convention);
}

/// Heads or stages that depend on one emitted token, trained on less and other text than the target.
ngram::Drafter small_drafter(ngram::Sight sight, int count) {
  const auto documents = tests::generated_documents(tests::generated_vocabulary, 12, 2);
  std::vector<std::shared_ptr<const ngram::Model>> models;
  for (int i = 1; i <= count; ++i) {
    models.push_back(
        ngram::Model::train(documents, tests::generated_vocabulary,
                            sight == ngram::Sight::none ? ngram::head_window(2, i) : ngram::stage_window(2, i)));
  }
  return {models, sight};
}

/// [i]: draft i accepted given that all before it were. Unit: the block, since iterations depend on each other.
std::vector<Estimate> conditional_acceptance(const std::vector<Tally>& blocks) {
  std::vector<Estimate> conditional;
  for (std::size_t i = 0; i < blocks.front().accepted_at.size(); ++i) {
    IntegerMoments<2> units;
    for (const Tally& block : blocks) {
      units.add({static_cast<std::int64_t>(block.accepted_at[i]), static_cast<std::int64_t>(block.tested_at[i])});
    }
    conditional.push_back(ratio_estimate(units, {1.0, 0.0}, {0.0, 1.0}));
  }
  return conditional;
}

Tally run_all(const Simulation& simulation, std::uint64_t seed = 1, unsigned threads = 2) {
  return run(*simulator_of(simulation), {.seed = seed, .point = 0}, threads);
}

}  // namespace

TEST_CASE("tokens per iteration of an n-gram pair are those of the exact chain at temperature 1") {
  // 100,000 iterations: a standard error of about 0.004 tokens, so an error of 0.02 is detected.
  using Case = std::pair<std::int64_t, Convention>;
  for (const auto& [gamma, convention] : {Case{1, Convention::bonus}, Case{3, Convention::bonus},
                                          Case{7, Convention::bonus}, Case{4, Convention::no_bonus}}) {
    Simulation simulation = small_simulation(1.0, gamma, 100'000);
    simulation.scenario.convention = convention;
    tests::check_estimate(tokens_per_iteration(run_all(simulation)), exactly(simulation).tokens);
  }
}

TEST_CASE("tokens per iteration of an n-gram pair are those of the exact chain at temperature 0") {
  for (const Rule& rule : {Rule(RejectionSampling{}), Rule(GreedyMatch{})}) {
    Simulation simulation = small_simulation(0.0, 3, 300'000);
    simulation.token().rule = rule;
    // 300,000 iterations: a standard error of about 0.006 tokens, so an error of 0.03 is detected.
    const double exact = exact_chain(simulation).greedy_tokens_per_iteration(3, ngram::Prompts::passage_tokens);
    REQUIRE(exact > 1.1);
    REQUIRE(exact < 3.9);
    tests::check_estimate(tokens_per_iteration(run_all(simulation)), exact);
  }
}

TEST_CASE("heads and stages accept at each position as often as the enumeration of their contexts predicts", "[long]") {
  // 200,000 iterations: standard errors of 0.0008 at the first position to 0.0024 at the last, so errors of 0.004 and
  // 0.012 are detected.
  for (const auto sight : {ngram::Sight::none, ngram::Sight::previous}) {
    for (const auto convention : {Convention::bonus, Convention::no_bonus}) {
      Simulation simulation = small_simulation(1.0, 4, 200'000);
      simulation.scenario.convention = convention;
      draft_by(simulation, small_drafter(sight, 4));
      const auto simulator = simulator_of(simulation);
      std::vector<Tally> blocks;
      for (std::uint64_t block = 0; block < simulator->blocks(); ++block) {
        blocks.push_back(simulator->run_block({.seed = 1, .point = 0}, block));
      }
      const std::vector<Estimate> conditional = conditional_acceptance(blocks);
      const tests::ExactIterations exact = exactly(simulation);
      for (std::size_t i = 0; i < conditional.size(); ++i) {
        CAPTURE(static_cast<int>(sight), i);
        tests::check_estimate(conditional[i], exact.conditional[i]);
      }
      for (std::size_t block = 1; block < blocks.size(); ++block) blocks.front().merge(blocks[block]);
      tests::check_estimate(tokens_per_iteration(blocks.front()), exact.tokens);
    }
  }
}

TEST_CASE("one draft is the same draft of heads, stages and the n-gram model of their order, integer by integer") {
  for (const double temperature : {0.0, 1.0}) {
    Simulation simulation = small_simulation(temperature, 1, 3'000);
    draft_by(simulation, small_drafter(ngram::Sight::none, 3));
    const Tally heads = run_all(simulation);
    draft_by(simulation, small_drafter(ngram::Sight::previous, 3));
    CHECK(run_all(simulation) == heads);
    draft_by(simulation, ngram::ngram_drafter(trained(simulation).drafter->models.front()));
    CHECK(run_all(simulation) == heads);
    // With more drafts they differ.
    simulation.scenario.gamma = 3;
    const Tally longer = run_all(simulation);
    draft_by(simulation, small_drafter(ngram::Sight::previous, 3));
    CHECK_FALSE(run_all(simulation) == longer);
  }
}

TEST_CASE("a higher-order pair yields the tokens of its acceptance study's runs") {
  // Tokens per iteration of a stationary 0/1 process: (1 + E R) / (1 + E floor(R / (gamma + 1))), R a run of ones. It
  // depends only on the process, so drafts and bonus token must not change the distribution of text and acceptance.
  Simulation simulation = small_simulation(1.0, 3, 150'000);
  const auto target = ngram::Model::train(tests::generated_documents(tests::generated_vocabulary, 200, 1),
                                          tests::generated_vocabulary, 4);
  const auto draft = ngram::Model::train(tests::generated_documents(tests::generated_vocabulary, 200, 1),
                                         tests::generated_vocabulary, 2);
  train(simulation, target, ngram::ngram_drafter(draft));
  const Estimate as_run = tokens_per_iteration(run_all(simulation));
  const auto study =
      ngram::run_acceptance_study({target, ngram::ngram_drafter(draft), 0, 1.0, 300'000}, {.seed = 1, .point = 0}, 2);
  double runs = 0.0;
  double accepted_drafts = 0.0;
  double full_iterations = 0.0;
  for (std::size_t r = 0; r < study.runs.size(); ++r) {
    const auto times = static_cast<double>(study.runs[r]);
    runs += times;
    accepted_drafts += times * static_cast<double>(r);
    full_iterations += times * static_cast<double>(r / 4);
  }
  const double predicted = (runs + accepted_drafts) / (runs + full_iterations);
  INFO(as_run.mean << " +- " << as_run.standard_error << ", predicted " << predicted);
  // Equally long texts on both sides: their errors are about equal.
  CHECK(std::abs(as_run.mean - predicted) < tests::standard_errors * std::sqrt(2.0) * as_run.standard_error);
}

TEST_CASE("the standard error covers iterations with long dependence", "[long]") {
  // Text that is predictable for about 200 tokens, then not. Sum of squared deviations in standard errors over 40
  // seeds: chi-squared with 40 degrees. Treating iterations as independent gives a standard error 5.6 times too small
  // and a sum of 1,272; errors of 1.6 times too small or 2 times too large are detected.
  Simulation simulation = small_simulation(1.0, 3, 1024 * 40);
  train(simulation, ngram::Model::train(tests::two_regime_documents(20, 1), tests::generated_vocabulary, 2),
        ngram::ngram_drafter(ngram::Model::train(tests::two_regime_documents(1, 2), tests::generated_vocabulary, 1)));
  const double exact = exactly(simulation).tokens;
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Estimate estimate = tokens_per_iteration(run_all(simulation, seed));
    sum += std::pow((estimate.mean - exact) / estimate.standard_error, 2);
  }
  const boost::math::chi_squared distribution(40);
  CHECK(sum < boost::math::quantile(boost::math::complement(distribution, tests::family_level / 2)));
  CHECK(sum > boost::math::quantile(distribution, tests::family_level / 2));
}

TEST_CASE("an n-gram run counts every iteration, position and draft pass") {
  Simulation simulation = small_simulation(1.0, 3, 2'600);
  simulation.scenario.drafter = Heads{};
  const auto simulator = simulator_of(simulation);
  CHECK(simulator->blocks() == 3);
  const Tally tally = run(*simulator, {.seed = 1, .point = 0}, 1);
  CHECK(tally.units.count() == 3);
  CHECK(tally.units.sum(iterations) == 2'600);
  CHECK(tally.units.sum(drafted) == 3 * 2'600);
  CHECK(tally.units.sum(draft_passes) == 2'600);
  CHECK(tally.tested_at[0] == 2'600);
  CHECK(tally.tested_at[1] == tally.accepted_at[0]);
  CHECK(tally.tokens_count[3] == tally.accepted_at[2]);
}

TEST_CASE("a greedy run finishes its texts and so has more iterations than asked for") {
  const Tally tally = run_all(small_simulation(0.0, 3, 2'048));
  CHECK(tally.units.count() == 2);
  CHECK(tally.units.sum(iterations) > 2'048);
  CHECK(tally.units.sum(iterations) < 2'048 + 2 * 64);
}

TEST_CASE("an n-gram run is the same for any number of threads and different for another key") {
  for (const double temperature : {0.0, 1.0}) {
    const Simulation simulation = small_simulation(temperature, 4, 3'000);
    CHECK(run_all(simulation, 5, 1) == run_all(simulation, 5, 7));
    CHECK_FALSE(run_all(simulation, 5) == run_all(simulation, 6));
    const auto simulator = simulator_of(simulation);
    CHECK_FALSE(simulator->run_block({.seed = 5, .point = 0}, 0) == simulator->run_block({.seed = 5, .point = 0}, 1));
    CHECK_FALSE(simulator->run_block({.seed = 5, .point = 0}, 0) == simulator->run_block({.seed = 5, .point = 1}, 0));
  }
}

TEST_CASE("autoregressive decoding and a drafter equal to the target have their exact yields") {
  CHECK(tokens_per_iteration(run_all(small_simulation(1.0, 0, 2'000))).mean == 1.0);
  Simulation itself = small_simulation(1.0, 5, 2'000);
  draft_by(itself, ngram::ngram_drafter(trained(itself).target));
  CHECK(tokens_per_iteration(run_all(itself)).mean == 6.0);
}

TEST_CASE("an n-gram run rejects plans without iterations or with too many, and models that do not fit") {
  CHECK_THROWS_WITH(simulator_of(small_simulation(1.0, 3, 0)), Catch::Contains("iterations=0"));
  CHECK_THROWS_WITH(simulator_of(small_simulation(1.0, 3, (std::uint64_t{1} << 63U) + 5)),
                    Catch::Contains("iterations=9223372036854775813 (must lie in 1 to 2199023255552)"));
  Simulation simulation = small_simulation(1.0, 3, 100);
  draft_by(simulation, small_drafter(ngram::Sight::none, 2));
  CHECK_THROWS_WITH(simulator_of(simulation),
                    Catch::Contains("gamma=3 (must be at most the number of models that draft, 2)"));
  train(simulation, nullptr, {});
  CHECK_THROWS_WITH(simulator_of(simulation), Catch::Contains("models=null"));
}

}  // namespace foredraft::sim
