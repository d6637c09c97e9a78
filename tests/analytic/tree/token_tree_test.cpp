// SPDX-License-Identifier: Apache-2.0
#include "analytic/tree/token_tree.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "foredraft/errors.hpp"
#include "tests/analytic/tree/tree_testing.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::analytic {
namespace {

using tests::few_ulp;
using tests::Real;
using tests::relative_error;

// Gaps in the ranks, leaves at every depth, a chain at the end of one branch.
const std::vector<TreePath> crooked{{0}, {2}, {0, 0}, {0, 1}, {2, 1}, {0, 1, 2}, {0, 1, 2, 0}};

const tests::AccuracyRows crooked_rows{{0.5, 0.2, 0.15}, {0.4, 0.35, 0.05}, {0.3, 0.3, 0.2}, {0.9, 0.05}};

}  // namespace

TEST_CASE("a tree does not depend on the order of its paths: nodes are sorted by depth and then by path") {
  std::vector<TreePath> shuffled = crooked;
  std::reverse(shuffled.begin(), shuffled.end());
  const TokenTree tree = tree_from_paths(shuffled);
  CHECK(tree == tree_from_paths(crooked));
  CHECK(tree.size() == 8);
  CHECK(tree.depth() == 4);
  CHECK(tree.leaves() == 3);
  std::vector<TreePath> paths;
  for (std::int64_t i = 1; i < tree.size(); ++i) {
    paths.push_back(tree.path(i));
    CHECK(tree.nodes()[static_cast<std::size_t>(i)].depth == static_cast<std::int32_t>(paths.back().size()));
    CHECK(tree.nodes()[static_cast<std::size_t>(i)].parent < i);
  }
  CHECK(paths == crooked);
  CHECK(to_string(paths.back()) == "0,1,2,0");
  CHECK(tree.path(0).empty());

  const TokenTree alone;
  CHECK(alone.size() == 1);
  CHECK(alone.depth() == 0);
  CHECK(alone.leaves() == 1);
  CHECK(alone == tree_from_paths({}));
}

TEST_CASE("a tree that is not connected is rejected with the path and its missing parent") {
  CHECK_THROWS_WITH(tree_from_paths(std::vector<TreePath>{{0}, {1, 0}}),
                    "invalid path=\"1,0\" (must have its parent in the tree: its parent \"1\" is missing)");
  CHECK_THROWS_WITH(tree_from_paths(std::vector<TreePath>{{0}, {0, 1, 2}}),
                    "invalid path=\"0,1,2\" (must have its parent in the tree: its parent \"0,1\" is missing)");
  CHECK_THROWS_WITH(tree_from_paths(std::vector<TreePath>{{0}, {0}}), "invalid path=\"0\" (must be given once)");
  CHECK_THROWS_WITH(tree_from_paths(std::vector<TreePath>{{0}, {0, -1}}),
                    "invalid path=\"0,-1\" (must hold ranks, from 0)");
  CHECK_THROWS_WITH(tree_from_paths(std::vector<TreePath>{{}}),
                    "invalid path (must have at least one rank: the root is always there)");
  CHECK_THROWS_WITH(TokenTree(std::vector<TreeLink>{{.parent = 1, .rank = 0}}),
                    "invalid parent of node 1=1 (must lie in 0 to 0)");
  CHECK_THROWS_WITH(TokenTree(std::vector<TreeLink>{{.parent = 0, .rank = 3}, {.parent = 0, .rank = 3}}),
                    "invalid rank=3 (must be given once among siblings)");
}

TEST_CASE("accuracies that are no probabilities or add up to more than one are rejected by head and rank") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto rows_of = [](tests::AccuracyRows rows) { return HeadAccuracies(std::move(rows)); };
  CHECK_THROWS_WITH(rows_of({{0.5, 0.4, 0.2}}),
                    Catch::StartsWith("invalid sum of accuracies[head 1]=1.1 (must be at most 1"));
  CHECK_THROWS_WITH(rows_of({{0.5, -0.1}}), "invalid accuracies[head 1][rank 2]=-0.1 (must lie in [0, 1])");
  CHECK_THROWS_WITH(rows_of({{0.5}, {nan}}), "invalid accuracies[head 2][rank 1]=nan (must lie in [0, 1])");
  CHECK_THROWS_WITH(rows_of({{0.5}, {}}), "invalid accuracies[head 2] (must have at least one rank)");
  CHECK_THROWS_WITH(rows_of({}), "invalid accuracies (must have at least one head)");
  CHECK_FALSE(rows_of({{0.5, 0.2}, {0.2, 0.3}}).falls());
  CHECK(rows_of({{0.5, 0.2}, {0.3, 0.3}}).falls());
  CHECK(rows_of({{0.2, 0.3}}).at(1, 1) == 0.3);
  CHECK(rows_of({{0.2, 0.3}}).at(1, 2) == 0.0);
  CHECK_THROWS_AS(HeadAccuracies({{0.8, 0.3}}), DomainError);
  // Ten tenths add up to 1 - 1.1e-16 or 1 + 2.2e-16, depending on the order: both count as one.
  const HeadAccuracies tenths = rows_of({std::vector<double>(10, 0.1)});
  CHECK(tenths.top(1, 10) == Approx(1.0).epsilon(few_ulp));
  CHECK(tenths.top(1, 10) <= 1.0);
}

TEST_CASE("tokens of a tree match an enumeration of all accepted candidates") {
  RandomStream random(31, {Purpose::test, 0, 0});
  for (int round = 0; round < 20; ++round) {
    const tests::AccuracyRows rows = round == 0 ? crooked_rows : tests::random_rows(random, 4, 3, false);
    const TokenTree tree = tree_from_paths(crooked);
    const HeadAccuracies accuracies(rows);
    const std::vector<Real> expected = tests::enumerated_tree_pmf(tree, rows);
    const std::vector<double> pmf = tokens_pmf(tree, accuracies);
    REQUIRE(pmf.size() == expected.size());
    Real mean = 0;
    for (std::size_t i = 0; i < pmf.size(); ++i) {
      CHECK(std::abs(pmf[i] - static_cast<double>(expected[i])) < few_ulp);
      mean += Real(i + 1) * expected[i];
    }
    Real variance = 0;
    for (std::size_t i = 0; i < pmf.size(); ++i) {
      variance += expected[i] * (Real(i + 1) - mean) * (Real(i + 1) - mean);
    }
    CHECK(relative_error(tokens_per_iteration(tree, accuracies), mean) < few_ulp);
    CHECK(relative_error(tokens_variance(tree, accuracies), variance) < few_ulp);
  }
}

TEST_CASE("a node's probability is the product of the accuracies on its path") {
  const TokenTree tree = tree_from_paths(crooked);
  const std::vector<double> probability = node_probabilities(tree, HeadAccuracies(crooked_rows));
  CHECK(probability[0] == 1.0);
  CHECK(probability[2] == 0.15);
  CHECK(probability[5] == Approx(0.15 * 0.35).epsilon(few_ulp));
  CHECK(probability[7] == Approx(0.5 * 0.35 * 0.2 * 0.9).epsilon(few_ulp));
}

TEST_CASE("limits of a tree's tokens: no draft yields one token, certain drafts all, impossible drafts none") {
  const HeadAccuracies certain({{1.0, 0.0}, {1.0}, {1.0}});
  const HeadAccuracies impossible({{0.0}, {0.5}});
  CHECK(tokens_per_iteration(TokenTree(), certain) == 1.0);
  CHECK(tokens_pmf(TokenTree(), certain) == std::vector<double>{1.0});
  CHECK(tokens_variance(TokenTree(), certain) == 0.0);
  const TokenTree chain = tree_from_paths(std::vector<TreePath>{{0}, {0, 0}, {0, 0, 0}});
  CHECK(tokens_per_iteration(chain, certain) == 4.0);
  CHECK(tokens_pmf(chain, certain) == std::vector<double>{0.0, 0.0, 0.0, 1.0});
  CHECK(tokens_variance(chain, certain) == 0.0);
  CHECK(tokens_per_iteration(tree_from_paths(std::vector<TreePath>{{0}, {0, 0}}), impossible) == 1.0);
}

TEST_CASE("a rank that is not given is never accepted, a depth without accuracies is rejected") {
  const HeadAccuracies accuracies({{0.5, 0.2}, {0.4}});
  CHECK(tokens_per_iteration(tree_from_paths(std::vector<TreePath>{{0}, {0, 1}, {2'147'483'647}}), accuracies) == 1.5);
  CHECK_THROWS_WITH(tokens_pmf(tree_from_paths(std::vector<TreePath>{{0}, {0, 0}, {0, 0, 0}}), accuracies),
                    "invalid path=\"0,0,0\" (must have an accuracy: there are 2 heads)");
}

}  // namespace foredraft::analytic
