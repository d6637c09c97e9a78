// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <catch2/catch.hpp>

#include "analytic/tokens/token_count.hpp"
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

/// All width vectors of a depth, ranks 1..most each.
template <class Use>
void for_each_widths(std::vector<std::int64_t>& widths, std::int64_t depth, std::int64_t most, const Use& use) {
  use(widths);
  if (depth == 0) return;
  for (std::int64_t width = 1; width <= most; ++width) {
    widths.push_back(width);
    for_each_widths(widths, depth - 1, most, use);
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
      Real most = 0;
      for (std::int64_t nodes = 1; nodes <= 6; ++nodes) {
        CAPTURE(round, depth, nodes);
        most = std::max(most, best[static_cast<std::size_t>(nodes)]);
        const TokenTree tree = greedy_tree(accuracies, {nodes, depth});
        CHECK(tree.size() <= nodes);
        CHECK(tree.depth() <= depth);
        CHECK(relative_error(tokens_per_iteration(tree, accuracies), most) < few_ulp);
        CHECK(relative_error(program_tokens(accuracies, {nodes, depth}), most) < few_ulp);
      }
    }
  }
}

TEST_CASE("the dynamic program is the best of all gapless trees where accuracies rise with rank") {
  RandomStream random(6, {Purpose::test, 0, 0});
  int better_than_falling_order = 0;
  for (int round = 0; round < 12; ++round) {
    const tests::AccuracyRows rows = tests::random_rows(random, 3, 4, false);
    const HeadAccuracies accuracies(rows);
    for (std::int64_t depth = 1; depth <= 3; ++depth) {
      const std::vector<Real> best =
          tests::best_of_all_trees(rows, static_cast<std::size_t>(depth), 7, tests::Grown::in_order);
      Real most = 0;
      for (std::int64_t nodes = 1; nodes <= 7; ++nodes) {
        CAPTURE(round, depth, nodes);
        most = std::max(most, best[static_cast<std::size_t>(nodes)]);
        const TokenTree tree = dynamic_program_tree(accuracies, {nodes, depth});
        CHECK(relative_error(tokens_per_iteration(tree, accuracies), most) < few_ulp);
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
  CHECK(better_than_falling_order > 50);  // the trees do reach behind a rank of lower accuracy
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

TEST_CASE("nodes join in falling probability, ties shallow first, and every prefix is the tree of its size") {
  const HeadAccuracies accuracies({{0.5, 0.25, 0.25}, {0.5, 0.5}});
  const std::vector<GrownNode> grown = grow_greedily(accuracies, {100, 2});
  REQUIRE(grown.size() == 9);  // all there are
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

TEST_CASE("no node without a chance joins a tree, and a budget beyond all candidates takes them all") {
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

TEST_CASE("a dense tree has every node of its widths, and its tokens are the sum over them") {
  RandomStream random(8, {Purpose::test, 0, 0});
  const HeadAccuracies accuracies(tests::random_rows(random, 3, 4, true));
  for (const std::vector<std::int64_t>& widths :
       {std::vector<std::int64_t>{}, {1}, {4}, {1, 1, 1}, {3, 2, 4}, {4, 4, 4}}) {
    CAPTURE(widths);
    const TokenTree tree = dense_tree(widths);
    CHECK(tree.size() == dense_nodes(widths));
    CHECK(tree.depth() == static_cast<std::int64_t>(widths.size()));
    CHECK(dense_tokens(accuracies, widths) == Approx(tokens_per_iteration(tree, accuracies)).epsilon(few_ulp));
  }
  CHECK(dense_nodes(std::vector<std::int64_t>{3, 2, 4}) == 34);
  CHECK_THROWS_WITH(dense_tree(std::vector<std::int64_t>{3, 0}), "invalid widths[1]=0 (must lie in 1 to 1000000)");
  CHECK_THROWS_AS(dense_nodes(std::vector<std::int64_t>(40, 1000)), DomainError);
  CHECK_THROWS_WITH(dense_tokens(accuracies, std::vector<std::int64_t>{5}), "invalid widths[0]=5 (must lie in 1 to 4)");
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

TEST_CASE("chains of different first drafts yield their closed form and stay below its bound") {
  const HeadAccuracies accuracies({{0.5, 0.2, 0.1}, {0.7}, {0.7}, {0.7}, {0.7}});
  for (std::int32_t chains = 1; chains <= 3; ++chains) {
    for (std::size_t depth = 1; depth <= 5; ++depth) {
      std::vector<TreePath> paths;
      for (std::int32_t rank = 0; rank < chains; ++rank) {
        TreePath path{rank};
        for (std::size_t d = 0; d < depth; ++d, path.push_back(0)) paths.push_back(path);
      }
      const double any = accuracies.top(1, chains);
      const double tokens = chains_tokens(any, 0.7, static_cast<std::int64_t>(depth));
      CHECK(tokens == Approx(tokens_per_iteration(tree_from_paths(paths), accuracies)).epsilon(few_ulp));
      CHECK(tokens < 1.0 + 1.0 / 0.3);
    }
  }
  CHECK(chains_tokens(0.5, 1.0, 6) == 4.0);
  CHECK(chains_tokens(0.5, 0.0, 6) == 1.5);
  CHECK(chains_tokens(0.5, 0.9, 0) == 1.0);
  CHECK_THROWS_AS(chains_tokens(0.5, 1.5, 3), DomainError);
}

TEST_CASE("independent drafts yield what every pattern of their accepted lengths does") {
  for (const double alpha : {0.0, 1e-9, 0.3, 0.8, 1.0}) {
    for (const std::int64_t gamma : {0, 1, 4}) {
      for (const std::int64_t drafts : {1, 2, 3}) {
        CAPTURE(alpha, gamma, drafts);
        // P(longest <= m) = P(one <= m)^drafts, P(one <= m) = 1 - alpha^(m+1) below gamma.
        Real mean = 0;
        Real below = 0;
        for (std::int64_t m = 0; m <= gamma; ++m) {
          const Real one = m == gamma ? Real(1) : Real(1 - tests::integer_power(Real(alpha), m + 1));
          const Real up_to = tests::integer_power(one, drafts);
          mean += Real(m + 1) * (up_to - below);
          below = up_to;
        }
        CHECK(relative_error(independent_drafts_tokens(alpha, gamma, drafts), mean) < few_ulp);
      }
    }
  }
  CHECK_THROWS_AS(independent_drafts_tokens(0.5, 3, 0), DomainError);
}

TEST_CASE("absurd tree budgets are refused") {
  const HeadAccuracies accuracies({{0.5}, {0.4}});
  CHECK_THROWS_WITH(greedy_tree(accuracies, {0, 1}), "invalid nodes=0 (must lie in 1 to 1000000)");
  CHECK_THROWS_WITH(dynamic_program_tree(accuracies, {3, 3}), "invalid depth=3 (must lie in 0 to 2)");
  CHECK_THROWS_WITH(best_dense_widths(accuracies, {3, -1}), "invalid depth=-1 (must lie in 0 to 2)");
  const HeadAccuracies wide(tests::AccuracyRows(20, std::vector<double>(50, 0.01)));
  CHECK_THROWS_WITH(dynamic_program_tree(wide, {1'000'000, 20}),
                    Catch::StartsWith("invalid depth * ranks * nodes=1021000000"));
}

}  // namespace foredraft::analytic
