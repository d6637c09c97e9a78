// SPDX-License-Identifier: Apache-2.0
#include "sim/token/tree_token_simulator.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/estimates.hpp"
#include "tests/sim/token/tables.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::sim {
namespace {

constexpr std::size_t tokens_of_chain = 5;

/// A first-order chain over five tokens and a drafter that differs from it in every row.
GivenDistributions chain_tables() {
  return {.target = {{0.50, 0.20, 0.00, 0.25, 0.05},
                     {0.10, 0.35, 0.35, 0.20, 0.00},
                     {0.03, 0.12, 0.15, 0.00, 0.70},
                     {0.20, 0.20, 0.20, 0.20, 0.20},
                     {0.00, 0.60, 0.10, 0.30, 0.00}},
          .draft = {{0.30, 0.00, 0.10, 0.15, 0.45},
                    {0.28, 0.12, 0.00, 0.40, 0.20},
                    {0.00, 0.52, 0.08, 0.07, 0.33},
                    {0.50, 0.30, 0.10, 0.05, 0.05},
                    {0.25, 0.25, 0.20, 0.20, 0.10}}};
}

/// Three children, of which the first has two and the second one, and a chain of two below the first of all.
const std::vector<Branch> bushy{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}, {4, 0}};

TreeTokenSimulation tree_simulation_of(TreeVerification verification, TreeContexts contexts, std::uint64_t iterations) {
  return {.tables = chain_tables(),
          .tree = DraftTree(bushy),
          .verification = verification,
          .contexts = contexts,
          .drafting = Drafting::autoregressive,
          .iterations = iterations};
}

/// What the target would write by itself: the most probable token behind each, the lowest on ties.
Token greedy_successor(std::int64_t context) {
  const std::vector<double> row = chain_tables().target[static_cast<std::size_t>(context)];
  return static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// Counts of (row, first token, second token): the first token of an iteration, and the one behind it, of the next
/// iteration where there is none. Pairs share no token.
using PairCounts = std::array<std::vector<std::int64_t>, tokens_of_chain>;
PairCounts count_pairs_by_row(const TokenSimulator& simulator) {
  PairCounts counts;
  for (auto& row : counts) row.assign(tokens_of_chain * tokens_of_chain, 0);
  for (std::uint64_t block = 0; block < simulator.blocks(); ++block) {
    const auto sequences = simulator.emit_block({.seed = 5, .point = 1}, block);
    for (std::size_t i = 0; i + 1 < sequences.size(); ++i) {
      const EmittedToken first = sequences[i][0];
      const EmittedToken second = sequences[i].size() > 1 ? sequences[i][1] : sequences[++i][0];
      ++counts[static_cast<std::size_t>(first.context)]
              [static_cast<std::size_t>(first.token) * tokens_of_chain + static_cast<std::size_t>(second.token)];
    }
  }
  return counts;
}

}  // namespace

// About 90,000 pairs for each of three settings; a row of 10,000 pairs sees a relative deviation of 8 % (root mean
// square over its cells), the sum over the rows one of 4 %.
TEST_CASE("the first two tokens of a sampled tree follow the target's own chain, whatever the drafter") {
  const CandidateDraws draws = GENERATE(CandidateDraws::with_replacement, CandidateDraws::without_replacement);
  const bool deep = GENERATE(true, false);
  TreeTokenSimulation simulation = tree_simulation_of(SampledTree{draws}, TreeContexts::last_token, 120'000);
  if (!deep) simulation.tree = DraftTree(std::vector<Branch>{{0, 0}, {0, 1}});  // its second token is a bonus token
  const GivenDistributions tables = chain_tables();
  const PairCounts counts = count_pairs_by_row(*make_tree_token_simulator(simulation));
  for (std::size_t row = 0; row < tokens_of_chain; ++row) {
    std::int64_t pairs = 0;
    for (const std::int64_t count : counts[row]) pairs += count;
    REQUIRE(pairs > 2000);
    std::vector<double> expected;
    for (std::size_t first = 0; first < tokens_of_chain; ++first) {
      for (std::size_t second = 0; second < tokens_of_chain; ++second) {
        expected.push_back(static_cast<double>(pairs) * tables.target[row][first] * tables.target[first][second]);
      }
    }
    CAPTURE(row, deep, draws == CandidateDraws::with_replacement);
    CHECK(tests::chi_squared_p_value(counts[row], expected) > tests::level_of_one(4 * tokens_of_chain));
  }
}

TEST_CASE("a greedy tree writes the target's greedy text, whatever the tree and the drafter") {
  for (const std::vector<Branch>& branches :
       {std::vector<Branch>{}, {{0, 3}}, bushy, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}}) {
    TreeTokenSimulation simulation = tree_simulation_of(GreedyTree{}, TreeContexts::last_token, 200);
    simulation.tree = DraftTree(branches);
    const auto sequences = make_tree_token_simulator(simulation)->emit_block({.seed = 2, .point = 0}, 0);
    std::int64_t context = sequences.front().front().context;
    for (const auto& sequence : sequences) {
      for (const EmittedToken& emitted : sequence) {
        CHECK(emitted.context == context);
        CHECK(emitted.token == greedy_successor(context));
        context = emitted.token;
      }
    }
  }
}

TEST_CASE("a greedy tree accepts the longest path that the target agrees with, followed by hand") {
  // Rows 0 to 4: the target's favourites 0, 1 (tie with 2), 4, 0 (five equal), 1 are the drafter's candidates 1, 3, 1,
  // 0 and 1 (second of two equal).
  const std::array<std::int64_t, tokens_of_chain> rank{1, 3, 1, 0, 1};
  TreeTokenSimulation simulation = tree_simulation_of(GreedyTree{}, TreeContexts::independent, 4096);
  const auto simulator = make_tree_token_simulator(simulation);
  const auto sequences = simulator->emit_block({.seed = 4, .point = 0}, 0);
  std::array<int, 5> lengths{};
  for (const auto& sequence : sequences) {
    ++lengths[sequence.size()];
    std::int32_t node = 0;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const auto child = simulation.tree.child(node, rank[static_cast<std::size_t>(sequence[i].context)]);
      REQUIRE(child.has_value() == (i + 1 < sequence.size()));
      if (child) node = *child;
    }
  }
  // The deepest path, three times the first candidate, has probability 0.2^3: 33 of 4,096.
  for (std::size_t tokens = 1; tokens <= 4; ++tokens) CHECK(lengths[tokens] > 10);
}

TEST_CASE("as many candidates as tokens, drawn without replacement, always hold one to accept") {
  TreeTokenSimulation simulation =
      tree_simulation_of(SampledTree{CandidateDraws::without_replacement}, TreeContexts::independent, 5000);
  simulation.tree = DraftTree(std::vector<Branch>{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}});
  CHECK(tokens_per_iteration(run(*make_tree_token_simulator(simulation), {.seed = 1, .point = 0}, 1)).mean == 2.0);
  simulation.verification = SampledTree{CandidateDraws::with_replacement};
  CHECK(tokens_per_iteration(run(*make_tree_token_simulator(simulation), {.seed = 1, .point = 0}, 1)).mean < 1.99);
}

TEST_CASE("what a tree emits and what it counts are the same run") {
  for (const TreeContexts contexts : {TreeContexts::independent, TreeContexts::last_token}) {
    const auto simulator =
        make_tree_token_simulator(tree_simulation_of(SampledTree{CandidateDraws::with_replacement}, contexts, 5000));
    Tally tally = run(*simulator, {.seed = 8, .point = 0}, 2);
    REQUIRE(simulator->blocks() == 2);
    std::vector<std::uint64_t> lengths(4, 0);
    for (std::uint64_t block = 0; block < 2; ++block) {
      for (const auto& sequence : simulator->emit_block({.seed = 8, .point = 0}, block)) ++lengths[sequence.size() - 1];
    }
    CHECK(tally.tokens_count == lengths);
    CHECK(tally.units.count() == (contexts == TreeContexts::independent ? 5000 : 64 + 15));
    CHECK(std::isnan(simulator->expected_acceptance()));
  }
}

TEST_CASE("tables that are no laws, or no chain, are refused by the tree simulator") {
  TreeTokenSimulation simulation = tree_simulation_of(GreedyTree{}, TreeContexts::last_token, 10);
  simulation.tables = tests::three_contexts();
  CHECK_THROWS_WITH(make_tree_token_simulator(simulation),
                    "invalid target rows=3 (must be one for each of the 5 tokens)");
  simulation.contexts = TreeContexts::independent;
  CHECK_NOTHROW(make_tree_token_simulator(simulation));
  simulation.tables.target[1][0] += 0.5;
  CHECK_THROWS_WITH(make_tree_token_simulator(simulation), Catch::StartsWith("invalid sum of target[1]=1."));
  simulation.tables.target[1].pop_back();
  CHECK_THROWS_WITH(make_tree_token_simulator(simulation), Catch::StartsWith("invalid target[1] length=4"));
  simulation.tables.draft.pop_back();
  CHECK_THROWS_WITH(make_tree_token_simulator(simulation), "invalid draft rows=2 (must lie in 3 to 3)");
}

}  // namespace foredraft::sim
