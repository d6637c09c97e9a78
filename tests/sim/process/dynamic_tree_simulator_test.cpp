// SPDX-License-Identifier: Apache-2.0
#include "sim/process/dynamic_tree_simulator.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "tests/support/statistics.hpp"

namespace foredraft::sim {
namespace {

/// Two equal candidates, one certain candidate, or none, with calibrated confidences.
std::vector<DraftContext> pure_contexts() {
  return {{.probability = 0.5, .accuracies = {0.5, 0.5}, .confidences = {0.5, 0.5}},
          {.probability = 0.25, .accuracies = {1.0, 0.0}, .confidences = {1.0, 0.0}},
          {.probability = 0.25, .accuracies = {0.0, 0.0}, .confidences = {0.0, 0.0}}};
}

DynamicTreeSimulation growing(std::vector<std::vector<DraftContext>> contexts, std::int64_t nodes,
                              std::uint64_t iterations) {
  return {.contexts = std::move(contexts),
          .nodes = nodes,
          .width = 2,
          .drafting = Drafting::autoregressive,
          .iterations = iterations};
}

void check_tokens(const Tally& tally, const std::vector<double>& distribution) {
  std::vector<double> expected;
  for (const double probability : distribution) {
    expected.push_back(probability * static_cast<double>(tally.units.sum(iterations)));
  }
  const std::vector<std::int64_t> seen(tally.tokens_count.begin(), tally.tokens_count.end());
  CHECK(tests::chi_squared_p_value(seen, expected) > tests::level_of_one(3));
}

}  // namespace

// 200,000 iterations detect an error of a cell of 0.6 % of all iterations.
TEST_CASE("a dynamic tree keeps the nodes of the largest values of each iteration") {
  const Tally tally = run(*make_dynamic_tree_simulator(growing({pure_contexts(), pure_contexts()}, 3, 200'000)),
                          {.seed = 4, .point = 0}, 1);
  // Two equal candidates: both are verified and one is right. One certain candidate: it and the first below it, which
  // is right with .5 * .5 + .25 * 1. None: nothing.
  check_tokens(tally, {0.25, 0.5 + 0.25 * 0.5, 0.25 * 0.5});
  CHECK(tally.units.sum(draft_passes) == static_cast<Int128>(2 * 200'000));
}

TEST_CASE("confidences that ignore the context grow a static tree, whose acceptance is the mean of contexts") {
  std::vector<DraftContext> blind = pure_contexts();
  for (DraftContext& context : blind) context.confidences = {0.5, 0.25};
  // Paths {0}, {1}, {0,0}: .75 of depth 1, .5 * .5 of depth 2.
  check_tokens(run(*make_dynamic_tree_simulator(growing({blind, blind}, 4, 200'000)), {.seed = 4, .point = 0}, 1),
               {0.25, 0.5, 0.25});
}

TEST_CASE("only expanded nodes have children: of each depth those of the largest values") {
  // Four candidates of depth 2, of which the first two are expanded; the third would be right.
  const std::vector<DraftContext> first{{.probability = 1.0, .accuracies = {0.0, 1.0}, .confidences = {0.9, 0.5}}};
  const std::vector<DraftContext> second{{.probability = 1.0, .accuracies = {1.0, 0.0}, .confidences = {0.9, 0.8}}};
  const auto tokens = [&](std::int64_t width) {
    DynamicTreeSimulation simulation = growing({first, second, second}, 100, 100);
    simulation.width = width;
    return tokens_per_iteration(run(*make_dynamic_tree_simulator(simulation), {.seed = 1, .point = 0}, 1)).mean;
  };
  CHECK(tokens(1) == 1.0);
  CHECK(tokens(2) == 3.0);  // .9 * .9 and .9 * .8 are expanded, .5 * .9 is not
  CHECK(tokens(3) == 4.0);
}

TEST_CASE("the largest values of all depths are verified, shallower nodes first among equals") {
  const auto tokens = [](double confidence) {
    const std::vector<DraftContext> first{{.probability = 1.0, .accuracies = {1.0, 0.0}, .confidences = {0.5, 0.25}}};
    const std::vector<DraftContext> second{{.probability = 1.0, .accuracies = {1.0}, .confidences = {confidence}}};
    const auto simulator = make_dynamic_tree_simulator(growing({first, second}, 3, 100));
    return tokens_per_iteration(run(*simulator, {.seed = 1, .point = 0}, 1)).mean;
  };
  CHECK(tokens(0.6) == 3.0);  // .5 and .5 * .6
  CHECK(tokens(0.5) == 2.0);  // .5 and the .25 of depth 1
}

TEST_CASE("blocks of a dynamic tree add up to the iterations for any threads") {
  const auto simulator = make_dynamic_tree_simulator(growing({pure_contexts(), pure_contexts()}, 3, 150'000));
  REQUIRE(simulator->blocks() > 1);
  const Tally one = run(*simulator, {.seed = 3, .point = 0}, 1);
  CHECK(one == run(*simulator, {.seed = 3, .point = 0}, 2));
  CHECK(one.units.sum(iterations) == 150'000);
  CHECK_FALSE(simulator->run_block({.seed = 3, .point = 0}, 0) == simulator->run_block({.seed = 3, .point = 0}, 1));
}

TEST_CASE("the simulator rejects contexts that are not probabilities") {
  const auto refused = [](std::vector<DraftContext> contexts) {
    CHECK_THROWS_AS(make_dynamic_tree_simulator(growing({std::move(contexts)}, 3, 10)), DomainError);
  };
  refused({{.probability = 0.5, .accuracies = {0.5}, .confidences = {0.5}}});
  refused({{.probability = 1.0, .accuracies = {0.7, 0.7}, .confidences = {0.5, 0.5}}});
  refused({{.probability = 1.0, .accuracies = {0.5}, .confidences = {std::numeric_limits<double>::quiet_NaN()}}});
  CHECK_THROWS_AS(make_dynamic_tree_simulator(growing({pure_contexts()}, 0, 10)), DomainError);
  CHECK_THROWS_AS(make_dynamic_tree_simulator(growing({pure_contexts()}, 3, 0)), DomainError);
}

}  // namespace foredraft::sim
