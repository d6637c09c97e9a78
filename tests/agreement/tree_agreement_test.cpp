// SPDX-License-Identifier: Apache-2.0
// Trees: the sum over nodes against simulations that walk down them. 100,000 iterations see tokens per iteration to
// about 1 % (five standard errors).
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "sim/estimates.hpp"
#include "sim/process/tree_simulator.hpp"
#include "sim/token/tree_token_simulator.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

using tests::few_ulp;
using tests::standard_errors;
using Rows = std::vector<std::vector<double>>;

constexpr sim::RunKey tree_key{.seed = 2024, .point = 0};
constexpr std::uint64_t tree_iterations = 100'000;

sim::DraftTree draft_tree(const analytic::TokenTree& tree) {
  std::vector<sim::Branch> branches;
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    branches.push_back({.parent = tree.nodes()[i].parent, .rank = tree.nodes()[i].rank});
  }
  return sim::DraftTree(branches);
}

/// Mean within five standard errors, and the whole law of the tokens. Round-off is all that may differ where nothing is
/// random.
void check_tree(const sim::Tally& tally, const analytic::TokenTree& tree, const analytic::HeadAccuracies& accuracies) {
  const Estimate seen = sim::tokens_per_iteration(tally);
  const double expected = analytic::tokens_per_iteration(tree, accuracies);
  INFO("simulated " << seen.mean << " +- " << seen.standard_error << ", closed form " << expected);
  CHECK(std::abs(seen.mean - expected) <= standard_errors * seen.standard_error + few_ulp * expected);
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

}  // namespace

TEST_CASE("greedy trees of every size and depth yield the simulated tokens, at the ends too") {
  for (const auto& [first, decay] : {std::pair{0.0, 1.0}, {0.3, 0.8}, {0.6, 0.7}, {0.9, 1.0}, {1.0, 1.0}}) {
    const Rows rows = falling_heads(5, first, decay);
    const analytic::HeadAccuracies accuracies(rows);
    for (const std::int64_t nodes : {1, 2, 8, 64}) {
      for (const std::int64_t depth : {1, 3, 5}) {
        CAPTURE(first, decay, nodes, depth);
        const analytic::TokenTree tree = analytic::greedy_tree(accuracies, {nodes, depth});
        const auto simulator = sim::make_tree_simulator(
            {.tree = draft_tree(tree), .accuracies = rows, .drafting = Drafting::block, .iterations = tree_iterations});
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
        {.tree = draft_tree(tree), .accuracies = rows, .drafting = Drafting::block, .iterations = tree_iterations});
    const sim::Tally tally = sim::run(*simulator, tree_key, 1);
    const Estimate seen = sim::tokens_per_iteration(tally);
    CHECK(std::abs(seen.mean - analytic::dense_tokens(accuracies, widths)) <= standard_errors * seen.standard_error);
    check_tree(tally, tree, accuracies);
  }
}

// Every row of a circulant chain is the first one shifted, so a candidate is accepted with one probability everywhere:
// the assumption of the closed form holds exactly, with real tokens and real rejections.
TEST_CASE("a sampled tree of real tokens yields the sum over its nodes of the acceptances by rank") {
  const std::vector<double> p{0.35, 0.25, 0.2, 0.1, 0.07, 0.03};
  const std::vector<double> q{0.15, 0.3, 0.05, 0.3, 0.1, 0.1};
  const std::size_t vocabulary = p.size();
  GivenDistributions tables;
  for (std::size_t k = 0; k < vocabulary; ++k) {
    std::vector<double> target(vocabulary);
    std::vector<double> draft(vocabulary);
    for (std::size_t x = 0; x < vocabulary; ++x) {
      target[(x + k) % vocabulary] = p[x];
      draft[(x + k) % vocabulary] = q[x];
    }
    tables.target.push_back(target);
    tables.draft.push_back(draft);
  }
  // Candidates with replacement: candidate i is accepted with probability sum min(r_i, q) once the others were
  // rejected, and r_{i+1} is what q leaves of r_i.
  std::vector<double> by_rank;
  std::vector<double> residual = p;
  double left = 1.0;
  for (int i = 0; i < 4; ++i) {
    double overlap = 0.0;
    for (std::size_t x = 0; x < vocabulary; ++x) overlap += std::min(residual[x], q[x]);
    by_rank.push_back(left * overlap);
    left *= 1.0 - overlap;
    for (std::size_t x = 0; x < vocabulary; ++x) residual[x] = std::max(0.0, residual[x] - q[x]);
    const double mass = std::accumulate(residual.begin(), residual.end(), 0.0);
    for (double& r : residual) r /= mass;
  }
  const analytic::HeadAccuracies accuracies(Rows(4, by_rank));
  for (const std::int64_t nodes : {2, 6, 20}) {
    const analytic::TokenTree tree = analytic::dynamic_program_tree(accuracies, {nodes, 4});
    for (const sim::TreeContexts contexts : {sim::TreeContexts::independent, sim::TreeContexts::last_token}) {
      CAPTURE(nodes, contexts == sim::TreeContexts::independent);
      const auto simulator =
          sim::make_tree_token_simulator({.tables = tables,
                                          .tree = draft_tree(tree),
                                          .verification = sim::SampledTree{sim::CandidateDraws::with_replacement},
                                          .contexts = contexts,
                                          .drafting = Drafting::autoregressive,
                                          .iterations = tree_iterations / 2});
      check_tree(sim::run(*simulator, tree_key, 1), tree, accuracies);
    }
  }
}

TEST_CASE("a greedy tree of real tokens yields the sum over its nodes of the shares of contexts by rank") {
  // 30 contexts; in each, the target's favourite is one of the drafter's four candidates or none of them.
  constexpr std::size_t vocabulary = 6;
  const std::vector<std::size_t> favourite_rank{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,
                                                1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 4, 4, 4};
  GivenDistributions tables;
  std::vector<double> shares(4, 0.0);
  for (std::size_t k = 0; k < favourite_rank.size(); ++k) {
    std::vector<double> target(vocabulary, 0.1);
    std::vector<double> draft(vocabulary);
    for (std::size_t rank = 0; rank < vocabulary; ++rank) {
      const std::size_t token = (rank + k) % vocabulary;
      draft[token] = std::array{0.3, 0.25, 0.2, 0.15, 0.07, 0.03}[rank];
      if (rank == favourite_rank[k]) target[token] = 0.5;
    }
    tables.target.push_back(target);
    tables.draft.push_back(draft);
    if (favourite_rank[k] < 4) shares[favourite_rank[k]] += 1.0 / 30.0;
  }
  const analytic::HeadAccuracies accuracies(Rows(3, shares));
  for (const std::int64_t nodes : {2, 5, 25}) {
    const analytic::TokenTree tree = analytic::greedy_tree(accuracies, {nodes, 3});
    const auto simulator = sim::make_tree_token_simulator({.tables = tables,
                                                           .tree = draft_tree(tree),
                                                           .verification = sim::GreedyTree{},
                                                           .contexts = sim::TreeContexts::independent,
                                                           .drafting = Drafting::block,
                                                           .iterations = tree_iterations});
    check_tree(sim::run(*simulator, tree_key, 1), tree, accuracies);
  }
}

}  // namespace foredraft
