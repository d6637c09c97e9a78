// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "analytic/tree/token_tree.hpp"
#include "core/random_stream.hpp"
#include "tests/analytic/reference.hpp"

/// Trees by enumeration: the second route of the tests of token trees.
namespace foredraft::tests {

using AccuracyRows = std::vector<std::vector<double>>;

/// `heads` rows of `ranks` accuracies that add up to less than 1, falling with rank if wanted.
inline AccuracyRows random_rows(RandomStream& random, std::size_t heads, std::size_t ranks, bool falling) {
  AccuracyRows rows(heads, std::vector<double>(ranks));
  for (std::vector<double>& row : rows) {
    double total = 0.2 * random.uniform();
    for (double& accuracy : row) total += accuracy = random.uniform() * random.uniform();
    for (double& accuracy : row) accuracy /= total;
    if (falling) std::sort(row.rbegin(), row.rend());
  }
  return rows;
}

/// The trees of an enumeration.
enum class Grown {
  freely,   ///< every connected tree
  in_order  ///< every connected tree in which a node's children have the ranks 0, 1, 2, ... without a gap
};

/// result[n]: the maximum expected tokens over all trees of exactly n nodes, n = 1..most; 0 if there is none.
inline std::vector<Real> best_of_all_trees(const AccuracyRows& rows, std::size_t depth, std::size_t maximum,
                                           Grown grown) {
  struct Offer {
    std::size_t depth;
    std::size_t rank;
    Real parent;
  };
  std::vector<Real> best(maximum + 1, Real(0));
  const std::function<void(const std::vector<Offer>&, std::size_t, std::size_t, const Real&)> extend =
      [&](const std::vector<Offer>& offers, std::size_t first, std::size_t size, const Real& tokens) {
        if (tokens > best[size]) best[size] = tokens;
        if (size == maximum) return;
        for (std::size_t i = first; i < offers.size(); ++i) {
          const Offer& taken = offers[i];
          const Real probability = taken.parent * Real(rows[taken.depth - 1][taken.rank]);
          std::vector<Offer> next = offers;
          const auto offer = [&](std::size_t at, std::size_t rank, const Real& parent) {
            if (at <= depth && rank < rows[at - 1].size()) next.push_back({at, rank, parent});
          };
          if (taken.depth < depth) {
            const std::size_t ranks = grown == Grown::freely ? rows[taken.depth].size() : 1;
            for (std::size_t rank = 0; rank < ranks; ++rank) offer(taken.depth + 1, rank, probability);
          }
          if (grown == Grown::in_order) offer(taken.depth, taken.rank + 1, taken.parent);
          extend(next, i + 1, size + 1, tokens + probability);
        }
      };
  std::vector<Offer> roots;
  const std::size_t ranks = grown == Grown::freely ? rows.front().size() : 1;
  for (std::size_t rank = 0; depth > 0 && rank < ranks; ++rank) roots.push_back({1, rank, Real(1)});
  extend(roots, 0, 1, Real(1));
  return best;
}

/// P(X = k) at index k - 1, from every combination of each head's accepted candidate (or none), one per depth.
inline std::vector<Real> enumerated_tree_pmf(const analytic::TokenTree& tree, const AccuracyRows& rows) {
  std::set<analytic::TreePath> paths;
  for (std::int64_t i = 0; i < tree.size(); ++i) paths.insert(tree.path(i));
  std::vector<Real> pmf(static_cast<std::size_t>(tree.depth()) + 1, Real(0));
  analytic::TreePath outcome;
  const std::function<void(const Real&)> extend = [&](const Real& probability) {
    if (outcome.size() == static_cast<std::size_t>(tree.depth())) {
      std::size_t accepted = 0;
      while (accepted < outcome.size() &&
             paths.count(analytic::TreePath(outcome.begin(),
                                            outcome.begin() + static_cast<std::ptrdiff_t>(accepted) + 1)) > 0) {
        ++accepted;
      }
      pmf[accepted] += probability;
      return;
    }
    const std::vector<double>& row = rows[outcome.size()];
    Real none = 1;
    for (std::size_t rank = 0; rank < row.size(); ++rank) {
      none -= Real(row[rank]);
      outcome.push_back(static_cast<std::int32_t>(rank));
      extend(probability * Real(row[rank]));
      outcome.pop_back();
    }
    outcome.push_back(-1);  // no candidate: a rank that no node has
    extend(probability * none);
    outcome.pop_back();
  };
  extend(Real(1));
  return pmf;
}

}  // namespace foredraft::tests
