// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <catch2/catch.hpp>

#include "analytic/tree/token_tree.hpp"
#include "foredraft/errors.hpp"
#include "tests/analytic/tree/tree_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;
using tests::second_route;

double greedy_tokens(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  return tokens_per_iteration(greedy_tree(accuracies, budget), accuracies);
}

double program_tokens(const HeadAccuracies& accuracies, const TreeBudget& budget) {
  return tokens_per_iteration(dynamic_program_tree(accuracies, budget), accuracies);
}

double dense_tokens(const HeadAccuracies& accuracies, const std::vector<std::int64_t>& widths) {
  return tokens_per_iteration(dense_tree(widths), accuracies);
}

/// All width vectors of a depth, ranks 1..most each.
template <class Use>
void for_each_widths(std::vector<std::int64_t>& widths, std::int64_t depth, std::int64_t maximum, const Use& use) {
  use(widths);
  if (depth == 0) return;
  for (std::int64_t width = 1; width <= maximum; ++width) {
    widths.push_back(width);
    for_each_widths(widths, depth - 1, maximum, use);
    widths.pop_back();
  }
}

}  // namespace

TEST_CASE("the greedy tree is the best of all trees of every size and depth, and the dynamic program finds no better") {
  RandomStream random(5, {Purpose::test, 0, 0});
  for (int round = 0; round < 12; ++round) {
    tests::AccuracyRows rows = tests::random_rows(random, 3, 3, true);
    if (round == 1) rows = tests::AccuracyRows(3, {0.25, 0.25, 0.25});  // ties everywhere
    if (round == 2) rows = tests::AccuracyRows(3, {0.95, 0.03, 0.01});  // a chain first
    if (round == 3) rows.pop_back();
    const HeadAccuracies accuracies(rows);
    for (std::int64_t depth = 0; depth <= accuracies.heads(); ++depth) {
      const std::vector<Real> best =
          tests::best_of_all_trees(rows, static_cast<std::size_t>(depth), 6, tests::Grown::freely);
      Real maximum = 0;
      for (std::int64_t nodes = 1; nodes <= 6; ++nodes) {
        CAPTURE(round, depth, nodes);
        maximum = std::max(maximum, best[static_cast<std::size_t>(nodes)]);
        const TokenTree tree = greedy_tree(accuracies, {nodes, depth});
        CHECK(tree.size() <= nodes);
        CHECK(tree.depth() <= depth);
        CHECK(relative_error(tokens_per_iteration(tree, accuracies), maximum) < few_ulp);
        CHECK(relative_error(program_tokens(accuracies, {nodes, depth}), maximum) < few_ulp);
      }
    }
  }
}

TEST_CASE("the dynamic program is the best of all gapless trees when accuracies rise with rank") {
  RandomStream random(6, {Purpose::test, 0, 0});
  int better_than_falling_order = 0;
  for (int round = 0; round < 12; ++round) {
    const tests::AccuracyRows rows = tests::random_rows(random, 3, 4, false);
    const HeadAccuracies accuracies(rows);
    for (std::int64_t depth = 1; depth <= 3; ++depth) {
      const std::vector<Real> best =
          tests::best_of_all_trees(rows, static_cast<std::size_t>(depth), 7, tests::Grown::in_order);
      Real maximum = 0;
      for (std::int64_t nodes = 1; nodes <= 7; ++nodes) {
        CAPTURE(round, depth, nodes);
        maximum = std::max(maximum, best[static_cast<std::size_t>(nodes)]);
        const TokenTree tree = dynamic_program_tree(accuracies, {nodes, depth});
        CHECK(relative_error(tokens_per_iteration(tree, accuracies), maximum) < few_ulp);
        for (const TreeNode& node : tree.nodes()) {
          if (node.rank > 0 &&
              rows[static_cast<std::size_t>(node.depth - 1)][static_cast<std::size_t>(node.rank)] >
                  rows[static_cast<std::size_t>(node.depth - 1)][static_cast<std::size_t>(node.rank - 1)]) {
            ++better_than_falling_order;
          }
        }
      }
    }
  }
  CHECK(better_than_falling_order > 50);  // the trees do extend beyond a rank of lower accuracy
  CHECK_THROWS_WITH(greedy_tree(HeadAccuracies({{0.1, 0.5}}), {3, 1}),
                    Catch::StartsWith("invalid accuracies (must not rise with the rank"));
}

TEST_CASE("greedy and dynamic program agree on trees of some hundred nodes, shallow and deep") {
  RandomStream random(7, {Purpose::test, 0, 0});
  for (const auto& [heads, ranks] : {std::pair<std::size_t, std::size_t>{4, 10}, {12, 3}, {30, 2}, {2, 40}}) {
    for (const bool alike : {false, true}) {
      tests::AccuracyRows rows = tests::random_rows(random, heads, ranks, true);
      if (alike) rows.assign(heads, rows.front());
      const HeadAccuracies accuracies(rows);
      for (const std::int64_t nodes : {2, 17, 130}) {
        for (const std::int64_t depth : {std::int64_t{1}, accuracies.heads() / 2, accuracies.heads()}) {
          CAPTURE(heads, ranks, alike, nodes, depth);
          CHECK(greedy_tokens(accuracies, {nodes, depth}) ==
                Approx(program_tokens(accuracies, {nodes, depth})).epsilon(second_route));
        }
      }
    }
  }
}

TEST_CASE("nodes join in order of falling probability, ties shallow first, and every prefix is the tree of its size") {
  const HeadAccuracies accuracies({{0.5, 0.25, 0.25}, {0.5, 0.5}});
  const std::vector<GrownNode> grown = grow_greedily(accuracies, {100, 2});
  REQUIRE(grown.size() == 9);  // all nodes
  std::vector<TreePath> order;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    CHECK((i == 0 || grown[i].probability <= grown[i - 1].probability));
    TreePath path = grown[i].parent == 0 ? TreePath{} : order[static_cast<std::size_t>(grown[i].parent) - 1];
    path.push_back(grown[i].rank);
    order.push_back(path);
    const TokenTree prefix = greedy_tree(accuracies, {static_cast<std::int64_t>(i) + 2, 2});
    CHECK(prefix == tree_from_paths(order));
  }
  CHECK(order == std::vector<TreePath>{{0}, {1}, {2}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}});
}

TEST_CASE("no node of probability 0 joins a tree, and a budget beyond all candidates takes them all") {
  const HeadAccuracies with_zeros({{0.9, 0.0}, {0.0, 0.0}, {0.5}});
  CHECK(greedy_tree(with_zeros, {50, 3}) == tree_from_paths(std::vector<TreePath>{{0}}));
  CHECK(program_tokens(with_zeros, {50, 3}) == 1.9);
  const HeadAccuracies small({{0.5, 0.2}, {0.4, 0.3}});
  CHECK(greedy_tree(small, {1000, 2}).size() == 7);
  CHECK(dynamic_program_tree(small, {1000, 2}).size() == 7);
  CHECK(greedy_tree(small, {1, 2}) == TokenTree());
  CHECK(dynamic_program_tree(small, {1, 2}) == TokenTree());
  CHECK(greedy_tree(small, {10, 0}) == TokenTree());
  const HeadAccuracies certain(tests::AccuracyRows(6, {1.0}));
  CHECK(greedy_tokens(certain, {7, 6}) == 7.0);
  CHECK(program_tokens(certain, {5, 6}) == 5.0);
}

TEST_CASE("a dense tree has every node of its widths") {
  for (const std::vector<std::int64_t>& widths :
       {std::vector<std::int64_t>{}, {1}, {4}, {1, 1, 1}, {3, 2, 4}, {4, 4, 4}}) {
    CAPTURE(widths);
    const TokenTree tree = dense_tree(widths);
    CHECK(tree.size() == dense_nodes(widths));
    CHECK(tree.depth() == static_cast<std::int64_t>(widths.size()));
  }
  CHECK(dense_nodes(std::vector<std::int64_t>{3, 2, 4}) == 34);
  CHECK_THROWS_WITH(dense_tree(std::vector<std::int64_t>{3, 0}), "invalid widths[1]=0 (must lie in 1 to 1000000)");
  CHECK_THROWS_AS(dense_nodes(std::vector<std::int64_t>(40, 1000)), DomainError);
}

TEST_CASE("the best dense tree is the best of all widths that fit, and never beats the greedy tree") {
  RandomStream random(9, {Purpose::test, 0, 0});
  for (int round = 0; round < 10; ++round) {
    const HeadAccuracies accuracies(tests::random_rows(random, 4, 4, true));
    for (const std::int64_t depth : {0, 2, 4}) {
      for (const std::int64_t nodes : {1, 2, 5, 13, 40, 100}) {
        double best = 0.0;
        std::vector<std::int64_t> widths;
        for_each_widths(widths, depth, 4, [&](const std::vector<std::int64_t>& each) {
          if (dense_nodes(each) <= nodes) best = std::max(best, dense_tokens(accuracies, each));
        });
        CAPTURE(round, depth, nodes);
        const std::vector<std::int64_t> found = best_dense_widths(accuracies, {nodes, depth});
        CHECK(dense_nodes(found) <= nodes);
        CHECK(dense_tokens(accuracies, found) == Approx(best).epsilon(few_ulp));
        CHECK(greedy_tokens(accuracies, {nodes, depth}) >= best - few_ulp);
      }
    }
  }
}

TEST_CASE("excessive tree budgets are rejected") {
  const HeadAccuracies accuracies({{0.5}, {0.4}});
  CHECK_THROWS_WITH(greedy_tree(accuracies, {0, 1}), "invalid nodes=0 (must lie in 1 to 1000000)");
  CHECK_THROWS_WITH(dynamic_program_tree(accuracies, {3, 3}), "invalid depth=3 (must lie in 0 to 2)");
  CHECK_THROWS_WITH(best_dense_widths(accuracies, {3, -1}), "invalid depth=-1 (must lie in 0 to 2)");
  const HeadAccuracies wide(tests::AccuracyRows(20, std::vector<double>(50, 0.01)));
  CHECK_THROWS_WITH(dynamic_program_tree(wide, {1'000'000, 20}),
                    Catch::StartsWith("invalid depth * ranks * nodes=1021000000"));
}

}  // namespace foredraft::analytic
