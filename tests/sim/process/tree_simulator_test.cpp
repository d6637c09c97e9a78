// SPDX-License-Identifier: Apache-2.0
#include "sim/process/tree_simulator.hpp"

#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "sim/estimates.hpp"
#include "tests/support/statistics.hpp"

namespace foredraft::sim {
namespace {

// Paths {0}, {2}, {0,1}, {2,0}, {0,1,0}: gaps in the ranks, and one branch deeper than the other.
const std::vector<TreeNode> nodes{{-1, 0, 0}, {0, 0, 1}, {0, 2, 1}, {1, 1, 2}, {2, 0, 2}, {3, 0, 3}};

TreeSimulation simulation_of(std::vector<std::vector<double>> accuracies, std::uint64_t iterations) {
  return {.nodes = nodes,
          .accuracies = std::move(accuracies),
          .drafting = Drafting::autoregressive,
          .iterations = iterations};
}

}  // namespace

// 300,000 iterations detect that 0.5 % of them moved to another cell. An error of 0.02 in the accuracy of a candidate
// at depth 1 or 2 is detected too; at depth 3 it moves only 0.2 % and is detected with probability 0.5.
TEST_CASE("an iteration descends the tree along the candidates that the target agrees with") {
  constexpr std::uint64_t iterations = 300'000;
  const Tally tally = run(*make_tree_simulator(simulation_of({{0.4, 0.3, 0.2}, {0.5, 0.25}, {0.6}}, iterations)),
                          {.seed = 3, .point = 0}, 1);
  // Depth 1: .4 + .2. Depth 2: .4 * .25 + .2 * .5. Depth 3: .4 * .25 * .6.
  const std::vector<double> distribution{0.4, 0.4, 0.14, 0.06};
  std::vector<double> expected;
  for (const double probability : distribution) expected.push_back(probability * static_cast<double>(iterations));
  const std::vector<std::int64_t> seen(tally.tokens_count.begin(), tally.tokens_count.end());
  CHECK(tests::chi_squared_p_value(seen, expected) > tests::level_of_one(1));
  CHECK(tally.units.sum(drafted) == static_cast<Int128>(3 * iterations));
  CHECK(tally.units.sum(draft_passes) == static_cast<Int128>(3 * iterations));
}

TEST_CASE("a tree of certain and impossible candidates always yields the same number of tokens") {
  const auto tokens = [](std::vector<std::vector<double>> accuracies) {
    return tokens_per_iteration(
        run(*make_tree_simulator(simulation_of(std::move(accuracies), 1000)), {.seed = 1, .point = 0}, 1));
  };
  CHECK(tokens({{1.0}, {0.0, 1.0}, {1.0}}).mean == 4.0);
  CHECK(tokens({{0.0, 0.0, 1.0}, {1.0}, {1.0}}).mean == 3.0);
  CHECK(tokens({{0.0, 1.0}, {1.0}, {1.0}}).mean == 1.0);  // the candidate that the tree omits
  TreeSimulation alone = simulation_of({}, 10);
  alone.nodes.resize(1);
  CHECK(tokens_per_iteration(run(*make_tree_simulator(alone), {.seed = 1, .point = 0}, 1)).mean == 1.0);
}

TEST_CASE("blocks of a tree simulation draw different random numbers and add up to all iterations") {
  const auto simulator = make_tree_simulator(simulation_of({{0.4, 0.3, 0.2}, {0.5, 0.25}, {0.6}}, 150'000));
  REQUIRE(simulator->blocks() > 1);
  CHECK_FALSE(simulator->run_block({.seed = 3, .point = 0}, 0) == simulator->run_block({.seed = 3, .point = 0}, 1));
  const Tally one = run(*simulator, {.seed = 3, .point = 0}, 1);
  CHECK(one == run(*simulator, {.seed = 3, .point = 0}, 2));
  CHECK(one.units.sum(iterations) == 150'000);
}

TEST_CASE("the simulator rejects trees and accuracies that do not fit each other") {
  CHECK_THROWS_WITH(make_tree_simulator(simulation_of({{0.5}, {0.5}}, 1)),
                    "invalid rows of accuracies=2 (must be at least 3)");
  CHECK_THROWS_WITH(make_tree_simulator(simulation_of({{0.5}, {0.7, 0.4}, {0.5}}, 1)),
                    Catch::StartsWith("invalid sum of accuracies[1]=1.1"));
  CHECK_THROWS_WITH(make_tree_simulator(simulation_of({{0.5}, {-0.1}, {0.5}}, 1)),
                    "invalid accuracies[1][0]=-0.1 (must lie in [0, 1])");
  CHECK_THROWS_AS(make_tree_simulator(simulation_of({{0.5}, {0.5}, {0.5}}, 0)), DomainError);
}

}  // namespace foredraft::sim
