// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/tree_search.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"
#include "analytic/tree/token_tree.hpp"
#include "foredraft/errors.hpp"
#include "tests/analytic/tree/tree_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::second_route;

}  // namespace

TEST_CASE("the tree with the best speedup matches a dynamic program for every size and depth") {
  RandomStream random(12, {Purpose::test, 0, 0});
  for (int round = 0; round < 12; ++round) {
    const HeadAccuracies accuracies(tests::random_rows(random, 4, 4, round % 2 == 0));
    // Verification in steps: free up to some positions, then a jump, as with tiles of a matrix product.
    std::vector<double> verification;
    for (int n = 1; n <= 24; ++n) verification.push_back(3.0 + (n > 8 ? 1.0 : 0.0) + 0.2 * round * (n / 5));
    for (const double c : {0.0, 0.05, 0.3}) {
      for (const Drafting drafting : {Drafting::autoregressive, Drafting::block}) {
        const TreeCost cost{.verification = verification, .c = c, .drafting = drafting};
        double best = 0.0;
        for (std::int64_t nodes = 1; nodes <= 24; ++nodes) {
          for (std::int64_t depth = 0; depth <= 4; ++depth) {
            const TokenTree tree = dynamic_program_tree(accuracies, {nodes, depth});
            best = std::max(best, tokens_per_iteration(tree, accuracies) /
                                      (verification[static_cast<std::size_t>(tree.size() - 1)] / verification[0] +
                                       c * static_cast<double>(draft_passes(tree.depth(), drafting))));
          }
        }
        CAPTURE(round, c, drafting == Drafting::block);
        const PricedTree found = best_priced_tree(accuracies, {24, 4}, cost);
        CHECK(found.speedup == Approx(best).epsilon(second_route));
        CHECK(found.tokens == Approx(tokens_per_iteration(found.tree, accuracies)).epsilon(few_ulp));
        CHECK(found.speedup ==
              Approx(found.tokens / tree_iteration_cost(cost, found.tree.size(), found.tree.depth())).epsilon(few_ulp));
      }
    }
  }
}

TEST_CASE("of trees with equal speedup the smallest is taken, even if a shallower one was larger") {
  // Within depth 1 six nodes are the best; within depth 2 four, five and six nodes have a speedup of 2.
  const HeadAccuracies accuracies({{0.5, 0.125, 0.125, 0.125, 0.125}, {0.5}});
  const std::vector<double> verification{1.0, 2.0, 2.0, 0.9375, 1.0, 1.0625};
  const TreeCost cost{.verification = verification, .c = 0.0, .drafting = Drafting::block};
  CHECK(best_priced_tree(accuracies, {6, 1}, cost).tree.size() == 6);
  const PricedTree found = best_priced_tree(accuracies, {6, 2}, cost);
  CHECK(found.speedup == 2.0);
  CHECK(found.tree.size() == 4);
}

TEST_CASE("with one candidate a depth and free verification the priced tree is the optimal draft length") {
  const std::vector<double> conditional{0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
  tests::AccuracyRows rows;
  for (const double a : conditional) rows.push_back({a});
  const HeadAccuracies accuracies(rows);
  const std::vector<double> flat(7, 2.5);
  for (const Drafting drafting : {Drafting::autoregressive, Drafting::block}) {
    for (const double c : {0.0, 0.1, 0.35, 0.95, 3.0}) {
      const BestGamma wanted = best_gamma(marginal_from_conditional(conditional), c, Convention::bonus, drafting);
      const PricedTree found =
          best_priced_tree(accuracies, {7, 6}, {.verification = flat, .c = c, .drafting = drafting});
      CAPTURE(c, drafting == Drafting::block);
      CHECK(found.tree.depth() == wanted.gamma);
      CHECK(found.speedup == Approx(wanted.speedup).epsilon(few_ulp));
    }
  }
}

TEST_CASE("if every position costs a whole step, autoregressive decoding is the best tree") {
  const HeadAccuracies accuracies({{0.9, 0.05}, {0.9, 0.05}});
  const std::vector<double> dear = linear_verification(7, 1.0);
  CHECK(dear == std::vector<double>{1, 2, 3, 4, 5, 6, 7});
  const PricedTree found =
      best_priced_tree(accuracies, {7, 2}, {.verification = dear, .c = 0.0, .drafting = Drafting::block});
  CHECK(found.tree == TokenTree());
  CHECK(found.tokens == 1.0);
  CHECK(found.speedup == 1.0);
}

TEST_CASE("invalid times of a tree are rejected") {
  const HeadAccuracies accuracies(tests::AccuracyRows{{0.5}});
  const auto price = [&](const std::vector<double>& verification, double c) {
    return best_priced_tree(accuracies, {2, 1},
                            {.verification = verification, .c = c, .drafting = Drafting::autoregressive});
  };
  CHECK_THROWS_WITH(price({1.0}, 0.1), "invalid entries of verification=1 (must be at least 2)");
  CHECK_THROWS_WITH(price({1.0, 0.0}, 0.1), "invalid verification[1]=0 (must be finite and above 0)");
  CHECK_THROWS_WITH(price({1.0, std::numeric_limits<double>::quiet_NaN()}, 0.1),
                    "invalid verification[1]=nan (must be finite and above 0)");
  CHECK_THROWS_WITH(price({1.0, 1.0}, -0.1), "invalid c=-0.1 (must be finite and not negative)");
  CHECK_THROWS_AS(linear_verification(3, -1.0), DomainError);
}

}  // namespace foredraft::analytic
