// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/dynamic_tree.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analytic/tree/tree_search.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "tests/analytic/tree/tree_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::second_route;

/// Two equal candidates with probability 1/2, one certain candidate or none with 1/4 each, at both depths.
DepthContexts pure_contexts() { return contexts_around(HeadAccuracies({{0.5, 0.25}, {0.5, 0.25}}), 1.0, 1.0); }

}  // namespace

TEST_CASE("contexts average to the accuracies, never rise with the rank, and are equal without a spread") {
  RandomStream random(5, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int repetition = 0; repetition < 20; ++repetition) {
    const HeadAccuracies accuracies(tests::random_rows(random, 2, 4, true));
    for (const double spread : {0.0, 0.3, 1.0}) {
      const DepthContexts contexts = contexts_around(accuracies, spread, 1.0);
      REQUIRE(contexts.size() == 2);
      for (std::size_t d = 0; d < 2; ++d) {
        double total = 0.0;
        std::vector<double> mean(4, 0.0);
        for (const DraftContext& context : contexts[d]) {
          total += context.probability;
          for (std::size_t i = 0; i < 4; ++i) mean[i] += context.probability * context.accuracies[i];
          CHECK(std::is_sorted(context.accuracies.rbegin(), context.accuracies.rend()));
          CHECK(context.confidences == context.accuracies);
        }
        CHECK(total == Approx(1.0).epsilon(second_route));
        for (std::size_t i = 0; i < 4; ++i) {
          CHECK(mean[i] == Approx(accuracies.head(static_cast<std::int64_t>(d) + 1)[i]).epsilon(second_route));
        }
      }
      CHECK((contexts[0].size() == 1) == (spread == 0.0));
    }
  }
}

TEST_CASE("another temperature sharpens or flattens confidences and keeps accuracies") {
  const HeadAccuracies accuracies({{0.5, 0.2}});
  const auto confidences = [&](double temperature) {
    return contexts_around(accuracies, 0.0, temperature).front().front().confidences;
  };
  // Squares of .5, .2 and the rest .3 over their sum .38.
  CHECK(confidences(0.5)[0] == Approx(0.25 / 0.38).epsilon(second_route));
  CHECK(confidences(0.5)[1] == Approx(0.04 / 0.38).epsilon(second_route));
  CHECK(confidences(100.0)[0] == Approx(1.0 / 3.0).epsilon(0.01));
  CHECK(contexts_around(accuracies, 0.0, 0.5).front().front().accuracies == std::vector<double>{0.5, 0.2});
  CHECK_THROWS_AS(contexts_around(accuracies, 0.0, 0.0), DomainError);
  CHECK_THROWS_AS(contexts_around(accuracies, 1.5, 1.0), DomainError);
  CHECK_THROWS_AS(contexts_around(HeadAccuracies({{0.2, 0.5}}), 0.5, 1.0), DomainError);
}

TEST_CASE("a dynamic tree of two drafts, computed by hand") {
  // Two equal candidates: both are verified, 1 token. One certain candidate: it, and the best below it, of 1/2, 1 or 0:
  // 1 + .5 * .5 + .25 * 1. None: 0.
  CHECK(dynamic_tree_tokens(pure_contexts(), {.nodes = 3, .depth = 2, .width = 2}).value() ==
        Approx(1.0 + 0.5 + 0.25 * 1.5).epsilon(second_route));
  // Of one draft: 1/2 or 1.
  CHECK(dynamic_tree_tokens(pure_contexts(), {.nodes = 2, .depth = 2, .width = 2}).value() ==
        Approx(1.5).epsilon(second_route));
  CHECK(dynamic_tree_tokens(pure_contexts(), {.nodes = 1, .depth = 2, .width = 2}).value() == 1.0);
  CHECK(dynamic_tree_tokens(pure_contexts(), {.nodes = 9, .depth = 0, .width = 2}).value() == 1.0);
}

TEST_CASE("the bound of a dynamic tree takes the best nodes of all contexts, worked by hand") {
  // A quarter of a node of accuracy 1 and one of 1/2: one node takes the quarter, and 3/4 of the other.
  CHECK(dynamic_tree_bound(pure_contexts(), {.nodes = 2, .depth = 1, .width = 2}) ==
        Approx(1.0 + 0.25 + 0.75 * 0.5).epsilon(1e-3));
  CHECK(dynamic_tree_bound(pure_contexts(), {.nodes = 1, .depth = 2, .width = 2}) == 1.0);
  // With an unlimited budget every depth is reached with the sum of its accuracies.
  CHECK(dynamic_tree_bound(pure_contexts(), {.nodes = 100, .depth = 2, .width = 2}) ==
        Approx(1.0 + 0.75 + 0.75 * 0.75).epsilon(1e-3));
}

TEST_CASE(
    "static trees never yield more than dynamic ones of the same expansions, and those never more than the bound") {
  RandomStream random(7, {.purpose = Purpose::test, .point = 0, .block = 0});
  for (int repetition = 0; repetition < 8; ++repetition) {
    const HeadAccuracies accuracies(tests::random_rows(random, 3, 2, true));
    for (const std::int64_t width : {1, 2}) {
      for (const std::int64_t nodes : {2, 4, 6}) {
        const double fixed =
            tokens_per_iteration(greedy_tree(accuracies, {.nodes = nodes, .depth = 3}, width), accuracies);
        for (const double spread : {0.0, 0.2, 0.6, 1.0}) {
          CAPTURE(repetition, width, nodes, spread);
          const DepthContexts contexts = contexts_around(accuracies, spread, 1.0);
          const GrowthBudget budget{.nodes = nodes, .depth = 3, .width = width};
          const double grown = dynamic_tree_tokens(contexts, budget).value();
          if (spread == 0.0) CHECK(grown == Approx(fixed).epsilon(second_route));
          CHECK(grown >= fixed * (1.0 - second_route));
          CHECK(grown <= dynamic_tree_bound(contexts, budget) * (1.0 + second_route));
          const auto biased = dynamic_tree_tokens(contexts_around(accuracies, spread, 0.3), budget);
          CHECK(biased.value() <= grown * (1.0 + second_route));
        }
      }
    }
  }
}

TEST_CASE("a width limits the children of a node and the nodes with children of a depth") {
  const HeadAccuracies accuracies({{0.4, 0.3, 0.2}, {0.5, 0.4, 0.1}, {0.5, 0.5}});
  const TokenTree tree = greedy_tree(accuracies, {.nodes = 100, .depth = 3}, 2);
  // Depth 1: 2; depth 2: 2 each; of these four two are expanded.
  CHECK(tree.size() == 1 + 2 + 4 + 4);
  CHECK(greedy_tree(accuracies, {.nodes = 100, .depth = 3}, 1) ==
        tree_from_paths(std::vector<TreePath>{{0}, {0, 0}, {0, 0, 0}}));
  CHECK(greedy_tree(accuracies, {.nodes = 9, .depth = 3}, 9) == greedy_tree(accuracies, {.nodes = 9, .depth = 3}));
}

TEST_CASE("dynamic trees of too many contexts have no closed form, and budgets out of range are rejected") {
  CHECK_FALSE(dynamic_tree_tokens(contexts_around(HeadAccuracies(std::vector(6, std::vector{0.5, 0.2, 0.1})), 0.5, 1.0),
                                  {.nodes = 60, .depth = 6, .width = 10}));
  CHECK_THROWS_AS(dynamic_tree_tokens(pure_contexts(), {.nodes = 0, .depth = 2, .width = 2}), DomainError);
  CHECK_THROWS_AS(dynamic_tree_tokens(pure_contexts(), {.nodes = 2, .depth = 3, .width = 2}), DomainError);
  CHECK_THROWS_AS(dynamic_tree_bound(pure_contexts(), {.nodes = 2, .depth = 2, .width = 0}), DomainError);
}

}  // namespace foredraft::analytic
