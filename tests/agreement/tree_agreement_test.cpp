// SPDX-License-Identifier: Apache-2.0
// Trees: the sum over nodes against simulations that walk down them. 100,000 iterations resolve tokens per iteration to
// about 1 % (five standard errors).
#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/tree/dynamic_tree.hpp"
#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "sim/estimates.hpp"
#include "sim/process/dynamic_tree_simulator.hpp"
#include "sim/process/tree_simulator.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

using tests::standard_errors;
using Rows = std::vector<std::vector<double>>;

constexpr sim::RunKey tree_key{.seed = 2024, .point = 0};
constexpr std::uint64_t tree_iterations = 100'000;

/// Mean within five standard errors, and the whole distribution of the tokens. Without randomness only round-off may
/// differ.
void check_tree(const sim::Tally& tally, const analytic::TokenTree& tree, const analytic::HeadAccuracies& accuracies) {
  const Estimate seen = sim::tokens_per_iteration(tally);
  tests::check_estimate(seen, analytic::tokens_per_iteration(tree, accuracies));
  if (!(seen.standard_error > 0.0)) return;  // always the same number of tokens: nothing more to compare
  std::vector<double> counts;
  for (const double probability : analytic::tokens_pmf(tree, accuracies)) {
    counts.push_back(probability * static_cast<double>(tally.units.sum(sim::iterations)));
  }
  const std::vector<std::int64_t> observed(tally.tokens_count.begin(), tally.tokens_count.end());
  CHECK(tests::chi_squared_p_value(observed, counts) > tests::level_of_one(100));
}

/// Accuracies of `heads` heads whose top-1 is `first` at depth 1 and falls by `decay` a depth; ranks fall by halves.
Rows falling_heads(std::size_t heads, double first, double decay) {
  Rows rows;
  for (std::size_t d = 0; d < heads; ++d) {
    const double top = first * std::pow(decay, static_cast<double>(d));
    std::vector<double> row{top};
    for (int i = 1; i < 6; ++i) row.push_back(std::min(row.back(), (1.0 - top) * std::pow(0.5, i)));
    rows.push_back(row);
  }
  return rows;
}

Estimate grown_tokens(const analytic::DepthContexts& contexts, const analytic::GrowthBudget& budget) {
  const auto simulator = sim::make_dynamic_tree_simulator({.contexts = contexts,
                                                           .nodes = budget.nodes,
                                                           .width = budget.width,
                                                           .drafting = Drafting::autoregressive,
                                                           .iterations = tree_iterations});
  return sim::tokens_per_iteration(sim::run(*simulator, tree_key, 1));
}

}  // namespace

TEST_CASE("greedy trees of every size and depth yield the simulated tokens, limits included") {
  for (const auto& [first, decay] : {std::pair{0.0, 1.0}, {0.3, 0.8}, {0.6, 0.7}, {0.9, 1.0}, {1.0, 1.0}}) {
    const Rows rows = falling_heads(5, first, decay);
    const analytic::HeadAccuracies accuracies(rows);
    for (const std::int64_t nodes : {1, 2, 8, 64}) {
      for (const std::int64_t depth : {1, 3, 5}) {
        CAPTURE(first, decay, nodes, depth);
        const analytic::TokenTree tree = analytic::greedy_tree(accuracies, {nodes, depth});
        const auto simulator = sim::make_tree_simulator(
            {.nodes = tree.nodes(), .accuracies = rows, .drafting = Drafting::block, .iterations = tree_iterations});
        check_tree(sim::run(*simulator, tree_key, 1), tree, accuracies);
      }
    }
  }
}

TEST_CASE("dense trees yield the simulated tokens") {
  const Rows rows = falling_heads(3, 0.5, 0.8);
  const analytic::HeadAccuracies accuracies(rows);
  for (const std::vector<std::int64_t>& widths : {std::vector<std::int64_t>{6}, {1, 1, 1}, {4, 3, 2}}) {
    const analytic::TokenTree tree = analytic::dense_tree(widths);
    const auto simulator = sim::make_tree_simulator(
        {.nodes = tree.nodes(), .accuracies = rows, .drafting = Drafting::block, .iterations = tree_iterations});
    const sim::Tally tally = sim::run(*simulator, tree_key, 1);
    check_tree(tally, tree, accuracies);
  }
}

TEST_CASE("dynamic trees yield the simulated tokens at every spread and temperature") {
  const analytic::HeadAccuracies accuracies({{0.6, 0.2}, {0.5, 0.3}, {0.4, 0.2}});
  for (const double spread : {0.0, 0.4, 1.0}) {
    for (const double temperature : {0.4, 1.0, 3.0}) {
      const analytic::DepthContexts contexts = analytic::contexts_around(accuracies, spread, temperature);
      for (const auto& [nodes, width] : {std::pair{1, 2}, {3, 1}, {4, 2}, {7, 2}}) {
        CAPTURE(spread, temperature, nodes, width);
        const analytic::GrowthBudget budget{.nodes = nodes, .depth = 3, .width = width};
        tests::check_estimate(grown_tokens(contexts, budget), analytic::dynamic_tree_tokens(contexts, budget).value());
      }
    }
  }
}

TEST_CASE("trees of EAGLE-2's size lie between static trees and the bound, and do not change without a spread") {
  const analytic::HeadAccuracies accuracies(falling_heads(6, 0.7, 0.95));
  for (const std::int64_t width : {4, 10}) {
    const double fixed =
        analytic::tokens_per_iteration(analytic::greedy_tree(accuracies, {.nodes = 60, .depth = 6}, width), accuracies);
    for (const double spread : {0.0, 0.5, 1.0}) {
      CAPTURE(width, spread);
      const analytic::DepthContexts contexts = analytic::contexts_around(accuracies, spread, 1.0);
      const analytic::GrowthBudget budget{.nodes = 60, .depth = 6, .width = width};
      const Estimate seen = grown_tokens(contexts, budget);
      const double error = standard_errors * seen.standard_error;
      INFO("simulated " << seen.mean << " +- " << seen.standard_error << ", fixed " << fixed);
      CHECK(seen.mean >= fixed - error);
      CHECK(seen.mean <= analytic::dynamic_tree_bound(contexts, budget) + error);
      if (spread == 0.0) CHECK(seen.mean <= fixed + error);
      if (spread == 1.0) CHECK(seen.mean > fixed + error);
    }
  }
}

}  // namespace foredraft
